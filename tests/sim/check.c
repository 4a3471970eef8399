/*
 * check - what must be so when nothing is left to do, on both sides.
 *
 * A callback that is held, or was cancelled as settled outside, may have reached its dealer or not:
 * there the dealer's own word is taken for what the operator knows.
 */
#include "sim.h"

static money_t expected[SIM_USERS_MAX]; /* what the rows say that each balance gained */
static money_t entries[SIM_USERS_MAX];
static bool claimed[SIM_TRANSACTIONS_MAX]; /* a row names it */
static bool stored[SIM_BETS_MAX];
static uint32_t attempts[SIM_EVENTS_MAX];
static uint32_t transfers[SIM_SEALS_MAX]; /* movements of each */
static money_t shortfalls[SIM_DEALERS_MAX], moved[SIM_DEALERS_MAX];

static uint32_t user_of(const struct world *w, const char *player_id)
{
	for (uint32_t i = 0; i < w->plan.users; i++) {
		if (strcmp(w->users[i].player_id, player_id) == 0)
			return i;
	}
	return 0;
}

static const struct sim_transaction *transaction_of(struct world *w, uint64_t id)
{
	static const struct sim_transaction nothing;

	if (!id || id >= SIM_TRANSACTIONS_MAX) {
		violate(w, FLAW_HARNESS, "transaction_id %" PRIu64, id);
		return &nothing;
	}
	if (claimed[id])
		violate(w, FLAW_ROWS, "transaction_id %" PRIu64 " has two rows", id);
	claimed[id] = true;
	return &w->transactions[id];
}

/* The bet is in one end state, or held where the operator sees it; the dealer has what it must. */
static void check_stake(struct world *w, const struct bet *bet)
{
	const struct sim_transaction *t = transaction_of(w, bet->transaction_id);
	const struct seen *refund = &sim_seen[bet->refund_event % SIM_EVENTS_MAX];
	bool held = t->debits > t->returns, outside = bet->resolved_by[0] != '\0', right = false;

	if (t->debits > 1 || t->returns > t->debits)
		violate(w, FLAW_STAKE, "%s is debited %u times, returned %u times",
			bet->request_transaction_id, t->debits, t->returns);
	switch (bet->state) {
	case BET_SETTLED:
		right = t->stake == STAKE_TAKEN && held;
		break;
	case BET_REJECTED:
		right = (t->stake == STAKE_NONE || t->stake == STAKE_REFUSED) && !t->debits;
		break;
	case BET_REFUNDED:
		right = (outside || !held) && outside == (refund->state == CALLBACK_CANCELLED);
		break;
	case BET_REFUNDING:
		right = refund->state == CALLBACK_HELD && !w->plan.release;
		break;
	case BET_PENDING:
	case BET_ACCEPTED:
	case BET_STATE_COUNT:
		break;
	}
	if (!right)
		violate(w, FLAW_STAKE,
			"%s of %" PRIu64 " is %s; the dealer: debits %u, returns %u, state %d",
			bet->request_transaction_id, bet->transaction_id,
			bet_state_names[bet->state], t->debits, t->returns, (int)t->stake);
	if (held)
		expected[user_of(w, bet->player_id)] -= bet->bet_amount;
}

/* What the game server got as an answer is true. */
static void check_told(struct world *w, const struct bet *bet, uint32_t index)
{
	static const unsigned int states[] = {
		[ANSWERED_NOTHING] = UINT32_MAX,
		[ANSWERED_ACCEPTED] = 1u << BET_ACCEPTED | 1u << BET_SETTLED,
		[ANSWERED_REJECTED] = 1u << BET_REJECTED,
		[ANSWERED_TIMEOUT] = 1u << BET_REFUNDING | 1u << BET_REFUNDED,
		[ANSWERED_NO] = 0,
		[ANSWERED_CANCELLED] = 1u << BET_REFUNDING | 1u << BET_REFUNDED,
	};
	const struct sim_bet *answered = &w->bets[index];

	if (bet->cancelled && answered->answered == ANSWERED_ACCEPTED)
		return;
	if (answered->answered == ANSWERED_CANCELLED && bet->cancelled)
		return;
	if (!(states[answered->answered] & 1u << bet->state) ||
		(answered->answered != ANSWERED_NOTHING &&
			answered->transaction_id != bet->transaction_id))
		violate(w, FLAW_ANSWERED, "b%u is %s and was answered %s", index,
			bet_state_names[bet->state], refusal_info(answered->refusal)->id);
}

static bool see_bet(void *context, struct bytes key, const void *row)
{
	const struct bet *bet = row;
	struct world *w = context;
	uint32_t index = rows_number(bet->request_transaction_id);

	(void)key;
	if (index >= w->plan.bets || stored[index]) {
		violate(w, FLAW_ROWS, "a second bet of key b%u", index);
		return false;
	}
	stored[index] = true;
	w->tally.bets[bet->state]++;
	check_told(w, bet, index);
	if (bet->mode == WALLET_SEAMLESS) {
		check_stake(w, bet);
		return true;
	}
	transaction_of(w, bet->transaction_id);
	if (bet->cancelled)
		return true;
	if (bet->state != BET_SETTLED)
		violate(w, FLAW_STAKE, "%s is %s", bet->request_transaction_id,
			bet_state_names[bet->state]);
	expected[user_of(w, bet->player_id)] -= bet->bet_amount;
	return true;
}

/* The dealer has the result, unless it is held or was settled outside. */
static void check_payout(struct world *w, const struct round *round)
{
	static const struct sim_transaction nothing;
	const struct seen *callback = &sim_seen[round->event % SIM_EVENTS_MAX];
	const struct note *note = &w->notes[round->event % SIM_EVENTS_MAX];
	const struct sim_transaction *t =
		round->transaction_id ? transaction_of(w, round->transaction_id) : &nothing;
	bool has = round->result == RESULT_LOSS ? note->losses > 0 : t->payments == 1;
	bool right = has && callback->state == CALLBACK_DELIVERED;

	if (callback->state == CALLBACK_CANCELLED ||
		(callback->state == CALLBACK_HELD && !w->plan.release))
		right = true;
	if (!right || t->payments > 1 || (t->payments && t->amount != round->payout_amount) ||
		(t->payments && t->user != user_of(w, round->player_id)))
		violate(w, FLAW_PAYOUT,
			"%s, betting-result-%" PRIu64 " is %s; the dealer: %u payments, %u losses",
			round->game_id, round->event, callback_state_names[callback->state],
			t->payments, note->losses);
	if (note->known && note->bet_amount != round->bet_amount)
		violate(w, FLAW_BYTES, "%s has other stakes than its betting-result",
			round->game_id);
	if (t->payments)
		expected[user_of(w, round->player_id)] += round->payout_amount;
}

static bool see_round(void *context, struct bytes key, const void *row)
{
	const struct round *round = row;
	struct world *w = context;

	(void)key;
	if (round->state != ROUND_SETTLED)
		return true;
	if (round->mode == WALLET_SEAMLESS) {
		check_payout(w, round);
		return true;
	}
	if (round->transaction_id)
		transaction_of(w, round->transaction_id);
	expected[user_of(w, round->player_id)] += round->payout_amount;
	return true;
}

/* The dealer moved the difference of a correction once, unless it is held or was settled outside. */
static money_t check_difference(struct world *w, const struct correction *row,
	const struct sim_transaction *t)
{
	const struct seen *callback = &sim_seen[row->event % SIM_EVENTS_MAX];
	const money_t delta = row->payout_amount - row->previous_payout;
	const uint32_t times = t->payments + t->decreases;
	bool right = times == (row->event != 0) && callback->state == CALLBACK_DELIVERED;

	if (!row->event || callback->state == CALLBACK_CANCELLED ||
		(callback->state == CALLBACK_HELD && !w->plan.release))
		right = times <= (row->event != 0);
	else if (callback->kind == CALLBACK_BETTING_CORRECTION && !callback->known_to_dealer)
		right = right && t->shortfall == row->shortfall;
	if (times && callback->kind == CALLBACK_BETTING_CORRECTION)
		right = right && t->decreases && t->amount == -delta;
	else if (times)
		right = right && t->payments && t->amount == delta + row->shortfall;
	if (!right || (times && t->user != user_of(w, row->player_id)))
		violate(w, FLAW_PAYOUT,
			"revision %u of %s, event %" PRIu64
			" is %s; the dealer: %u payments, %u decreases",
			row->revision, row->game_id, row->event,
			callback_state_names[callback->state], t->payments, t->decreases);
	w->tally.increases += t->payments;
	w->tally.decreases += t->decreases;
	w->tally.shortfalls += row->shortfall > 0;
	if (t->decreases)
		return t->shortfall - t->amount;
	return t->payments ? t->amount : 0;
}

static bool see_correction(void *context, struct bytes key, const void *row)
{
	const struct correction *correction = row;
	struct world *w = context;
	const uint32_t user = user_of(w, correction->player_id);
	const uint32_t dealer = rows_number(correction->casino_id);
	const struct sim_transaction *t = transaction_of(w, correction->transaction_id);
	const money_t difference =
		correction->payout_amount - correction->previous_payout + correction->shortfall;

	(void)key;
	shortfalls[dealer] += correction->shortfall;
	if (w->dealers[dealer].seamless) {
		expected[user] += check_difference(w, correction, t);
		return true;
	}
	w->tally.shortfalls += correction->shortfall > 0;
	moved[dealer] += difference;
	expected[user] += difference;
	return true;
}

static bool see_cancellation(void *context, struct bytes key, const void *row)
{
	const struct cancellation *cancellation = row;

	(void)key;
	if (cancellation->transaction_id)
		transaction_of(context, cancellation->transaction_id);
	return true;
}

static bool see_entry(void *context, struct bytes key, const void *row)
{
	const struct transaction *entry = row;
	struct world *w = context;

	(void)key;
	if (seal_number(entry) < SIM_SEALS_MAX) {
		transfers[seal_number(entry)]++;
		expected[user_of(w, entry->player_id)] += entry->amount;
		entries[user_of(w, entry->player_id)] += entry->amount;
	} else if (entry->entry_seq && entry->kind != ENTRY_TRANSFER_IN) {
		entries[user_of(w, entry->player_id)] += entry->amount;
	}
	return true;
}

static bool see_player(void *context, struct bytes key, const void *row)
{
	const struct player *player = row;
	struct world *w = context;
	uint32_t user = user_of(w, player->player_id);
	const struct sim_user *u = &w->users[user];
	bool seamless = w->dealers[u->dealer].seamless;
	money_t gained = seamless ? u->balance - u->opening : player->balance - u->opening;

	(void)key;
	if (gained != expected[user])
		violate(w, FLAW_MONEY, "%s gained %" PRId64 ", by the rows %" PRId64, u->user_id,
			gained, expected[user]);
	if (seamless ? player->balance || entries[user] : entries[user] != gained)
		violate(w, FLAW_MONEY, "%s gained %" PRId64 ", by its entries %" PRId64, u->user_id,
			gained, entries[user]);
	return true;
}

static bool see_total(void *context, struct bytes key, const void *row)
{
	const struct total *total = row;
	struct world *w = context;
	bool all = w->plan.release || !w->plan.operations;

	(void)key;
	if (all && total->open_bets)
		violate(w, FLAW_STUCK, "%s has %" PRIu64 " open bets", total->casino_id,
			total->open_bets);
	if (total->balance !=
			total->transferred_in - total->transferred_out - total->staked +
				total->paid + total->corrected + total->cancelled ||
		total->corrected != moved[rows_number(total->casino_id)] ||
		total->shortfall != shortfalls[rows_number(total->casino_id)])
		violate(w, FLAW_MONEY, "%s: its sums", total->casino_id);
	return true;
}

static bool see_attempt(void *context, struct bytes key, const void *row)
{
	const struct attempt *attempt = row;

	(void)context;
	(void)key;
	attempts[attempt->event % SIM_EVENTS_MAX]++;
	return true;
}

/* Each sending was an attempt. */
static void check_attempts(struct world *w)
{
	for (uint32_t event = 1; event < SIM_EVENTS_MAX; event++) {
		const struct seen *callback = &sim_seen[event];

		if (!callback->there)
			continue;
		if (attempts[event] != callback->attempts ||
			w->notes[event].sends > callback->attempts)
			violate(w, FLAW_ROWS, "%u: %u attempts, %u rows of them, %u sendings",
				event, callback->attempts, attempts[event], w->notes[event].sends);
	}
}

/* What a dealer knows has a row. */
static void check_known(struct world *w)
{
	for (uint32_t id = 0; id < SIM_TRANSACTIONS_MAX; id++) {
		const struct sim_transaction *t = &w->transactions[id];

		if (t->stake != STAKE_NONE && !claimed[id])
			violate(w, FLAW_STAKE, "a dealer knows transaction_id %u, no row does", id);
	}
	for (uint32_t i = 0; i < w->plan.bets; i++) {
		enum answered answered = w->bets[i].answered;

		if (!stored[i] && answered != ANSWERED_NOTHING && answered != ANSWERED_NO &&
			answered != ANSWERED_CANCELLED)
			violate(w, FLAW_ANSWERED, "b%u is nowhere and was answered %s", i,
				refusal_info(w->bets[i].refusal)->id);
	}
}

static void check_permits(struct world *w)
{
	int64_t boot_ms = world_boot_ms(w);
	char casino_id[CASINO_ID_SIZE];

	/* Permits of processes that died shortly before the faults ended last as long as a lease. */
	if (w->now_ms < w->calm_ms + w->plan.outbox.lease_ms)
		boot_ms += w->plan.outbox.lease_ms;
	for (uint32_t i = 0; i < w->plan.dealers; i++) {
		snprintf(casino_id, sizeof(casino_id), "d%u", i);
		if (permits_inflight(&sim_ledger.derived.permits, casino_id, boot_ms))
			violate(w, FLAW_PERMITS, "%s", casino_id);
	}
}

void final_check(struct world *w)
{
	memset(expected, 0, sizeof(expected));
	memset(entries, 0, sizeof(entries));
	memset(claimed, 0, sizeof(claimed));
	memset(stored, 0, sizeof(stored));
	memset(attempts, 0, sizeof(attempts));
	memset(transfers, 0, sizeof(transfers));
	memset(shortfalls, 0, sizeof(shortfalls));
	memset(moved, 0, sizeof(moved));
	if (!game_is_done(w))
		violate(w, FLAW_STUCK, "a call has no answer");
	rows_visit(w, RECORD_BET, see_bet);
	rows_visit(w, RECORD_ROUND, see_round);
	rows_visit(w, RECORD_CORRECTION, see_correction);
	rows_visit(w, RECORD_CANCELLATION, see_cancellation);
	rows_visit(w, RECORD_TRANSACTION, see_entry);
	rows_visit(w, RECORD_PLAYER, see_player);
	rows_visit(w, RECORD_TOTAL, see_total);
	rows_visit(w, RECORD_ATTEMPT, see_attempt);
	check_attempts(w);
	seal_check(w, transfers);
	cancel_check(w);
	correct_check(w);
	check_known(w);
	check_permits(w);
}

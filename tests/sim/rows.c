/*
 * rows - what must be so at any time between two batches, whatever went wrong.
 */
#include "sim.h"

#include <stdlib.h>

struct seen sim_seen[SIM_EVENTS_MAX];
static uint64_t open_bets[SIM_DEALERS_MAX];
static struct round_sums {
	money_t bet_amount, addition_amount;
	uint32_t accepted, settled;
} sums[SIM_BETS_MAX];
static uint32_t dues, sendings[SIM_DEALERS_MAX];

void rows_visit(struct world *w, enum record record,
	bool (*visit)(void *context, struct bytes key, const void *row))
{
	const struct store_range range = {.record = record};

	if (w->store->scan(w->store, &range, visit, w) != STATUS_OK)
		violate(w, FLAW_ROWS, "the rows of %s cannot be read", record_infos[record].name);
}

uint32_t rows_number(const char *name)
{
	return (uint32_t)strtoul(name + 1, NULL, 10);
}

static struct seen *seen(uint64_t event)
{
	return &sim_seen[event % SIM_EVENTS_MAX];
}

/* Nothing is parked before its attempts are used up, unless the operator asked for one more. */
static void check_parked(struct world *w, const struct callback *callback)
{
	const struct retry_policy *retry = &w->plan.outbox.retry;
	const struct moment now = world_moment(w);
	bool early = callback->kind == CALLBACK_BETTING_RESULT ||
			callback->kind == CALLBACK_BETTING_CORRECTION
		? callback->attempts < RETRY_RESULT_ATTEMPTS
		: now.wall_ms + retry->refund_backoff_max_ms + 2 * w->plan.step_ms <
			callback->first_ms + retry->refund_give_up_ms;

	if (callback->state == CALLBACK_PARKED && early)
		violate(w, FLAW_ROWS, "%" PRIu64 " is parked after %u attempts", callback->event,
			callback->attempts);
}

static bool see_callback(void *context, struct bytes key, const void *row)
{
	const struct callback *callback = row;
	struct world *w = context;

	(void)key;
	if (callback->event >= SIM_EVENTS_MAX)
		violate(w, FLAW_HARNESS, "too many events");
	check_parked(w, callback);
	*seen(callback->event) = (struct seen){true, callback->kind, callback->state,
		callback->attempts, callback->first_ms, false, callback->known_to_dealer};
	return true;
}

static bool is_linked(uint64_t link)
{
	for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
		if (sim_processes[i].link == link)
			return true;
	}
	return false;
}

static bool see_due(void *context, struct bytes key, const void *row)
{
	const struct due *due = row;
	struct seen *callback = seen(due->event);
	struct world *w = context;
	enum callback_state state = due->sending ? CALLBACK_SENDING : CALLBACK_DUE;
	const struct schedule_entry *entry = NULL;

	(void)key;
	dues++;
	callback->due = true;
	sendings[rows_number(due->casino_id)] += due->sending;
	if (!callback->there || callback->state != state || callback->kind != due->kind)
		violate(w, FLAW_ROWS, "%" PRIu64 " is %s and its due row says %s", due->event,
			callback_state_names[callback->state], callback_state_names[state]);
	if (w->up)
		entry = schedule_find(&sim_ledger.derived.schedule, due->event);
	if (w->up && (!entry || entry->sending != due->sending))
		violate(w, FLAW_ROWS, "%" PRIu64 " is not in the schedule as in its row",
			due->event);
	/* Within one boot the second decides. */
	if (entry && !due->sending && due->boot == w->boot && entry->due_ms != due->due_boot_ms)
		violate(w, FLAW_ROWS, "%" PRIu64 " is scheduled for another time than its row's",
			due->event);
	if (due->kind == CALLBACK_BETTING_REFUND && !due->sending && callback->attempts &&
		!w->notes[due->event % SIM_EVENTS_MAX].hurried &&
		due->due_ms > callback->first_ms + w->plan.outbox.retry.refund_give_up_ms)
		violate(w, FLAW_ROWS, "%" PRIu64 " is not given up", due->event);
	if (entry && entry->owner && !w->closing && !is_linked(entry->owner))
		violate(w, FLAW_ROWS, "%" PRIu64 " belongs to a link that is closed", due->event);
	return true;
}

static void check_callbacks(struct world *w)
{
	for (uint32_t event = 1; event < SIM_EVENTS_MAX; event++) {
		const struct seen *callback = &sim_seen[event];
		bool waits = callback->state == CALLBACK_DUE || callback->state == CALLBACK_SENDING;

		if (callback->there && waits != callback->due)
			violate(w, FLAW_ROWS, "%u is %s and has %s due row", event,
				callback_state_names[callback->state], callback->due ? "a" : "no");
		if (callback->kind == CALLBACK_BETTING && callback->attempts > 1)
			violate(w, FLAW_ROWS, "betting-%u has %u attempts", event,
				callback->attempts);
	}
	if (w->up && sim_ledger.derived.schedule.count != dues)
		violate(w, FLAW_ROWS, "%" PRIu64 " are scheduled, %u rows are due",
			sim_ledger.derived.schedule.count, dues);
}

/* In which states the callbacks of a bet may be, by the bet's own. */
#define IS(state) (1u << (state))
#define IS_OPEN   (IS(CALLBACK_DUE) | IS(CALLBACK_SENDING) | IS(CALLBACK_PARKED) | IS(CALLBACK_HELD))
static const struct {
	unsigned int betting;
	unsigned int refund; /* 0: there is none */
} wanted[BET_STATE_COUNT] = {
	[BET_PENDING] = {IS(CALLBACK_SENDING), 0},
	[BET_ACCEPTED] = {IS(CALLBACK_DELIVERED), 0},
	[BET_REJECTED] = {IS(CALLBACK_FAILED), 0},
	[BET_REFUNDING] = {IS(CALLBACK_FAILED), IS_OPEN},
	[BET_REFUNDED] = {IS(CALLBACK_FAILED), IS(CALLBACK_DELIVERED) | IS(CALLBACK_CANCELLED)},
	[BET_SETTLED] = {IS(CALLBACK_DELIVERED), 0},
};

static bool callback_fits(uint64_t event, enum callback_kind kind, unsigned int states)
{
	const struct seen *callback = seen(event);

	if (!states)
		return event == 0;
	return event && callback->there && callback->kind == kind && states & IS(callback->state);
}

static bool see_bet(void *context, struct bytes key, const void *row)
{
	const struct bet *bet = row;
	struct world *w = context;
	struct round_sums *sum = &sums[rows_number(bet->game_id) % SIM_BETS_MAX];
	bool counts = bet->state == BET_ACCEPTED || bet->state == BET_SETTLED;
	bool fits = counts && !bet->event && !bet->refund_event;

	(void)key;
	if (bet->mode == WALLET_TRANSFER && bet->cancelled)
		fits = bet->state == BET_REFUNDED && !bet->event && !bet->refund_event;
	/* The dealer had accepted what was cancelled. */
	if (bet->mode == WALLET_SEAMLESS)
		fits = callback_fits(bet->event, CALLBACK_BETTING,
			       bet->cancelled ? IS(CALLBACK_DELIVERED)
					      : wanted[bet->state].betting) &&
			(!bet->cancelled || bet->refund_event) &&
			callback_fits(bet->refund_event, CALLBACK_BETTING_REFUND,
				wanted[bet->state].refund);
	if (!fits)
		violate(w, FLAW_ROWS, "%s is %s, its betting %" PRIu64 ", its refund %" PRIu64,
			bet->request_transaction_id, bet_state_names[bet->state], bet->event,
			bet->refund_event);
	open_bets[rows_number(bet->casino_id)] += bet->state == BET_PENDING ||
		bet->state == BET_ACCEPTED || bet->state == BET_REFUNDING;
	sum->accepted += bet->state == BET_ACCEPTED;
	sum->settled += bet->state == BET_SETTLED;
	if (counts && bet->addition)
		sum->addition_amount += bet->bet_amount;
	else if (counts)
		sum->bet_amount += bet->bet_amount;
	return true;
}

static bool see_round(void *context, struct bytes key, const void *row)
{
	const struct round *round = row;
	struct world *w = context;
	const struct round_sums *sum = &sums[rows_number(round->game_id) % SIM_BETS_MAX];
	const struct seen *callback = seen(round->event);

	(void)key;
	if (round->state == ROUND_OPEN) {
		if (sum->settled || round->event)
			violate(w, FLAW_ROWS, "%s is open and has settled bets", round->game_id);
		return true;
	}
	if (sum->accepted || !sum->settled || sum->bet_amount != round->bet_amount ||
		sum->addition_amount != round->addition_amount ||
		round->win_amount != round->payout_amount - sum->bet_amount - sum->addition_amount)
		violate(w, FLAW_ROWS, "%s is settled and its sums differ from its bets",
			round->game_id);
	if (round->mode != WALLET_SEAMLESS)
		return true;
	if (!round->event || !callback->there || callback->kind != CALLBACK_BETTING_RESULT)
		violate(w, FLAW_ROWS, "%s is settled without a betting-result", round->game_id);
	else
		open_bets[rows_number(round->casino_id)] += !callback_has_ended(callback->state);
	return true;
}

static bool see_total(void *context, struct bytes key, const void *row)
{
	const struct total *total = row;
	struct world *w = context;

	(void)key;
	if (total->open_bets !=
		correct_open(rows_number(total->casino_id)) +
			open_bets[rows_number(total->casino_id)])
		violate(w, FLAW_ROWS, "%s counts %" PRIu64 " open bets, there are %" PRIu64,
			total->casino_id, total->open_bets,
			correct_open(rows_number(total->casino_id)) +
				open_bets[rows_number(total->casino_id)]);
	return true;
}

/* A permit is of a callback that is being sent, or of a balance inquiry. */
static void check_permits(struct world *w)
{
	char casino_id[CASINO_ID_SIZE];

	for (uint32_t i = 0; i < w->inquiry_count; i++) {
		const struct inquiry *inquiry = &w->inquiries[i];

		sendings[inquiry->dealer] += !inquiry->ended && inquiry->run == w->run &&
			inquiry->until_ms > world_boot_ms(w);
	}
	for (uint32_t i = 0; i < w->plan.dealers && w->up; i++) {
		snprintf(casino_id, sizeof(casino_id), "d%u", i);
		if (permits_inflight(&sim_ledger.derived.permits, casino_id, world_boot_ms(w)) >
			sendings[i])
			violate(w, FLAW_PERMITS, "%s has more than callbacks being sent",
				casino_id);
	}
}

void rows_check(struct world *w)
{
	memset(sim_seen, 0, sizeof(sim_seen));
	memset(open_bets, 0, sizeof(open_bets));
	memset(sums, 0, sizeof(sums));
	memset(sendings, 0, sizeof(sendings));
	dues = 0;
	rows_visit(w, RECORD_CALLBACK, see_callback);
	rows_visit(w, RECORD_DUE, see_due);
	check_callbacks(w);
	rows_visit(w, RECORD_BET, see_bet);
	rows_visit(w, RECORD_ROUND, see_round);
	correct_rows_begin();
	rows_visit(w, RECORD_CORRECTION, correct_see);
	rows_visit(w, RECORD_ROUND, correct_see_round);
	rows_visit(w, RECORD_TOTAL, see_total);
	check_permits(w);
}

#include "proof/round.h"

#include "base/text.h"
#include "domain/wager.h"
#include "wire/callback_body.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- bodies */

static bool render_callback_body(struct proof *proof, enum callback_kind kind, const void *body)
{
	buffer_reset(&proof->body);
	if (callback_body_render(&proof->body, kind, body, ""))
		return true;
	proof->no_memory = true;
	return false;
}

static bool render_betting(struct proof *proof, const struct bet *bet, const char *user_id)
{
	struct bet_body body;

	memset(&body, 0, sizeof(body));
	text_copy(body.user_id, sizeof(body.user_id), user_id);
	memcpy(body.player_id, bet->player_id, sizeof(body.player_id));
	body.bet_amount = bet->bet_amount;
	body.transaction_id = bet->transaction_id;
	body.timestamp = bet->accepted_ms;
	memcpy(body.remark, bet->remark, sizeof(body.remark));
	memcpy(body.game_id, bet->game_id, sizeof(body.game_id));
	body.user_bet = bet->user_bet;
	return render_callback_body(proof, CALLBACK_BETTING, &body);
}

static bool render_refund(struct proof *proof, const struct bet *bet, const char *user_id)
{
	struct refund_body body;

	memset(&body, 0, sizeof(body));
	body.bet_amount = bet->bet_amount;
	memcpy(body.game_id, bet->game_id, sizeof(body.game_id));
	memcpy(body.player_id, bet->player_id, sizeof(body.player_id));
	memcpy(body.remark, bet->remark, sizeof(body.remark));
	body.transaction_id = bet->transaction_id;
	text_copy(body.user_id, sizeof(body.user_id), user_id);
	return render_callback_body(proof, CALLBACK_BETTING_REFUND, &body);
}

bool proof_bet_body(struct proof *proof, const struct bet *bet, const char *user_id,
	enum callback_kind kind)
{
	return kind == CALLBACK_BETTING ? render_betting(proof, bet, user_id)
					: render_refund(proof, bet, user_id);
}

bool proof_round_body(struct proof *proof, const struct round *round)
{
	struct result_body body;

	memset(&body, 0, sizeof(body));
	memcpy(body.user_id, round->user_id, sizeof(body.user_id));
	memcpy(body.player_id, round->player_id, sizeof(body.player_id));
	body.bet_amount = round->bet_amount;
	body.transaction_id = round->transaction_id;
	body.timestamp = round->settled_ms;
	memcpy(body.remark, round->remark, sizeof(body.remark));
	body.result = round->result;
	memcpy(body.game_id, round->game_id, sizeof(body.game_id));
	body.addition_amount = round->addition_amount;
	body.win_amount = round->win_amount;
	body.payout_amount = round->payout_amount;
	body.user_bet = round->user_bet;
	body.game_result = round->game_result;
	body.user_bet_result = round->user_bet_result;
	return render_callback_body(proof, CALLBACK_BETTING_RESULT, &body);
}

void proof_body_hash(struct row_hash *row, enum callback_kind kind, struct bytes body,
	struct proof_body_extra *extra)
{
	/* No string of a body contains this, because its quotes would be escaped. */
	static const char member[] = ",\"timestamp\":";
	const uint8_t *digits = NULL;
	uint32_t before, len = 0;

	memset(extra, 0, sizeof(*extra));
	if (body.len) {
		/* The closing brace, and then what is before a currency. */
		row_hash_bytes(row, body.data + body.len - 1, 1);
		body.len -= 1 + callback_body_currency(body, extra->currency);
	}
	if (kind == CALLBACK_BETTING_REFUND && body.len)
		digits = memmem(body.data, body.len, member, sizeof(member) - 1);
	if (!digits) {
		row_hash_bytes(row, body.data, body.len);
		return;
	}
	digits += sizeof(member) - 1;
	before = (uint32_t)(digits - body.data);
	while (before + len < body.len && digits[len] >= '0' && digits[len] <= '9' && len < 18)
		extra->timestamp = extra->timestamp * 10 + (digits[len++] - '0');
	row_hash_bytes(row, body.data, before);
	row_hash_bytes(row, digits + len, body.len - before - len);
}

/* ---- a reading */

static void __attribute__((format(printf, 2, 3)))
accuse(struct round_reading *reading, const char *format, ...)
{
	char what[PROOF_LINE_SIZE / 2];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	proof_fault(&reading->faults, "round %s/%s %s", reading->round.player_id,
		reading->round.game_id, what);
}

/* Checks the members that an open round must not have. */
static void check_open_round(struct round_reading *reading)
{
	const struct round *round = &reading->round;

	if (round->result != RESULT_NONE || round->settled_ms || round->transaction_id ||
		round->event)
		accuse(reading, "is open and has a result");
	if (round->revision || round->current_result != RESULT_NONE || round->current_payout ||
		round->shortfall || round->last_event)
		accuse(reading, "is open and has a correction");
	if (round->bet_amount || round->addition_amount || round->payout_amount ||
		round->win_amount)
		accuse(reading, "is open and has sums");
}

static void check_settled_round(struct round_reading *reading)
{
	const struct round *round = &reading->round;

	if (!round->revision &&
		(round->current_result != round->result ||
			round->current_payout != round->payout_amount || round->shortfall ||
			round->last_event != round->event))
		accuse(reading, "has another result in force, and no correction");
	if (round->result == RESULT_NONE)
		accuse(reading, "is settled without a result");
	if ((round->transaction_id == 0) != (round->result == RESULT_LOSS))
		accuse(reading,
			round->transaction_id ? "is a loss with a transaction id"
					      : "has no transaction id");
	if ((round->event != 0) != (round->mode == WALLET_SEAMLESS))
		accuse(reading,
			round->event ? "of a transfer wallet has a betting-result"
				     : "of a seamless wallet has no betting-result");
}

static void name_event(struct round_reading *reading, uint64_t event, uint32_t bet_number)
{
	if (event <= reading->event)
		return;
	reading->event = event;
	reading->event_bet = bet_number;
}

void proof_round_begin(struct round_reading *reading, struct proof *proof, const struct round *key,
	const struct round *round, uint64_t as_of)
{
	memset(reading, 0, sizeof(*reading));
	reading->proof = proof;
	reading->round = round ? *round : *key;
	reading->there = reading->counts = round != NULL;
	if (!round) {
		accuse(reading, "is not there and has bets");
		return;
	}
	if (round->state == ROUND_OPEN)
		check_open_round(reading);
	else
		check_settled_round(reading);
	if (round->bets < 1 || round->bets > ROUND_NUMBERS_MAX)
		accuse(reading, "has %" PRIu32 " bets", round->bets);
	if (round_list_sane(round)) {
		if (round->listed.len)
			memcpy(reading->list, round->listed.data, round->listed.len);
		reading->round.listed.data = reading->list;
	} else {
		accuse(reading, "has a list of bets that no round can have");
		reading->round.listed.len = 0;
	}
	if (round->transaction_id > as_of)
		accuse(reading, "has transaction id %" PRIu64 ", which was never given out",
			round->transaction_id);
	name_event(reading, round->event, 0);
	proof_bounds_round(proof, round, &reading->bounds);
	proof_round_links(proof, round, &reading->wanted);
}

/* Counts the bet as open if it was open when its dealer's sums were read. */
static void count_open(struct round_reading *reading, const struct bet *bet)
{
	const struct proof_dealer *dealer = proof_find_dealer(reading->proof, bet->casino_id);
	bool open = bet->state == BET_PENDING || bet->state == BET_ACCEPTED ||
		bet->state == BET_REFUNDING;

	if (!dealer || bet->transaction_id > dealer->moment.as_of)
		return;
	reading->open_least += open ||
		proof_is_since(reading->proof, bet->changed_ms, dealer->moment.until_ms + 1);
	reading->open_most += open || bet->changed_ms >= dealer->moment.from_ms;
}

static void check_bet_in_round(struct round_reading *reading, const struct bet *bet)
{
	const struct round *round = &reading->round;
	struct proof_faults *faults = &reading->faults;
	bool blocks = bet->state == BET_PENDING || bet->state == BET_ACCEPTED;

	if (bet->number != reading->bets + 1)
		accuse(reading, "has bet number %" PRIu32 " after number %" PRIu32, bet->number,
			reading->bets);
	if (bet->number > round->bets)
		accuse(reading, "has bet number %" PRIu32 " and counts %" PRIu32, bet->number,
			round->bets);
	if (strcmp(bet->casino_id, round->casino_id) != 0)
		proof_fault(faults, "bet %s/%s/%" PRIu32 " is of another dealer than its round",
			bet->player_id, bet->game_id, bet->number);
	if (strcmp(bet->client_id, round->client_id) != 0)
		proof_fault(faults, "bet %s/%s/%" PRIu32 " is of another client than its round",
			bet->player_id, bet->game_id, bet->number);
	if (bet->mode != round->mode)
		proof_fault(faults,
			"bet %s/%s/%" PRIu32 " is of another wallet mode than its round",
			bet->player_id, bet->game_id, bet->number);
	if (round_list_find(round, bet->number) < round_list_count(round)) {
		reading->listed++;
		reading->listed_amount += bet->bet_amount;
	} else if (bet_is_part(bet->state)) {
		proof_fault(faults, "bet %s/%s/%" PRIu32 " is %s and not listed by its round",
			bet->player_id, bet->game_id, bet->number, bet_state_names[bet->state]);
	}
	if ((round->state == ROUND_SETTLED && blocks) ||
		(round->state == ROUND_OPEN && bet->state == BET_SETTLED))
		proof_fault(faults, "bet %s/%s/%" PRIu32 " is %s in a round that is %s",
			bet->player_id, bet->game_id, bet->number, bet_state_names[bet->state],
			round_state_names[round->state]);
}

void proof_round_bet(struct round_reading *reading, const struct bet *bet, uint64_t as_of)
{
	struct proof *proof = reading->proof;
	const struct proof_dealer *dealer = proof_find_dealer(proof, bet->casino_id);
	money_t *sum = bet->addition ? &reading->added : &reading->staked;
	bool later;

	if (reading->there)
		check_bet_in_round(reading, bet);
	proof_bet_alone(bet, &reading->faults);
	if (bet->transaction_id > as_of)
		proof_fault(&reading->faults,
			"bet %s/%s/%" PRIu32 " has transaction id %" PRIu64
			", which was never given out",
			bet->player_id, bet->game_id, bet->number, bet->transaction_id);
	reading->bets = bet->number;
	if (bet->state == BET_SETTLED) {
		reading->settled++;
		reading->overflow |= !money_add(*sum, bet->bet_amount, sum);
	}
	name_event(reading, bet->event, bet->number);
	name_event(reading, bet->refund_event, bet->number);
	later = bet->transaction_id > proof->point.as_of;
	/* The sums of a dealer may have been read later than the point. */
	reading->counts |= !later || (dealer && bet->transaction_id <= dealer->moment.as_of);
	if (bet->event && !later && !proof_bet_is_quiet(proof, bet)) {
		if (reading->live_count < PROOF_LIVE_MAX)
			reading->live[reading->live_count++] = bet->number;
		else
			proof->incomplete = true;
	}
	proof_bet_links(proof, bet, reading->round.user_id, &reading->wanted);
	count_open(reading, bet);
	proof_bounds_bet(proof, bet, &reading->bounds);
	proof_days_bet(proof, bet, reading->days);
}

static void check_round_sum(struct round_reading *reading, const char *what, money_t kept,
	money_t found)
{
	char kept_text[MONEY_TEXT_MAX], found_text[MONEY_TEXT_MAX];

	if (kept == found)
		return;
	money_format(kept, 2, kept_text);
	money_format(found, 2, found_text);
	accuse(reading, "keeps %s as %s, its bets make %s", what, kept_text, found_text);
}

/* Checks that the stakes are those of the settled bets, and that the payout fits the result. */
static void check_sums(struct round_reading *reading)
{
	const struct round *round = &reading->round;
	money_t staked = 0;

	if (!reading->settled)
		accuse(reading, "is settled without a settled bet");
	if (reading->overflow || !money_add(reading->staked, reading->added, &staked)) {
		accuse(reading, "has sums that overflow");
		return;
	}
	check_round_sum(reading, "bet_amount", round->bet_amount, reading->staked);
	check_round_sum(reading, "addition_amount", round->addition_amount, reading->added);
	if (round->payout_amount < 0 || round->payout_amount > MONEY_MAX)
		accuse(reading, "has a payout out of range");
	else
		check_round_sum(reading, "win_amount", round->win_amount,
			round->payout_amount - staked);
	if (round->result == RESULT_LOSS && round->payout_amount)
		accuse(reading, "is a loss that pays");
	if (round->result == RESULT_REFUND && round->payout_amount != staked)
		accuse(reading, "is a refund that does not pay what was staked");
}

/* Checks that the stakes are those of the listed bets. */
static void check_list(struct round_reading *reading)
{
	char kept[MONEY_TEXT_MAX], found[SUM_TEXT_MAX];

	if (reading->listed != round_list_count(&reading->round))
		accuse(reading, "lists %" PRIu32 " bets, of which %" PRIu32 " are there",
			round_list_count(&reading->round), reading->listed);
	if (reading->listed_amount == reading->round.staked)
		return;
	money_format(reading->round.staked, 2, kept);
	sum_format(reading->listed_amount, 2, found);
	accuse(reading, "keeps staked as %s, the bets that it lists make %s", kept, found);
}

void proof_round_end(struct round_reading *reading, uint64_t event_given)
{
	if (!reading->there)
		return;
	if (reading->bets < reading->round.bets)
		accuse(reading, "counts %" PRIu32 " bets, the last one found is number %" PRIu32,
			reading->round.bets, reading->bets);
	else
		check_list(reading);
	if (reading->round.state == ROUND_SETTLED)
		check_sums(reading);
	if (reading->event <= event_given)
		return;
	if (reading->event_bet)
		proof_fault(&reading->faults,
			"bet %s/%s/%" PRIu32 " names event %" PRIu64 ", which was never given out",
			reading->round.player_id, reading->round.game_id, reading->event_bet,
			reading->event);
	else
		accuse(reading, "names event %" PRIu64 ", which was never given out",
			reading->event);
}

void proof_round_take(const struct round_reading *reading)
{
	struct proof *proof = reading->proof;
	struct proof_dealer *dealer = proof_find_dealer(proof, reading->round.casino_id);

	proof->rounds += reading->there;
	proof->bets += reading->bets;
	fingerprint_merge(&proof->wanted.requests, &reading->wanted.requests);
	fingerprint_merge(&proof->wanted.transactions, &reading->wanted.transactions);
	fingerprint_merge(&proof->wanted.callbacks, &reading->wanted.callbacks);
	fingerprint_merge(&proof->wanted.bet_index, &reading->wanted.bet_index);
	fingerprint_merge(&proof->wanted.ends, &reading->wanted.ends);
	if (!dealer)
		return;
	dealer->open_least += reading->open_least;
	dealer->open_most += reading->open_most;
	proof_bounds_merge(&dealer->bounds, &reading->bounds);
	proof_days_round(proof, &reading->round, reading->days);
}

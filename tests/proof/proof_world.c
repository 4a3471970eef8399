#include "proof_world.h"

#include "domain/round_list.h"
#include "domain/wager.h"

#include "proof_rows.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t seed[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};

/* ---- building the world */

static const char *casino_of(enum wallet_mode mode)
{
	return mode == WALLET_SEAMLESS ? "alpha" : "beta";
}

/* Advances the time by seconds for each row. */
static int64_t tick(const struct world *world)
{
	return 1000 * (int64_t)(world->transaction_id + world->event + 1);
}

static void add_keys(struct world *world, const struct request *key,
	const struct transaction *transaction, const char *id)
{
	struct request *request = &world->requests[world->request_count++];
	struct transaction *row;

	*request = *key;
	strcpy(request->request_transaction_id, id);
	request->entry_seq *= 7;
	if (!transaction->transaction_id)
		return;
	row = &world->transactions[world->transaction_count++];
	*row = *transaction;
	if (!row->entry_seq)
		return;
	/* A transaction of a player with earlier ones. */
	row->entry_seq *= 7;
	row->previous = row->transaction_id - 1;
	row->amount = row->kind == ENTRY_BET ? -key->amount : key->amount;
	row->before_balance = MONEY_MAX / 2;
	row->current_balance = row->before_balance + row->amount;
	row->scope = key->scope;
	strcpy(row->request_transaction_id, id);
	memcpy(row->client_id, key->owner, sizeof(row->client_id));
}

/* Storage for the rounds' lists. */
static uint8_t lists[WORLD_ROUNDS][ROUND_LIST_SIZE];

static struct round *add_round(struct world *world, const char *game_id, enum wallet_mode mode)
{
	struct round *round = &world->rounds[world->round_count++];

	strcpy(round->player_id, mode == WALLET_SEAMLESS ? "p1" : "p2");
	strcpy(round->game_id, game_id);
	strcpy(round->casino_id, casino_of(mode));
	strcpy(round->user_id, "ann");
	strcpy(round->client_id, "slots");
	round->mode = mode;
	return round;
}

static uint64_t add_event_of(struct world *world, enum callback_kind kind, const struct bet *bet,
	const struct round *round, enum callback_state state, const void *body, uint32_t revision)
{
	struct callback *callback = &world->callbacks[world->callback_count++];
	struct callback_body *row = &world->bodies[world->body_count];
	char *text = world->texts[world->body_count++];
	struct buffer out;

	callback->event = ++world->event;
	callback->kind = kind;
	strcpy(callback->casino_id, round->casino_id);
	strcpy(callback->player_id, round->player_id);
	strcpy(callback->game_id, round->game_id);
	callback->bet_number = bet ? bet->number : 0;
	callback->state = state;
	callback->created_ms = tick(world);
	if (callback_has_ended(state))
		callback->ended_ms = callback->created_ms + 10;
	if (state == CALLBACK_CANCELLED)
		strcpy(callback->resolved_by, "carol");
	buffer_init(&out, WORLD_BODY);
	callback->revision = revision;
	ck_assert(revision && kind == CALLBACK_BETTING_RESULT
			? callback_body_render_win(&out, body, "")
			: callback_body_render(&out, kind, body, ""));
	memcpy(text, out.data, out.len);
	row->event = callback->event;
	row->body = (struct bytes){(const uint8_t *)text, (uint32_t)out.len};
	buffer_free(&out);
	if (state == CALLBACK_DUE || state == CALLBACK_SENDING) {
		struct due *due = &world->dues[world->due_count++];

		due->event = callback->event;
		strcpy(due->casino_id, callback->casino_id);
		due->kind = kind;
		due->sending = state == CALLBACK_SENDING;
	}
	return callback->event;
}

static uint64_t add_event(struct world *world, enum callback_kind kind, const struct bet *bet,
	const struct round *round, enum callback_state state, const void *body)
{
	return add_event_of(world, kind, bet, round, state, body, 0);
}

/* Adds an attempt. While it is being sent, the last attempt has not ended. */
static void add_attempt(struct world *world, uint64_t event, enum callback_class class)
{
	struct callback *callback = world_callback(world, event);
	struct attempt *attempt = &world->attempts[world->attempt_count++];

	attempt->event = event;
	attempt->number = ++callback->attempts;
	attempt->ended = callback->state != CALLBACK_SENDING;
	if (!attempt->ended)
		return;
	attempt->class = callback->last_class = class;
	attempt->http_status = callback->last_http_status = class == CALLBACK_SUCCESS ? 200 : 0;
}

static void add_betting(struct world *world, const struct round *round, struct bet *bet,
	enum callback_state state, enum callback_class class)
{
	struct bet_body body;

	memset(&body, 0, sizeof(body));
	strcpy(body.user_id, round->user_id);
	strcpy(body.player_id, bet->player_id);
	body.bet_amount = bet->bet_amount;
	body.transaction_id = bet->transaction_id;
	body.timestamp = bet->accepted_ms;
	strcpy(body.remark, bet->remark);
	strcpy(body.game_id, bet->game_id);
	body.user_bet = bet->user_bet;
	bet->event = add_event(world, CALLBACK_BETTING, bet, round, state, &body);
	add_attempt(world, bet->event, class);
}

static void add_refund(struct world *world, const struct round *round, struct bet *bet,
	enum callback_state state)
{
	struct refund_body body;

	memset(&body, 0, sizeof(body));
	body.bet_amount = bet->bet_amount;
	strcpy(body.game_id, bet->game_id);
	strcpy(body.player_id, bet->player_id);
	strcpy(body.remark, bet->remark);
	world->event++;
	body.timestamp = tick(world);
	world->event--;
	body.transaction_id = bet->transaction_id;
	strcpy(body.user_id, round->user_id);
	bet->refund_event = add_event(world, CALLBACK_BETTING_REFUND, bet, round, state, &body);
}

/* The rows that lead to a bet in each state. */
static const struct made {
	enum callback_state betting;
	enum callback_class class;
	enum refusal outcome;
} made[BET_STATE_COUNT] = {
	[BET_PENDING] = {CALLBACK_SENDING, CALLBACK_UNKNOWN, REFUSAL_NONE},
	[BET_ACCEPTED] = {CALLBACK_DELIVERED, CALLBACK_SUCCESS, REFUSAL_NONE},
	[BET_REJECTED] = {CALLBACK_FAILED, CALLBACK_REFUSED, REFUSAL_BET_REJECTED},
	[BET_REFUNDING] = {CALLBACK_FAILED, CALLBACK_UNKNOWN, REFUSAL_NONE},
	[BET_REFUNDED] = {CALLBACK_FAILED, CALLBACK_UNKNOWN, REFUSAL_NONE},
	[BET_SETTLED] = {CALLBACK_DELIVERED, CALLBACK_SUCCESS, REFUSAL_NONE},
};

static struct bet *add_bet(struct world *world, struct round *round, enum bet_state state,
	money_t amount)
{
	struct bet *bet = &world->bets[world->bet_count++];
	struct request key;
	struct transaction transaction;
	char id[EXTERNAL_ID_SIZE];

	strcpy(bet->player_id, round->player_id);
	strcpy(bet->game_id, round->game_id);
	bet->number = ++round->bets;
	bet->transaction_id = ++world->transaction_id;
	strcpy(bet->casino_id, round->casino_id);
	strcpy(bet->client_id, round->client_id);
	snprintf(id, sizeof(id), "bet-%u", (unsigned int)bet->transaction_id);
	strcpy(bet->request_transaction_id, id);
	bet->mode = round->mode;
	bet->state = state;
	bet->bet_amount = amount;
	bet->accepted_ms = bet->changed_ms = tick(world);
	strcpy(bet->remark, "a \"remark\",\"timestamp\":5");
	if (bet->number == 1)
		bet->user_bet = (struct bytes){(const uint8_t *)"{\"line\":1}", 10};
	bet->outcome = made[state].outcome;
	if (bet_is_part(state)) {
		round_list_add(round, bet->number, state != BET_PENDING,
			lists[round - world->rounds]);
		round->staked += amount;
	}
	key = proof_bet_key(bet);
	transaction = proof_bet_transaction(bet);
	add_keys(world, &key, &transaction, id);
	if (bet->mode == WALLET_SEAMLESS)
		add_betting(world, round, bet, made[state].betting, made[state].class);
	bet->changed_ms = tick(world) + 100;
	return bet;
}

static void settle(struct world *world, struct round *round, enum round_result result,
	money_t payout, enum callback_state state)
{
	struct transaction transaction;
	struct result_body body;
	struct request key;

	round->state = ROUND_SETTLED;
	round->result = round->current_result = result;
	round->payout_amount = round->current_payout = payout;
	for (unsigned int i = 0; i < world->bet_count; i++) {
		const struct bet *bet = &world->bets[i];

		if (bet->state == BET_SETTLED && strcmp(bet->game_id, round->game_id) == 0)
			*(bet->addition ? &round->addition_amount : &round->bet_amount) +=
				bet->bet_amount;
	}
	round->win_amount = payout - round->bet_amount - round->addition_amount;
	round->transaction_id = result == RESULT_LOSS ? 0 : ++world->transaction_id;
	round->settled_ms = tick(world);
	strcpy(round->remark, "over");
	round->game_result = (struct bytes){(const uint8_t *)"{\"ball\": 7}", 11};
	if (round->mode == WALLET_SEAMLESS) {
		memset(&body, 0, sizeof(body));
		strcpy(body.user_id, round->user_id);
		strcpy(body.player_id, round->player_id);
		body.bet_amount = round->bet_amount;
		body.transaction_id = round->transaction_id;
		body.timestamp = round->settled_ms;
		strcpy(body.remark, round->remark);
		body.result = result;
		strcpy(body.game_id, round->game_id);
		body.addition_amount = round->addition_amount;
		body.win_amount = round->win_amount;
		body.payout_amount = payout;
		body.game_result = round->game_result;
		round->event = round->last_event =
			add_event(world, CALLBACK_BETTING_RESULT, NULL, round, state, &body);
	}
	key = proof_round_key(round);
	transaction = proof_round_transaction(round);
	add_keys(world, &key, &transaction, round->game_id);
}

/* Builds player p1 of alpha, which is seamless. */
static void make_seamless(struct world *world)
{
	struct round *round = add_round(world, "g1", WALLET_SEAMLESS);
	struct bet *bet;

	add_bet(world, round, BET_SETTLED, 100000);
	bet = add_bet(world, round, BET_SETTLED, 20000);
	bet->addition = true;
	bet = add_bet(world, round, BET_REJECTED, 30000);
	strcpy(bet->dealer_error_id, "no_credit");
	bet = add_bet(world, round, BET_REFUNDED, 40000);
	add_refund(world, round, bet, CALLBACK_DELIVERED);
	add_attempt(world, bet->refund_event, CALLBACK_UNKNOWN);
	add_attempt(world, bet->refund_event, CALLBACK_SUCCESS);
	bet->changed_ms = tick(world) + 100;
	bet = add_bet(world, round, BET_REFUNDING, 50000);
	add_refund(world, round, bet, CALLBACK_DUE);
	settle(world, round, RESULT_WIN, 250000, CALLBACK_DELIVERED);
	add_attempt(world, round->event, CALLBACK_SUCCESS);

	round = add_round(world, "g2", WALLET_SEAMLESS);
	add_bet(world, round, BET_PENDING, 10000);
	add_bet(world, round, BET_ACCEPTED, 10000);
	bet = add_bet(world, round, BET_REJECTED, 10000);
	bet->outcome = REFUSAL_DEALER_UNREACHABLE;
	world_callback(world, bet->event)->last_class = CALLBACK_NOT_SENT;
	world_attempt(world, bet->event, 1)->class = CALLBACK_NOT_SENT;
	bet = add_bet(world, round, BET_REFUNDED, 10000);
	add_refund(world, round, bet, CALLBACK_CANCELLED);
	strcpy(bet->resolved_by, "carol");
	bet->changed_ms = tick(world) + 100;

	round = add_round(world, "g3", WALLET_SEAMLESS);
	add_bet(world, round, BET_SETTLED, 10000);
	settle(world, round, RESULT_LOSS, 0, CALLBACK_PARKED);
	for (int i = 0; i < 3; i++)
		add_attempt(world, round->event, CALLBACK_UNKNOWN);
	world->answers[world->answer_count++] =
		(struct answer){.event = round->event, .number = 2, .length = 6, .text = "<busy>"};
}

/* Builds player p2 of beta, whose credit is stored here. */
static void make_transfer(struct world *world)
{
	struct round *round = add_round(world, "h1", WALLET_TRANSFER);

	add_bet(world, round, BET_SETTLED, 10000);
	add_bet(world, round, BET_SETTLED, 5000)->addition = true;
	settle(world, round, RESULT_REFUND, 15000, CALLBACK_DUE);
	round = add_round(world, "h2", WALLET_TRANSFER);
	add_bet(world, round, BET_ACCEPTED, 10000);
	round = add_round(world, "h3", WALLET_TRANSFER);
	add_bet(world, round, BET_SETTLED, 10000);
	settle(world, round, RESULT_LOSS, 0, CALLBACK_DUE);
}

static void look_now(struct world *world)
{
	world->point = (struct proof_point){world->transaction_id, world->event, WORLD_NOW_MS};
	world->moment = (struct proof_moment){world->transaction_id, world->event, world->event,
		WORLD_NOW_MS, WORLD_NOW_MS};
}

void world_make(struct world *world)
{
	memset(world, 0, sizeof(*world));
	strcpy(world->totals[0].casino_id, "alpha");
	strcpy(world->totals[1].casino_id, "beta");
	make_seamless(world);
	make_transfer(world);
	/* g1/5, g2/1, g2/2 and the result of g3; h2/1 */
	world->totals[0].open_bets = 4;
	world->totals[1].open_bets = 1;
	world->totals[0].parked = 1;
	world->totals[0].seamless_staked = 140000;
	world->totals[0].seamless_paid = 250000;
	world->totals[0].seamless_refunded = 100000;
	world->totals[0].owed_refunds = 50000;
	world->totals[0].bets_without_balance = 4;
	look_now(world);
}

/* ---- corrections and cancellations */

/* Adds the key of a correction or cancellation, which moved @moved here, and its transaction. */
static void add_change(struct world *world, struct request key, const char *casino_id,
	money_t moved)
{
	const struct transaction transaction = proof_key_transaction(&key, casino_id);
	char id[EXTERNAL_ID_SIZE];

	memcpy(id, key.request_transaction_id, sizeof(id));
	key.amount = moved;
	key.entry_seq = moved != 0;
	add_keys(world, &key, &transaction, id);
}

static struct correction *correct(struct world *world, struct round *round,
	enum round_result result, money_t payout, money_t shortfall, enum callback_state state)
{
	struct correction *row = &world->corrections[world->correction_count++];
	struct correction_win_body win;
	struct correction_body decrease;
	money_t moved;

	strcpy(row->player_id, round->player_id);
	strcpy(row->game_id, round->game_id);
	strcpy(row->casino_id, round->casino_id);
	row->revision = ++round->revision;
	row->transaction_id = ++world->transaction_id;
	row->scope = SCOPE_CLIENT;
	strcpy(row->client_id, round->client_id);
	snprintf(row->request_transaction_id, sizeof(row->request_transaction_id),
		"correct-%.9s-%u", round->game_id, row->revision);
	row->previous_result = round->current_result;
	row->previous_payout = round->current_payout;
	row->result = round->current_result = result;
	row->payout_amount = round->current_payout = payout;
	row->shortfall = shortfall;
	row->time_ms = tick(world);
	round->shortfall += shortfall;
	moved = correction_moved(row, round->mode);
	if (round->mode == WALLET_SEAMLESS && moved) {
		correction_win_fill(&win, round, row);
		correction_body_fill(&decrease, round, row);
		row->event = moved > 0 ? add_event_of(world, CALLBACK_BETTING_RESULT, NULL, round,
						 state, &win, row->revision)
				       : add_event_of(world, CALLBACK_BETTING_CORRECTION, NULL,
						 round, state, &decrease, row->revision);
		round->last_event = row->event;
		if (state == CALLBACK_DELIVERED)
			add_attempt(world, row->event, CALLBACK_SUCCESS);
		if (moved < 0)
			world_callback(world, row->event)->shortfall = shortfall;
	}
	add_change(world, proof_correction_key(round, row), round->casino_id,
		round->mode == WALLET_TRANSFER ? moved : 0);
	return row;
}

/* Cancels an accepted bet. */
static void cancel(struct world *world, struct round *round, struct bet *bet)
{
	struct cancellation *row = &world->cancellations[world->cancellation_count++];

	bet->cancelled = true;
	bet->state = bet->mode == WALLET_TRANSFER ? BET_REFUNDED : BET_REFUNDING;
	bet->changed_ms = tick(world);
	round->staked -= bet->bet_amount;
	round_list_remove(round, bet->number, lists[round - world->rounds]);
	strcpy(row->player_id, bet->player_id);
	strcpy(row->game_id, bet->game_id);
	row->number = bet->number;
	strcpy(row->casino_id, bet->casino_id);
	strcpy(row->client_id, bet->client_id);
	snprintf(row->request_transaction_id, sizeof(row->request_transaction_id), "cancel-%.9s",
		bet->game_id);
	row->time_ms = bet->changed_ms;
	if (bet->mode == WALLET_TRANSFER)
		row->transaction_id = ++world->transaction_id;
	else
		add_refund(world, round, bet, CALLBACK_DUE);
	add_change(world, proof_cancellation_key(row, bet), bet->casino_id,
		bet->mode == WALLET_TRANSFER ? bet->bet_amount : 0);
}

void world_add_changes(struct world *world)
{
	struct total *seamless = &world->totals[0], *transfer = &world->totals[1];
	struct round *round = add_round(world, "g4", WALLET_SEAMLESS);

	add_bet(world, round, BET_SETTLED, 100000);
	settle(world, round, RESULT_LOSS, 0, CALLBACK_DELIVERED);
	add_attempt(world, round->event, CALLBACK_SUCCESS);
	correct(world, round, RESULT_WIN, 300000, 0, CALLBACK_DELIVERED);
	correct(world, round, RESULT_WIN, 200000, 40000, CALLBACK_DELIVERED);
	correct(world, round, RESULT_WIN, 300000, -40000, CALLBACK_DUE);
	round = add_round(world, "g5", WALLET_SEAMLESS);
	cancel(world, round, add_bet(world, round, BET_ACCEPTED, 20000));
	round = add_round(world, "h4", WALLET_TRANSFER);
	add_bet(world, round, BET_SETTLED, 10000);
	settle(world, round, RESULT_WIN, 100000, CALLBACK_DUE);
	correct(world, round, RESULT_LOSS, 0, 30000, CALLBACK_DUE);
	round = add_round(world, "h5", WALLET_TRANSFER);
	cancel(world, round, add_bet(world, round, BET_ACCEPTED, 10000));
	/* g4's last correction and g5/1 */
	seamless->open_bets += 2;
	seamless->seamless_staked += 100000;
	seamless->seamless_paid += 300000;
	seamless->seamless_refunded += 20000;
	seamless->owed_payouts += 60000;
	seamless->owed_refunds += 20000;
	seamless->bets_without_balance += 2;
	transfer->shortfall += 30000;
	look_now(world);
}

/* ---- finding rows */

struct round *world_round(struct world *world, const char *game_id)
{
	for (unsigned int i = 0; i < world->round_count; i++) {
		if (strcmp(world->rounds[i].game_id, game_id) == 0)
			return &world->rounds[i];
	}
	ck_abort();
}

struct bet *world_bet(struct world *world, const char *game_id, uint32_t number)
{
	for (unsigned int i = 0; i < world->bet_count; i++) {
		if (strcmp(world->bets[i].game_id, game_id) == 0 && world->bets[i].number == number)
			return &world->bets[i];
	}
	ck_abort();
}

struct callback *world_callback(struct world *world, uint64_t event)
{
	ck_assert(event && event <= world->callback_count);
	return &world->callbacks[event - 1];
}

struct correction *world_correction(struct world *world, const char *game_id, uint32_t revision)
{
	for (unsigned int i = 0; i < world->correction_count; i++) {
		if (strcmp(world->corrections[i].game_id, game_id) == 0 &&
			world->corrections[i].revision == revision)
			return &world->corrections[i];
	}
	ck_abort();
}

struct cancellation *world_cancellation(struct world *world, const char *game_id)
{
	for (unsigned int i = 0; i < world->cancellation_count; i++) {
		if (strcmp(world->cancellations[i].game_id, game_id) == 0)
			return &world->cancellations[i];
	}
	ck_abort();
}

struct request *world_key(struct world *world, const char *id)
{
	for (unsigned int i = 0; i < world->request_count; i++) {
		if (strcmp(world->requests[i].request_transaction_id, id) == 0)
			return &world->requests[i];
	}
	ck_abort();
}

struct attempt *world_attempt(struct world *world, uint64_t event, uint32_t number)
{
	for (unsigned int i = 0; i < world->attempt_count; i++) {
		if (world->attempts[i].event == event && world->attempts[i].number == number)
			return &world->attempts[i];
	}
	ck_abort();
}

struct due *world_due(struct world *world, uint64_t event)
{
	for (unsigned int i = 0; i < world->due_count; i++) {
		if (world->dues[i].event == event)
			return &world->dues[i];
	}
	ck_abort();
}

struct request *world_request(struct world *world, const char *game_id, uint32_t number)
{
	for (unsigned int i = 0; i < world->request_count; i++) {
		if (strcmp(world->requests[i].game_id, game_id) == 0 &&
			world->requests[i].bet_number == number)
			return &world->requests[i];
	}
	ck_abort();
}

struct transaction *world_transaction(struct world *world, uint64_t transaction_id)
{
	ck_assert(transaction_id && transaction_id <= world->transaction_count);
	return &world->transactions[transaction_id - 1];
}

/* ---- proving */

static bool take_line(void *closure, const char *problem)
{
	struct world_verdict *verdict = closure;
	size_t len = strlen(verdict->text);

	snprintf(verdict->text + len, sizeof(verdict->text) - len, "%s\n", problem);
	return true;
}

/* A lie may have put rows out of order. */
static int compare_attempts(const void *a, const void *b)
{
	const struct attempt *one = a, *other = b;

	if (one->event != other->event)
		return one->event < other->event ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

static int compare_dues(const void *a, const void *b)
{
	const struct due *one = a, *other = b;

	return one->event < other->event ? -1 : one->event > other->event;
}

#define KIND(kind, array, count_)                                                                  \
	do {                                                                                       \
		rows->kinds[RECORD_##kind].rows = world->array;                                    \
		rows->kinds[RECORD_##kind].count = world->count_;                                  \
	} while (0)

static void take_rows(struct world *world, struct proof_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	qsort(world->attempts, world->attempt_count, sizeof(struct attempt), compare_attempts);
	qsort(world->dues, world->due_count, sizeof(struct due), compare_dues);
	KIND(ROUND, rounds, round_count);
	KIND(BET, bets, bet_count);
	KIND(REQUEST, requests, request_count);
	KIND(TRANSACTION, transactions, transaction_count);
	KIND(CORRECTION, corrections, correction_count);
	KIND(CANCELLATION, cancellations, cancellation_count);
	KIND(CALLBACK, callbacks, callback_count);
	KIND(CALLBACK_BODY, bodies, body_count);
	KIND(ATTEMPT, attempts, attempt_count);
	KIND(ANSWER, answers, answer_count);
	KIND(DUE, dues, due_count);
	rows->transaction_id = world->transaction_id;
	rows->event = world->event;
}

/* Returns the dealer's sums at that moment. No lie changes the sums of transactions. */
static struct total total_of(const struct world *world, unsigned int dealer)
{
	struct total total = world->totals[dealer];

	for (unsigned int i = 0; i < world->transaction_count; i++) {
		const struct transaction *row = &world->transactions[i];

		if (!row->entry_seq || row->transaction_id > world->moment.as_of ||
			strcmp(row->casino_id, total.casino_id) != 0)
			continue;
		total.balance += row->amount;
		*(row->kind == ENTRY_BET                        ? &total.staked
				: row->kind == ENTRY_CORRECTION ? &total.corrected
				: row->kind == ENTRY_BET_CANCEL ? &total.cancelled
								: &total.paid) +=
			proof_entry_asked(row);
	}
	return total;
}

void world_prove(struct world *world, struct world_verdict *verdict)
{
	struct proof_rows rows;
	struct proof proof;

	memset(verdict, 0, sizeof(*verdict));
	proof_init(&proof, seed, &world->point, take_line, verdict);
	if (world->read_ms)
		proof.read_ms = world->read_ms;
	for (int i = 0; i < 2; i++) {
		const struct total total = total_of(world, (unsigned int)i);

		ck_assert(proof_add_dealer(&proof, &total, &world->moment));
		proof_dealer(&proof, world->totals[i].casino_id, "thb");
	}
	take_rows(world, &rows);
	proof_rows_wagers(&proof, &rows);
	verdict->open_least = proof.dealers[0].open_least;
	verdict->open_most = proof.dealers[0].open_most;
	for (int i = 0; i < 2; i++)
		proof_waiting(&proof, &world->totals[i]);
	proof_totals(&proof);
	ck_assert(!proof.no_memory);
	verdict->problems = proof.problems;
	verdict->loose = proof.loose;
	verdict->requests = fingerprint_equal(&proof.wanted.requests, &proof.found.requests);
	verdict->transactions =
		fingerprint_equal(&proof.wanted.transactions, &proof.found.transactions);
	verdict->callbacks = fingerprint_equal(&proof.wanted.callbacks, &proof.found.callbacks);
	verdict->ends = fingerprint_equal(&proof.wanted.ends, &proof.found.ends);
	proof_free(&proof);
}

bool world_is_sound(const struct world_verdict *verdict)
{
	return !verdict->problems && verdict->requests && verdict->transactions &&
		verdict->callbacks && verdict->ends;
}

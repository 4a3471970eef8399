#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the sequential model */

enum model_callback { NOT_MADE, SENDING, DUE, ENDED };

/* What is known of an operation's key. */
struct model_key {
	bool used;
	bool answered;        /* @transaction_id is known */
	bool cancelled;       /* of a bet */
	bool unused_bet;      /* a cancellation came before the bet */
	enum refusal refusal; /* recorded */
	enum bet_state bet;
	enum model_callback callback;
	uint64_t transaction_id;
	int64_t values[REPLY_VALUES];
};

struct model_round {
	bool there;
	bool settled;
	enum round_result result;
	money_t payout;
	money_t shortfall;
	uint32_t revision;
	unsigned int last; /* operation + 1 that made the last callback; 0: none */
};

struct model {
	money_t balance;
	uint64_t last_id;
	struct model_key keys[HISTORY_OPS];
	struct model_round rounds[HISTORY_GAMES];
};

static bool is_transfer_wallet(const struct history *history)
{
	return history->mode == WALLET_TRANSFER;
}

static money_t staked(const struct history *history, const struct model *model, unsigned int game,
	enum bet_state state)
{
	money_t sum = 0;

	for (unsigned int i = 0; i < history->op_count; i++) {
		if (history->ops[i].kind == OP_BET && history->ops[i].game == game &&
			model->keys[i].bet == state && model->keys[i].transaction_id)
			sum += history->ops[i].amount;
	}
	return sum;
}

/* Marks the bets of a game as settled. Returns false if there is none to settle. */
static bool settle_bets(const struct history *history, struct model *model, unsigned int game)
{
	bool any = false;

	for (unsigned int i = 0; i < history->op_count; i++) {
		struct model_key *key = &model->keys[i];

		if (history->ops[i].kind == OP_BET && history->ops[i].game == game &&
			key->transaction_id && key->bet == BET_ACCEPTED) {
			key->bet = BET_SETTLED;
			any = true;
		}
	}
	return any;
}

/* An id that the answer has not shown yet. It only says that there is one. */
#define SOME_ID UINT64_MAX

static void answer_with(struct reply *reply, const struct model_key *key)
{
	reply->refusal = key->refusal;
	reply->replay = true;
	reply->transaction_id = key->transaction_id;
	memcpy(reply->values, key->values, sizeof(reply->values));
}

static void record(struct model_key *key, struct reply *reply, bool has_id)
{
	key->used = true;
	key->refusal = reply->refusal;
	key->transaction_id = reply->transaction_id = has_id ? SOME_ID : 0;
	memcpy(key->values, reply->values, sizeof(key->values));
}

static void apply_transfer(const struct op *op, struct model *model, struct model_key *key,
	struct reply *reply)
{
	const money_t gain = op->kind == OP_IN ? op->amount : -op->amount;

	if (key->used) {
		answer_with(reply, key);
		return;
	}
	reply->values[0] = model->balance;
	if (model->balance + gain < 0) {
		reply->refusal = REFUSAL_INSUFFICIENT_BALANCE;
		record(key, reply, false);
		return;
	}
	model->balance += gain;
	reply->values[1] = model->balance;
	record(key, reply, true);
}

/* The answer to a bet by its present state. */
static void answer_bet(const struct model_key *key, struct reply *reply)
{
	static const enum refusal refusals[BET_STATE_COUNT] = {
		[BET_PENDING] = REFUSAL_BET_IN_PROGRESS,
		[BET_REJECTED] = REFUSAL_BET_REJECTED,
		[BET_REFUNDING] = REFUSAL_DEALER_TIMEOUT,
		[BET_REFUNDED] = REFUSAL_DEALER_TIMEOUT,
	};

	reply->refusal = key->cancelled ? REFUSAL_BET_CANCELLED : refusals[key->bet];
	reply->transaction_id = key->transaction_id;
	reply->values[0] = key->bet == BET_SETTLED ? BET_ACCEPTED : (int64_t)key->bet;
}

static void apply_bet(const struct history *history, const struct op *op, struct model *model,
	struct model_key *key, struct reply *reply)
{
	struct model_round *round = &model->rounds[op->game];

	if (key->unused_bet) {
		reply->refusal = REFUSAL_BET_CANCELLED;
		return;
	}
	if (key->used) {
		answer_with(reply, key);
		if (key->refusal == REFUSAL_NONE)
			answer_bet(key, reply);
		return;
	}
	if (round->settled) {
		reply->refusal = REFUSAL_ALREADY_SETTLED;
		return;
	}
	if (is_transfer_wallet(history) && model->balance < op->amount) {
		reply->refusal = REFUSAL_INSUFFICIENT_BALANCE;
		reply->values[0] = model->balance;
		record(key, reply, false);
		return;
	}
	record(key, reply, true);
	round->there = true;
	key->bet = is_transfer_wallet(history) ? BET_ACCEPTED : BET_PENDING;
	if (is_transfer_wallet(history))
		model->balance -= op->amount;
	else
		key->callback = SENDING;
	answer_bet(key, reply);
	reply->replay = false;
}

static void apply_settle(const struct history *history, const struct op *op, struct model *model,
	struct model_key *key, struct reply *reply, unsigned int number)
{
	struct model_round *round = &model->rounds[op->game];
	const money_t stake = staked(history, model, op->game, BET_ACCEPTED);

	if (key->used) {
		answer_with(reply, key);
		return;
	}
	reply->refusal = !round->there                          ? REFUSAL_GAME_NOT_FOUND
		: round->settled                                ? REFUSAL_ALREADY_SETTLED
		: staked(history, model, op->game, BET_PENDING) ? REFUSAL_BET_IN_PROGRESS
		: !stake                                        ? REFUSAL_BET_NOT_FOUND
								: REFUSAL_NONE;
	if (reply->refusal != REFUSAL_NONE)
		return;
	settle_bets(history, model, op->game);
	round->settled = true;
	round->result = op->result;
	round->payout = op->result == RESULT_REFUND ? stake : op->amount;
	reply->values[0] = stake;
	reply->values[1] = round->payout - stake;
	reply->values[2] = round->payout;
	if (is_transfer_wallet(history)) {
		model->balance += round->payout;
	} else {
		key->callback = SENDING;
		round->last = number + 1;
	}
	record(key, reply, op->result != RESULT_LOSS);
}

static void apply_cancel(const struct history *history, const struct op *op, struct model *model,
	struct model_key *key, struct reply *reply)
{
	struct model_key *bet = &model->keys[op->target];
	const bool placed = bet->used && bet->transaction_id;

	if (!key->used && placed && bet->bet == BET_PENDING)
		reply->refusal = REFUSAL_BET_IN_PROGRESS;
	else if (!key->used && placed && bet->bet == BET_SETTLED)
		reply->refusal = REFUSAL_ALREADY_SETTLED;
	if (reply->refusal != REFUSAL_NONE)
		return;
	reply->replay = key->used;
	if (!key->used && placed && bet->bet == BET_ACCEPTED) {
		bet->cancelled = true;
		bet->bet = is_transfer_wallet(history) ? BET_REFUNDED : BET_REFUNDING;
		if (is_transfer_wallet(history))
			model->balance += history->ops[op->target].amount;
		else
			key->callback = SENDING;
	}
	if (!bet->used)
		bet->unused_bet = true;
	key->used = true;
	reply->transaction_id = placed ? bet->transaction_id : 0;
	reply->values[0] = placed ? (int64_t)bet->bet : BET_REJECTED;
}

static enum refusal refuse_correction(const struct op *op, const struct model *model,
	const struct model_round *round, struct reply *reply)
{
	if (!round->there)
		return REFUSAL_GAME_NOT_FOUND;
	reply->values[0] = round->revision;
	if (!round->settled || op->revision != round->revision + 1)
		return REFUSAL_REVISION_CONFLICT;
	return round->last && model->keys[round->last - 1].callback != ENDED ? REFUSAL_CALLBACK_OPEN
									     : REFUSAL_NONE;
}

static void apply_correct(const struct history *history, const struct op *op, struct model *model,
	struct model_key *key, struct reply *reply, unsigned int number)
{
	struct model_round *round = &model->rounds[op->game];
	money_t payout = op->amount, delta, moved, shortfall = 0;

	if (key->used) {
		answer_with(reply, key);
		return;
	}
	reply->refusal = refuse_correction(op, model, round, reply);
	if (reply->refusal != REFUSAL_NONE)
		return;
	if (op->result == RESULT_REFUND)
		payout = staked(history, model, op->game, BET_SETTLED);
	delta = payout - round->payout;
	if (delta > 0 && round->shortfall)
		shortfall = round->shortfall < delta ? -round->shortfall : -delta;
	moved = delta + shortfall;
	if (is_transfer_wallet(history) && moved < -model->balance) {
		if (!op->allow_shortfall) {
			reply->refusal = REFUSAL_INSUFFICIENT_BALANCE;
			reply->values[0] = model->balance;
			return;
		}
		shortfall = -moved - model->balance;
		moved = -model->balance;
	}
	if (is_transfer_wallet(history)) {
		model->balance += moved;
	} else if (moved) {
		key->callback = SENDING;
		round->last = number + 1;
	}
	round->revision++;
	round->result = op->result;
	round->payout = payout;
	round->shortfall += shortfall;
	reply->values[0] = round->revision;
	reply->values[1] = delta;
	reply->values[2] = shortfall;
	reply->values[3] = payout;
	record(key, reply, true);
}

/* A dealer took a decrease, less what it reports. */
static void take_decrease(const struct op *op, struct model_key *key, struct model_round *round)
{
	if (key->values[1] >= 0)
		return;
	key->values[2] += op->amount;
	round->shortfall += op->amount;
}

/* Returns what the answer of an attempt means. One with a shortfall above the decrease is unreadable. */
static enum callback_class class_of(const struct op *op, const struct op *target,
	const struct model_key *key)
{
	const money_t decrease = -key->values[1];

	return op->class == CALLBACK_SUCCESS && target->kind == OP_CORRECT && decrease > 0 &&
			op->amount > decrease
		? CALLBACK_UNKNOWN
		: op->class;
}

static void apply_end(const struct history *history, const struct op *op, struct model *model,
	struct reply *reply)
{
	static const enum bet_state ends[CALLBACK_CLASS_COUNT] = {
		[CALLBACK_UNKNOWN] = BET_REFUNDING,
		[CALLBACK_SUCCESS] = BET_ACCEPTED,
		[CALLBACK_REFUSED] = BET_REJECTED,
	};
	const struct op *target = &history->ops[op->target];
	struct model_key *key = &model->keys[op->target];

	reply->values[0] = key->callback != SENDING;
	if (key->callback == SENDING) {
		key->callback =
			class_of(op, target, key) == CALLBACK_SUCCESS || target->kind == OP_BET
			? ENDED
			: DUE;
		if (target->kind == OP_BET)
			key->bet = ends[op->class];
		else if (key->callback == ENDED && target->kind == OP_CANCEL)
			model->keys[target->target].bet = BET_REFUNDED;
		else if (key->callback == ENDED && target->kind == OP_CORRECT)
			take_decrease(op, key, &model->rounds[target->game]);
	}
	if (target->kind == OP_BET)
		answer_bet(key, reply);
	reply->values[0] |= 2 * (key->callback == ENDED);
}

/* ---- one call */

static void apply(const struct history *history, struct model *model, unsigned int number,
	struct reply *reply)
{
	const struct op *op = &history->ops[number];
	struct model_key *key = &model->keys[number];

	memset(reply, 0, sizeof(*reply));
	switch (op->kind) {
	case OP_IN:
	case OP_OUT:
		apply_transfer(op, model, key, reply);
		return;
	case OP_READ:
		reply->values[0] = model->balance;
		for (unsigned int game = 0; game < HISTORY_GAMES; game++)
			reply->values[1] += staked(history, model, game, BET_ACCEPTED);
		return;
	case OP_BET:
		apply_bet(history, op, model, key, reply);
		return;
	case OP_SETTLE:
		apply_settle(history, op, model, key, reply, number);
		return;
	case OP_CANCEL:
		apply_cancel(history, op, model, key, reply);
		return;
	case OP_CORRECT:
		apply_correct(history, op, model, key, reply, number);
		return;
	default:
		apply_end(history, op, model, reply);
	}
}

/* Returns the key whose transaction the answer to the operation names, or NULL. */
static struct model_key *named_key(const struct history *history, struct model *model,
	unsigned int number)
{
	const struct op *op = &history->ops[number];

	return &model->keys[op->kind == OP_CANCEL || op->kind == OP_END ? op->target : number];
}

/*
 * Compares the transaction ids: an operation has one for ever, and those of new transactions rise in
 * the order of the commits.
 */
static bool same_id(const struct history *history, struct model *model, const struct call *call,
	const struct reply *wanted)
{
	struct model_key *key = named_key(history, model, call->op);
	const uint64_t id = call->reply.transaction_id;

	if ((wanted->transaction_id != 0) != (id != 0))
		return false;
	if (!id)
		return true;
	if (key->answered)
		return key->transaction_id == id;
	if (!wanted->replay && history->ops[call->op].kind != OP_CANCEL &&
		history->ops[call->op].kind != OP_END) {
		if (id <= model->last_id)
			return false;
		model->last_id = id;
	}
	key->answered = true;
	key->transaction_id = id;
	return true;
}

/* Makes the call. Returns false if the model answers otherwise than the ledger did. */
static bool make_call(const struct history *history, struct model *model, const struct call *call)
{
	const struct reply *reply = &call->reply;
	struct reply wanted;

	apply(history, model, call->op, &wanted);
	if (call->answered == HISTORY_NEVER)
		return true;
	if (reply->refusal != wanted.refusal ||
		memcmp(reply->values, wanted.values, sizeof(wanted.values)) != 0)
		return false;
	/* The repeated call of a seamless wallet is granted the callback again: no replay. */
	if (is_transfer_wallet(history) && reply->refusal == REFUSAL_NONE &&
		reply->replay != wanted.replay)
		return false;
	return same_id(history, model, call, &wanted);
}

/* ---- the search */

#define SEEN_SIZE 65536 /* a power of two */

struct search {
	const struct history *history;
	uint32_t answered; /* mask of the calls that were answered */
	uint64_t seen[SEEN_SIZE];
	uint32_t seen_count;
};

/* Returns true if the state was reached before with the same calls made. */
static bool was_seen(struct search *search, uint32_t made, const struct model *model)
{
	const unsigned char *bytes = (const unsigned char *)model;
	uint64_t hash = UINT64_C(14695981039346656037) ^ made;
	uint32_t at;

	for (size_t i = 0; i < sizeof(*model); i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, bytes + i,
			sizeof(*model) - i < sizeof(word) ? sizeof(*model) - i : sizeof(word));
		hash = (hash ^ word) * UINT64_C(1099511628211);
		hash ^= hash >> 29;
	}
	hash |= 1;
	for (at = (uint32_t)(hash >> 32) % SEEN_SIZE; search->seen[at]; at = (at + 1) % SEEN_SIZE) {
		if (search->seen[at] == hash)
			return true;
	}
	if (search->seen_count < SEEN_SIZE / 2) {
		search->seen[at] = hash;
		search->seen_count++;
	}
	return false;
}

static bool search_from(struct search *search, uint32_t made, const struct model *model)
{
	const struct history *history = search->history;
	uint32_t first_answer = HISTORY_NEVER;

	if ((made & search->answered) == search->answered)
		return true;
	for (unsigned int i = 0; i < history->call_count; i++) {
		if (!(made & UINT32_C(1) << i) && history->calls[i].answered < first_answer)
			first_answer = history->calls[i].answered;
	}
	/*
	 * Those that were answered come first: a history with few lost answers is found at once. A
	 * lost one that changes nothing need not be made.
	 */
	for (unsigned int lost = 0; lost < 2; lost++) {
		for (unsigned int i = 0; i < history->call_count; i++) {
			const struct call *call = &history->calls[i];
			struct model next;

			if (made & UINT32_C(1) << i || call->sent > first_answer ||
				(call->answered == HISTORY_NEVER) != (lost == 1))
				continue;
			memcpy(&next, model, sizeof(next));
			if (!make_call(history, &next, call) ||
				(lost && memcmp(&next, model, sizeof(next)) == 0) ||
				was_seen(search, made | UINT32_C(1) << i, &next))
				continue;
			if (search_from(search, made | UINT32_C(1) << i, &next))
				return true;
		}
	}
	return false;
}

bool history_is_linearizable(const struct history *history)
{
	static struct search search;
	struct model model;

	memset(&search, 0, sizeof(search));
	memset(&model, 0, sizeof(model));
	search.history = history;
	for (unsigned int i = 0; i < history->call_count; i++) {
		if (history->calls[i].answered != HISTORY_NEVER)
			search.answered |= UINT32_C(1) << i;
	}
	return search_from(&search, 0, &model);
}

void history_print(const struct history *history)
{
	static const char *const names[OP_KINDS] = {"in", "out", "read", "bet", "settle", "cancel",
		"correct", "end"};

	for (unsigned int i = 0; i < history->call_count; i++) {
		const struct call *call = &history->calls[i];
		const struct op *op = &history->ops[call->op];

		fprintf(stderr,
			"op %u %s game %u amount %" PRId64
			" result %d revision %u target %u class %d "
			"sent %u answered %d: refusal %d replay %d id %" PRIu64 " values %" PRId64
			" %" PRId64 " %" PRId64 " %" PRId64 "\n",
			call->op, names[op->kind], op->game, op->amount, (int)op->result,
			op->revision, op->target, (int)op->class, call->sent, (int)call->answered,
			(int)call->reply.refusal, call->reply.replay, call->reply.transaction_id,
			call->reply.values[0], call->reply.values[1], call->reply.values[2],
			call->reply.values[3]);
	}
}

/* Checks a bet by itself and with its callbacks. */
#include "proof/links.h"
#include "proof/round.h"
#include "domain/callback.h"
#include "domain/delivery.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void proof_fault(struct proof_faults *faults, const char *format, ...)
{
	va_list arguments;

	if (faults->count == PROOF_FAULTS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(faults->lines[faults->count++], PROOF_LINE_SIZE, format, arguments);
	va_end(arguments);
}

void proof_accuse(struct proof *proof, const struct proof_faults *faults)
{
	for (uint32_t i = 0; i < faults->count; i++)
		proof_problem(proof, "%s", faults->lines[i]);
}

/* ---- by itself */

static void add_bet_fault(struct proof_faults *faults, const struct bet *bet, const char *what)
{
	proof_fault(faults, "bet %s/%s/%" PRIu32 " %s", bet->player_id, bet->game_id, bet->number,
		what);
}

static void accuse_state(struct proof_faults *faults, const struct bet *bet, const char *what)
{
	proof_fault(faults, "bet %s/%s/%" PRIu32 " is %s %s", bet->player_id, bet->game_id,
		bet->number, bet_state_names[bet->state], what);
}

/* Checks the members that a state requires or forbids. */
static void check_bet_state(const struct bet *bet, struct proof_faults *faults)
{
	bool refund = bet->state == BET_REFUNDING || bet->state == BET_REFUNDED;

	if (bet->mode == WALLET_TRANSFER) {
		if (bet->state != BET_ACCEPTED && bet->state != BET_SETTLED &&
			!(bet->state == BET_REFUNDED && bet->cancelled))
			accuse_state(faults, bet, "in a transfer wallet");
		if (bet->event || bet->refund_event)
			add_bet_fault(faults, bet, "of a transfer wallet has a callback");
	} else {
		if (!bet->event)
			add_bet_fault(faults, bet, "of a seamless wallet has no betting");
		if (refund != (bet->refund_event != 0))
			accuse_state(faults, bet,
				refund ? "without a betting-refund" : "and has a betting-refund");
	}
	if (bet->cancelled && !refund)
		accuse_state(faults, bet, "and cancelled");
	if (bet->event && bet->event == bet->refund_event)
		add_bet_fault(faults, bet, "has one event for its betting and its refund");
	if (bet->resolved_by[0] && bet->state != BET_REFUNDED)
		accuse_state(faults, bet, "and resolved by an operator");
}

static void check_outcome(const struct bet *bet, struct proof_faults *faults)
{
	bool right = bet->outcome == REFUSAL_NONE;

	if (bet->state == BET_REJECTED)
		right = bet->outcome == REFUSAL_BET_REJECTED ||
			bet->outcome == REFUSAL_DEALER_UNREACHABLE;
	if (!right)
		proof_fault(faults, "bet %s/%s/%" PRIu32 " is %s with the outcome %s",
			bet->player_id, bet->game_id, bet->number, bet_state_names[bet->state],
			refusal_ids[bet->outcome]);
	if ((bet->dealer_error_id[0] || bet->dealer_error_detail[0]) &&
		bet->outcome != REFUSAL_BET_REJECTED)
		add_bet_fault(faults, bet, "was not refused and holds the dealer's error");
}

void proof_bet_alone(const struct bet *bet, struct proof_faults *faults)
{
	check_bet_state(bet, faults);
	check_outcome(bet, faults);
	if (bet->bet_amount <= 0 || bet->bet_amount > MONEY_MAX)
		add_bet_fault(faults, bet, "has an amount out of range");
	if (!bet->transaction_id)
		add_bet_fault(faults, bet, "has no transaction id");
}

/* ---- with its callbacks */

static bool is_refund(enum callback_kind kind)
{
	return kind == CALLBACK_BETTING_REFUND;
}

/* Returns the expected betting or refund, derived from the bet only. */
static struct callback wanted_of(const struct bet *bet, enum callback_kind kind)
{
	static const struct {
		enum callback_state betting;
		enum callback_class class;
		enum callback_state refund; /* as far as it is known */
	} wanted[BET_STATE_COUNT] = {
		[BET_PENDING] = {CALLBACK_SENDING, CALLBACK_UNKNOWN, CALLBACK_DUE},
		[BET_ACCEPTED] = {CALLBACK_DELIVERED, CALLBACK_SUCCESS, CALLBACK_DUE},
		[BET_REJECTED] = {CALLBACK_FAILED, CALLBACK_REFUSED, CALLBACK_DUE},
		[BET_REFUNDING] = {CALLBACK_FAILED, CALLBACK_UNKNOWN, CALLBACK_DUE},
		[BET_REFUNDED] = {CALLBACK_FAILED, CALLBACK_UNKNOWN, CALLBACK_DELIVERED},
		[BET_SETTLED] = {CALLBACK_DELIVERED, CALLBACK_SUCCESS, CALLBACK_DUE},
	};
	struct callback callback;

	memset(&callback, 0, sizeof(callback));
	callback.event = is_refund(kind) ? bet->refund_event : bet->event;
	callback.kind = kind;
	memcpy(callback.casino_id, bet->casino_id, sizeof(callback.casino_id));
	memcpy(callback.player_id, bet->player_id, sizeof(callback.player_id));
	memcpy(callback.game_id, bet->game_id, sizeof(callback.game_id));
	callback.bet_number = bet->number;
	if (is_refund(kind)) {
		callback.state =
			bet->resolved_by[0] ? CALLBACK_CANCELLED : wanted[bet->state].refund;
		memcpy(callback.resolved_by, bet->resolved_by, sizeof(callback.resolved_by));
		return callback;
	}
	/* A cancelled bet was accepted before. */
	callback.state = wanted[bet->cancelled ? BET_ACCEPTED : bet->state].betting;
	callback.last_class = wanted[bet->cancelled ? BET_ACCEPTED : bet->state].class;
	if (bet->outcome == REFUSAL_DEALER_UNREACHABLE)
		callback.last_class = CALLBACK_NOT_SENT;
	return callback;
}

void proof_hash_callback(const struct proof *proof, const struct callback *callback,
	struct row_hash *row)
{
	row_hash_begin(row, proof->seed);
	row_hash_number(row, callback->event);
	row_hash_number(row, callback->kind);
	row_hash_text(row, callback->casino_id);
	row_hash_text(row, callback->player_id);
	row_hash_text(row, callback->game_id);
	row_hash_number(row, callback->bet_number);
	row_hash_number(row, callback->revision);
}

void proof_hash_end(const struct proof *proof, const struct callback *callback,
	struct row_hash *row)
{
	row_hash_begin(row, proof->seed);
	row_hash_number(row, callback->event);
	row_hash_number(row, callback->state);
	row_hash_number(row, is_refund(callback->kind) ? 0 : callback->last_class);
	row_hash_text(row, callback->resolved_by);
}

static bool same_owner(const struct callback *wanted, const struct callback *found)
{
	return found->kind == wanted->kind && found->bet_number == wanted->bet_number &&
		strcmp(found->player_id, wanted->player_id) == 0 &&
		strcmp(found->game_id, wanted->game_id) == 0;
}

const char *proof_bet_callback(const struct bet *bet, enum callback_kind kind,
	const struct callback *callback)
{
	struct callback wanted = wanted_of(bet, kind);
	bool refund = is_refund(kind);

	if (!callback)
		return refund ? "its betting-refund is missing" : "its betting is missing";
	if (!same_owner(&wanted, callback))
		return refund ? "the event of its betting-refund is another one's"
			      : "the event of its betting is another one's";
	if (strcmp(callback->casino_id, bet->casino_id) != 0)
		return refund ? "its betting-refund goes to another dealer"
			      : "its betting goes to another dealer";
	if (refund && callback_has_ended(callback->state) != callback_has_ended(wanted.state))
		return callback_has_ended(wanted.state) ? "its betting-refund has not ended"
							: "its betting-refund has ended";
	if (refund && callback_has_ended(wanted.state) &&
		(callback->state != wanted.state ||
			strcmp(callback->resolved_by, wanted.resolved_by) != 0))
		return "its betting-refund was resolved otherwise";
	if (refund)
		return NULL;
	if (callback->state != wanted.state)
		return wanted.state == CALLBACK_SENDING      ? "its betting is not being sent"
			: wanted.state == CALLBACK_DELIVERED ? "its betting was not delivered"
							     : "its betting has not failed";
	if (wanted.state != CALLBACK_SENDING && callback->last_class != wanted.last_class)
		return "its betting came to something else";
	return NULL;
}

bool proof_bet_is_quiet(const struct proof *proof, const struct bet *bet)
{
	/* The betting and the refund ended no later than the bet's last change. */
	return bet->state != BET_PENDING && bet->state != BET_REFUNDING &&
		!proof_is_since(proof, bet->changed_ms, proof->point.begin_ms);
}

void proof_bet_ended(struct proof *proof, const struct bet *bet, const struct callback *callback)
{
	struct callback wanted = wanted_of(bet, callback->kind);
	struct row_hash row;

	if (!callback_has_ended(callback->state) || callback->event > proof->point.event ||
		proof_is_since(proof, callback->ended_ms, proof->point.begin_ms))
		return;
	proof_hash_end(proof, &wanted, &row);
	fingerprint_add(&proof->wanted.ends, &row);
}

/* @dropped: retention deleted the body, so leave out proof->body. */
static void want_bet_callback(struct proof *proof, const struct callback *wanted,
	struct wager_sets *sets, bool ended, bool dropped)
{
	const struct bytes body = {proof->body.data, (uint32_t)proof->body.len};
	struct proof_body_extra extra;
	struct row_hash row;

	proof_hash_callback(proof, wanted, &row);
	if (!dropped)
		proof_body_hash(&row, wanted->kind, body, &extra);
	fingerprint_add(&sets->callbacks, &row);
	if (!ended)
		return;
	proof_hash_end(proof, wanted, &row);
	fingerprint_add(&sets->ends, &row);
}

/* Adds the rows by which a bet or result is found by its key and its number. */
static void want_bet_rows(struct proof *proof, const struct request *key,
	const struct transaction *transaction, struct wager_sets *sets)
{
	struct row_hash row;

	if (proof_key_counts(proof, key)) {
		proof_hash_key(proof, key, &row);
		fingerprint_add(&sets->requests, &row);
	}
	if (proof_transaction_counts(proof, transaction)) {
		proof_hash_transaction(proof, transaction, &row);
		fingerprint_add(&sets->transactions, &row);
	}
}

void proof_bet_links(struct proof *proof, const struct bet *bet, const char *user_id,
	struct wager_sets *sets)
{
	static const enum callback_kind kinds[] = {CALLBACK_BETTING, CALLBACK_BETTING_REFUND};
	struct request key = proof_bet_key(bet);
	struct transaction transaction = proof_bet_transaction(bet);
	struct callback callback;

	want_bet_rows(proof, &key, &transaction, sets);
	proof_want_bet_index(proof, bet, sets);
	for (int i = 0; i < 2; i++) {
		callback = wanted_of(bet, kinds[i]);
		if (callback.event && callback.event <= proof->point.event &&
			proof_bet_body(proof, bet, user_id, kinds[i]))
			want_bet_callback(proof, &callback, sets, proof_bet_is_quiet(proof, bet),
				i ? bet->refund_dropped : bet->dropped);
	}
}

void proof_round_links(struct proof *proof, const struct round *round, struct wager_sets *sets)
{
	struct request key = proof_round_key(round);
	struct transaction transaction = proof_round_transaction(round);
	struct callback callback;

	if (round->state != ROUND_SETTLED)
		return;
	want_bet_rows(proof, &key, &transaction, sets);
	memset(&callback, 0, sizeof(callback));
	callback.event = round->event;
	callback.kind = CALLBACK_BETTING_RESULT;
	memcpy(callback.casino_id, round->casino_id, sizeof(callback.casino_id));
	memcpy(callback.player_id, round->player_id, sizeof(callback.player_id));
	memcpy(callback.game_id, round->game_id, sizeof(callback.game_id));
	if (callback.event && callback.event <= proof->point.event &&
		proof_round_body(proof, round))
		want_bet_callback(proof, &callback, sets, false, round->dropped);
}

const char *proof_round_callback(const struct round *round, const struct callback *callback)
{
	if (!callback)
		return "its betting-result is missing";
	if (callback->kind != CALLBACK_BETTING_RESULT || callback->bet_number ||
		strcmp(callback->player_id, round->player_id) != 0 ||
		strcmp(callback->game_id, round->game_id) != 0)
		return "the event of its betting-result is another one's";
	if (strcmp(callback->casino_id, round->casino_id) != 0)
		return "its betting-result goes to another dealer";
	return NULL;
}

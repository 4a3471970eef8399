/*
 * check_again - rereads rows that looked wrong, including bets with their callbacks, and decides
 * when a fault is real.
 */
#include "check/check.h"

#include "admin/list.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRIES       8
#define BELIEVED    2 /* consecutive faulty readings of unchanged rows before a report */
#define PATIENCE_MS 5 /* before the second attempt; doubled before each further one */

enum outcome check_again(struct check *check, check_read *read, void *closure, bool *settled)
{
	int64_t patience_ms = PATIENCE_MS;
	struct proof_faults faults;
	int stood = 0;
	enum outcome code;
	bool stable;

	*settled = true;
	for (int try = 0; try < TRIES; try++, patience_ms *= 2) {
		if (try)
			clock_sleep_ms(patience_ms);
		memset(&faults, 0, sizeof(faults));
		code = read(check, closure, &faults, &stable);
		if (code != OUTCOME_DONE || !faults.count)
			return code;
		stood = stable ? stood + 1 : 0;
		if (stood == BELIEVED) {
			proof_accuse(&check->proof, &faults);
			return OUTCOME_DONE;
		}
	}
	check->unsettled = check->proof.incomplete = true;
	*settled = false;
	return OUTCOME_DONE;
}

/* ---- a bet or a round with its callbacks */

/* A callback with its body. The bytes belong to the list, which must be closed. */
struct fault_message {
	struct callback callback;
	bool found;
	struct callback_body body;
	bool has_body;
	struct list list;
};

static enum outcome read_message(struct check *check, uint64_t event, struct fault_message *message)
{
	enum outcome code;

	memset(message, 0, sizeof(*message));
	message->callback.event = message->body.event = event;
	code = list_fetch(check->session, RECORD_CALLBACK, &message->callback, &message->found,
		NULL);
	list_open(&message->list, check->session, RECORD_CALLBACK_BODY, false, 1, &message->body);
	if (code != OUTCOME_DONE)
		return code;
	message->has_body = list_next(&message->list, &message->body);
	return message->list.code;
}

/* Returns whether the body equals the one in proof->body. */
static bool same_body(struct check *check, const struct fault_message *message)
{
	const struct proof *proof = &check->proof;
	const struct bytes wanted = {proof->body.data, (uint32_t)proof->body.len};
	struct proof_body_extra extra;
	struct row_hash hashes[2];

	for (int i = 0; i < 2; i++) {
		row_hash_begin(&hashes[i], proof->seed);
		proof_body_hash(&hashes[i], message->callback.kind, i ? message->body.body : wanted,
			&extra);
	}
	return memcmp(&hashes[0], &hashes[1], sizeof(hashes[0])) == 0;
}

struct bet_closure {
	struct bet key;
	const char *user_id;
	bool ends;
};

static void compare_bet(struct check *check, const struct bet_closure *closure,
	const struct bet *bet, const struct fault_message *message, enum callback_kind kind,
	struct proof_faults *faults)
{
	static const char *const wrong_body[2][2] = {
		{"its betting-refund has no body", "its betting-refund still has a body"},
		{"its betting has no body", "its betting still has a body"},
	};
	struct proof *proof = &check->proof;
	bool betting = kind == CALLBACK_BETTING;
	bool dropped = betting ? bet->dropped : bet->refund_dropped;
	const char *fault;

	fault = proof_bet_callback(bet, kind, message->found ? &message->callback : NULL);
	/* Retention deletes a body and marks the bet in one commit. */
	if (!fault && message->has_body == dropped)
		fault = wrong_body[betting][dropped];
	else if (!fault && !dropped && proof_bet_body(proof, bet, closure->user_id, kind) &&
		!same_body(check, message))
		fault = betting ? "its betting has another body"
				: "its betting-refund has another body";
	if (fault)
		proof_fault(faults, "bet %s/%s/%" PRIu32 ": %s", bet->player_id, bet->game_id,
			bet->number, fault);
	else if (closure->ends)
		proof_bet_ended(proof, bet, &message->callback);
}

static enum outcome read_bet(struct check *check, void *arg, struct proof_faults *faults,
	bool *stable)
{
	static const enum callback_kind kinds[] = {CALLBACK_BETTING, CALLBACK_BETTING_REFUND};
	struct bet_closure *closure = arg;
	struct bet bet = closure->key, after = closure->key;
	uint64_t events[2];
	struct fault_message message;
	struct list list;
	enum outcome code;
	bool found;

	*stable = true;
	list_open(&list, check->session, RECORD_BET, false, record_infos[RECORD_BET].key_count,
		&closure->key);
	found = list_next(&list, &bet);
	code = list.code;
	events[0] = found ? bet.event : 0;
	events[1] = found ? bet.refund_event : 0;
	for (int i = 0; i < 2 && code == OUTCOME_DONE; i++) {
		if (!events[i])
			continue;
		code = read_message(check, events[i], &message);
		if (code == OUTCOME_DONE)
			compare_bet(check, closure, &bet, &message, kinds[i], faults);
		list_close(&message.list);
	}
	list_close(&list);
	if (code != OUTCOME_DONE || !faults->count)
		return code;
	code = list_fetch(check->session, RECORD_BET, &after, &found, NULL);
	*stable = found && after.state == bet.state && after.dropped == bet.dropped &&
		after.refund_dropped == bet.refund_dropped;
	return code;
}

enum outcome check_bet(struct check *check, const struct bet *key, const char *user_id, bool ends)
{
	struct bet_closure closure = {*key, user_id, ends};
	bool settled;

	return check_again(check, read_bet, &closure, &settled);
}

enum outcome check_result(struct check *check, const struct round *round)
{
	struct fault_message message;
	const char *fault;
	enum outcome code;

	/*
	 * A settled round never changes, nor does its event's owner or body; see
	 * retention_read().
	 */
	code = read_message(check, round->event, &message);
	if (code == OUTCOME_DONE) {
		fault = proof_round_callback(round, message.found ? &message.callback : NULL);
		if (!fault && message.has_body == round->dropped)
			fault = round->dropped ? "its betting-result still has a body"
					       : "its betting-result has no body";
		else if (!fault && !round->dropped && proof_round_body(&check->proof, round) &&
			!same_body(check, &message))
			fault = "its betting-result has another body";
		if (fault)
			proof_problem(&check->proof, "round %s/%s: %s", round->player_id,
				round->game_id, fault);
	}
	list_close(&message.list);
	return code;
}

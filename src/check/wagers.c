/*
 * check_wagers - finds rows of bets, rounds and callbacks that do not match. Runs only if the
 * sets of rows differ.
 */
#include "check/check.h"

#include "admin/list.h"
#include "admin/transactions.h"
#include "proof/event.h"
#include "proof/links.h"

#include <inttypes.h>
#include <string.h>

/* The sets that differ. */
struct wager_search {
	bool requests;
	bool transactions;
	bool bet_index;
	bool callbacks;          /* or their ends */
	struct player_name name; /* of the bets' player */
};

/* ---- from bets and rounds to the rows that they require */

static enum outcome search_bet_key(struct check *check, const struct bet *bet)
{
	struct request wanted = proof_bet_key(bet), row = wanted;
	const char *fault;
	enum outcome code;
	bool found;

	if (!proof_key_counts(&check->proof, &wanted))
		return OUTCOME_DONE;
	code = list_fetch(check->session, RECORD_REQUEST, &row, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	fault = proof_wager_key(&wanted, found ? &row : NULL);
	if (fault)
		proof_problem(&check->proof, "bet %s/%s/%" PRIu32 ": %s", bet->player_id,
			bet->game_id, bet->number, fault);
	return OUTCOME_DONE;
}

/* Checks a transaction. @what: "bet P/G/1" or "round P/G". */
static enum outcome search_transaction(struct check *check, const struct transaction *wanted,
	const char *what)
{
	struct transaction row;
	const char *fault;
	enum outcome code;
	bool found;

	if (!proof_transaction_counts(&check->proof, wanted))
		return OUTCOME_DONE;
	code = transaction_fetch(check->session, wanted->transaction_id, &row, &found);
	if (code != OUTCOME_DONE)
		return code;
	fault = proof_wager_transaction(wanted, found ? &row : NULL);
	if (fault)
		proof_problem(&check->proof, "%s: %s", what, fault);
	return OUTCOME_DONE;
}

static enum outcome search_bet(struct check *check, struct wager_search *search,
	const struct bet *bet)
{
	struct transaction transaction = proof_bet_transaction(bet);
	enum outcome code = OUTCOME_DONE;
	char what[PROOF_LINE_SIZE];
	bool found;

	snprintf(what, sizeof(what), "bet %s/%s/%" PRIu32, bet->player_id, bet->game_id,
		bet->number);
	if (search->requests)
		code = search_bet_key(check, bet);
	if (code == OUTCOME_DONE && search->transactions)
		code = search_transaction(check, &transaction, what);
	if (code == OUTCOME_DONE && search->bet_index)
		code = check_index_of_bet(check, bet);
	if (code != OUTCOME_DONE || !search->callbacks || !bet->event)
		return code;
	code = check_find_name(check, bet->player_id, &search->name, &found);
	/* A bet without a player was reported by the walk. */
	return code == OUTCOME_DONE && found ? check_bet(check, bet, search->name.user_id, false)
					     : code;
}

static enum outcome search_bets(struct check *check, struct wager_search *search)
{
	struct list list;
	struct bet row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_BET, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching bets", &row)) {
		code = search_bet(check, search, &row);
	}
	return list_end(&list, code);
}

static enum outcome search_round(struct check *check, struct wager_search *search,
	const struct round *round)
{
	struct transaction transaction = proof_round_transaction(round);
	enum outcome code = OUTCOME_DONE;
	char what[PROOF_LINE_SIZE];

	if (round->state != ROUND_SETTLED)
		return OUTCOME_DONE;
	snprintf(what, sizeof(what), "round %s/%s", round->player_id, round->game_id);
	if (search->transactions)
		code = search_transaction(check, &transaction, what);
	return code == OUTCOME_DONE && search->callbacks && round->event
		? check_result(check, round)
		: code;
}

/*
 * The round does not contain the id of its result's key. If exactly one key is missing or
 * superfluous, it is the difference between the sums.
 */
static void search_round_key(struct check *check, const struct round *round)
{
	struct proof *proof = &check->proof;
	struct request key = proof_round_key(round);
	struct row_hash row;

	if (round->state != ROUND_SETTLED || !proof_key_counts(proof, &key))
		return;
	proof_hash_key(proof, &key, &row);
	if (fingerprint_lacks(&proof->found.requests, &proof->wanted.requests, &row))
		proof_problem(proof, "round %s/%s: its result's request key is missing",
			round->player_id, round->game_id);
	else if (fingerprint_lacks(&proof->wanted.requests, &proof->found.requests, &row))
		proof_problem(proof, "round %s/%s: its result has two request keys",
			round->player_id, round->game_id);
}

static enum outcome search_rounds(struct check *check, struct wager_search *search)
{
	struct list list;
	struct round row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_ROUND, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching rounds", &row)) {
		code = search_round(check, search, &row);
		if (code == OUTCOME_DONE && search->requests)
			search_round_key(check, &row);
	}
	return list_end(&list, code);
}

/* ---- and from those rows back */

enum outcome check_find_bet(struct check *check, const char *player_id, const char *game_id,
	uint32_t number, struct bet *bet, bool *found)
{
	memset(bet, 0, sizeof(*bet));
	memcpy(bet->player_id, player_id, sizeof(bet->player_id));
	memcpy(bet->game_id, game_id, sizeof(bet->game_id));
	bet->number = number;
	return list_fetch(check->session, RECORD_BET, bet, found, NULL);
}

static enum outcome find_round_of_bet(struct check *check, const char *player_id,
	const char *game_id, struct round *round, bool *found)
{
	memset(round, 0, sizeof(*round));
	memcpy(round->player_id, player_id, sizeof(round->player_id));
	memcpy(round->game_id, game_id, sizeof(round->game_id));
	return list_fetch(check->session, RECORD_ROUND, round, found, NULL);
}

/* If the bet has this key as its own, the other direction compared them. */
static enum outcome request_of_bet(struct check *check, const struct request *row)
{
	struct bet bet;
	bool found;
	enum outcome code =
		check_find_bet(check, row->player_id, row->game_id, row->bet_number, &bet, &found);

	if (code != OUTCOME_DONE)
		return code;
	if (!found || strcmp(bet.client_id, row->owner) != 0 ||
		strcmp(bet.request_transaction_id, row->request_transaction_id) != 0)
		proof_problem(&check->proof,
			"request %s of %s points to bet %s/%s/%" PRIu32 ", which %s",
			row->request_transaction_id, row->owner, row->player_id, row->game_id,
			row->bet_number, found ? "was placed by another key" : "is not there");
	return OUTCOME_DONE;
}

static enum outcome request_of_round(struct check *check, const struct request *row)
{
	struct request wanted;
	struct round round;
	const char *fault;
	bool found;
	enum outcome code = find_round_of_bet(check, row->player_id, row->game_id, &round, &found);

	if (code != OUTCOME_DONE)
		return code;
	if (!found || round.state != ROUND_SETTLED) {
		proof_problem(&check->proof,
			"request %s of %s points to round %s/%s, which is "
			"not %s",
			row->request_transaction_id, row->owner, row->player_id, row->game_id,
			found ? "settled" : "there");
		return OUTCOME_DONE;
	}
	wanted = proof_round_key(&round);
	fault = proof_wager_key(&wanted, row);
	if (fault)
		proof_problem(&check->proof, "request %s of %s: of the result of round %s/%s %s",
			row->request_transaction_id, row->owner, row->player_id, row->game_id,
			fault);
	return OUTCOME_DONE;
}

static enum outcome search_keys(struct check *check)
{
	struct list list;
	struct request row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_REQUEST, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching request keys", &row)) {
		if (row.outcome != REFUSAL_NONE || !proof_key_counts(&check->proof, &row))
			continue;
		if (row.kind == ENTRY_BET)
			code = request_of_bet(check, &row);
		else if (row.kind == ENTRY_PAYOUT)
			code = request_of_round(check, &row);
		else if (proof_is_linked(row.kind))
			code = check_key_of_change(check, &row);
	}
	return list_end(&list, code);
}

static enum outcome search_owner(struct check *check, const struct transaction *row)
{
	struct round round;
	struct bet bet;
	enum outcome code;
	uint64_t named;
	bool found;

	if (row->bet_number) {
		code = check_find_bet(check, row->player_id, row->game_id, row->bet_number, &bet,
			&found);
		named = bet.transaction_id;
	} else {
		code = find_round_of_bet(check, row->player_id, row->game_id, &round, &found);
		named = round.transaction_id;
	}
	if (code == OUTCOME_DONE && (!found || named != row->transaction_id))
		proof_problem(&check->proof,
			"transaction %" PRIu64 " points to %s %s/%s/%" PRIu32 ", which is %s",
			row->transaction_id, row->bet_number ? "bet" : "round", row->player_id,
			row->game_id, row->bet_number,
			found ? "another transaction's" : "not there");
	return code;
}

static enum outcome search_transactions(struct check *check)
{
	struct list list;
	struct transaction row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_TRANSACTION, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching transactions", &row)) {
		if (!proof_is_linked(row.kind) || !proof_transaction_counts(&check->proof, &row))
			continue;
		code = proof_is_wager(row.kind) ? search_owner(check, &row)
						: check_owner_of_change(check, &row);
	}
	return list_end(&list, code);
}

/* Finds the event of that kind that the callback's bet or round names; 0: none. */
static enum outcome find_named(struct check *check, const struct callback *callback,
	uint64_t *named)
{
	struct round round;
	struct bet bet;
	enum outcome code;
	bool found;

	if (callback->revision) {
		struct correction row;

		memset(&row, 0, sizeof(row));
		memcpy(row.player_id, callback->player_id, sizeof(row.player_id));
		memcpy(row.game_id, callback->game_id, sizeof(row.game_id));
		row.revision = callback->revision;
		code = list_fetch(check->session, RECORD_CORRECTION, &row, &found, NULL);
		*named = found ? row.event : 0;
	} else if (callback->kind == CALLBACK_BETTING_RESULT) {
		code = find_round_of_bet(check, callback->player_id, callback->game_id, &round,
			&found);
		*named = found ? round.event : 0;
	} else {
		code = check_find_bet(check, callback->player_id, callback->game_id,
			callback->bet_number, &bet, &found);
		*named = !found                              ? 0
			: callback->kind == CALLBACK_BETTING ? bet.event
							     : bet.refund_event;
	}
	return code;
}

static enum outcome search_callbacks(struct check *check)
{
	struct list list;
	struct callback row;
	enum outcome code = OUTCOME_DONE;
	char id[CALLBACK_EVENT_ID_SIZE];
	uint64_t named = 0;

	list_open(&list, check->session, RECORD_CALLBACK, false, 0, NULL);
	while (code == OUTCOME_DONE && !check_knows_enough(check) && list_next(&list, &row)) {
		if (row.event > check->point.event)
			break;
		check_progress(check, "searching callbacks", row.event);
		code = find_named(check, &row, &named);
		callback_event_id(row.kind, row.event, id);
		if (code == OUTCOME_DONE && named != row.event)
			proof_problem(&check->proof,
				"callback %s is not named by its %s %s/%s/%" PRIu32, id,
				row.bet_number ? "bet" : "round", row.player_id, row.game_id,
				row.bet_number);
	}
	return list_end(&list, code);
}

/* Reports that two sets differ if no row was found that explains the difference. */
static void report_unexplained_difference(struct check *check, bool differ, const char *what)
{
	if (differ && check->proof.problems == 0)
		proof_loose(&check->proof, "bets, rounds and %s do not agree", what);
}

enum outcome check_find_wagers(struct check *check)
{
	const struct wager_sets *wanted = &check->proof.wanted, *found = &check->proof.found;
	bool callbacks = !fingerprint_equal(&wanted->callbacks, &found->callbacks);
	bool ends = !fingerprint_equal(&wanted->ends, &found->ends);
	struct wager_search search = {
		.requests = !fingerprint_equal(&wanted->requests, &found->requests),
		.transactions = !fingerprint_equal(&wanted->transactions, &found->transactions),
		.bet_index = !fingerprint_equal(&wanted->bet_index, &found->bet_index),
		.callbacks = callbacks || ends,
	};
	enum outcome code = OUTCOME_DONE;

	if (search.requests || search.transactions || search.bet_index || search.callbacks)
		code = search_bets(check, &search);
	if (code == OUTCOME_DONE && search.bet_index)
		code = check_search_bet_index(check);
	if (code == OUTCOME_DONE && (search.requests || search.transactions || search.callbacks))
		code = search_rounds(check, &search);
	if (code == OUTCOME_DONE && (search.requests || search.transactions))
		code = check_search_corrections(check);
	if (code == OUTCOME_DONE && search.requests)
		code = search_keys(check);
	if (code == OUTCOME_DONE && search.transactions)
		code = search_transactions(check);
	if (code == OUTCOME_DONE && search.callbacks)
		code = search_callbacks(check);
	report_unexplained_difference(check, search.requests, "request keys");
	report_unexplained_difference(check, search.transactions, "transaction rows");
	report_unexplained_difference(check, search.bet_index, "the rows by which bets are found");
	report_unexplained_difference(check, callbacks, "callbacks");
	report_unexplained_difference(check, ends, "the ends of callbacks");
	return code;
}

#include "proof/links.h"

#include "base/text.h"
#include "domain/bet_index.h"

#include <inttypes.h>
#include <string.h>

/* ---- movements */

void proof_entry_links(struct proof *proof, const struct transaction *entry)
{
	struct row_hash row;

	row_hash_begin(&row, proof->seed);
	row_hash_text(&row, entry->player_id);
	row_hash_number(&row, entry->entry_seq);
	row_hash_number(&row, entry->transaction_id);
	row_hash_number(&row, entry->scope);
	row_hash_text(&row, entry_owner(entry));
	row_hash_text(&row, entry->request_transaction_id);
	row_hash_number(&row, entry->kind);
	row_hash_number(&row, (uint64_t)proof_entry_asked(entry));
	row_hash_number(&row, (uint64_t)entry->current_balance);
	row_hash_number(&row, (uint64_t)entry->time_ms);
	fingerprint_add(&proof->entry_requests, &row);
}

const char *proof_entry_request(const struct transaction *entry, const struct request *request)
{
	if (!request)
		return "its request key is missing";
	if (strcmp(request->owner, entry_owner(entry)) != 0 || request->scope != entry->scope ||
		strcmp(request->request_transaction_id, entry->request_transaction_id) != 0)
		return "its request key is another one";
	if (strcmp(request->player_id, entry->player_id) != 0 ||
		request->entry_seq != entry->entry_seq)
		return "its request key points to another movement";
	if (request->transaction_id != entry->transaction_id)
		return "its request key holds another transaction id";
	if (request->kind != entry->kind || request->amount != proof_entry_asked(entry))
		return "its request key asked for something else";
	if (request->current_balance != entry->current_balance)
		return "its request key holds another balance";
	if (request->time_ms != entry->time_ms)
		return "its request key is of another time";
	return NULL;
}

/* ---- bets and rounds */

struct request proof_bet_key(const struct bet *bet)
{
	struct request key;

	memset(&key, 0, sizeof(key));
	key.scope = SCOPE_CLIENT;
	text_copy(key.owner, sizeof(key.owner), bet->client_id);
	text_copy(key.request_transaction_id, sizeof(key.request_transaction_id),
		bet->request_transaction_id);
	key.kind = ENTRY_BET;
	key.amount = bet->bet_amount;
	text_copy(key.player_id, sizeof(key.player_id), bet->player_id);
	key.entry_seq = bet->mode == WALLET_TRANSFER;
	key.transaction_id = bet->transaction_id;
	key.time_ms = bet->accepted_ms;
	text_copy(key.game_id, sizeof(key.game_id), bet->game_id);
	key.bet_number = bet->number;
	return key;
}

struct request proof_round_key(const struct round *round)
{
	struct request key;

	memset(&key, 0, sizeof(key));
	key.scope = SCOPE_CLIENT;
	text_copy(key.owner, sizeof(key.owner), round->client_id);
	key.kind = ENTRY_PAYOUT;
	key.amount = round->payout_amount;
	text_copy(key.player_id, sizeof(key.player_id), round->player_id);
	key.entry_seq = round->mode == WALLET_TRANSFER && round->payout_amount != 0;
	key.transaction_id = round->transaction_id;
	key.time_ms = round->settled_ms;
	text_copy(key.game_id, sizeof(key.game_id), round->game_id);
	return key;
}

struct transaction proof_key_transaction(const struct request *key, const char *casino_id)
{
	struct transaction transaction;

	memset(&transaction, 0, sizeof(transaction));
	transaction.transaction_id = key->transaction_id;
	text_copy(transaction.casino_id, sizeof(transaction.casino_id), casino_id);
	memcpy(transaction.player_id, key->player_id, sizeof(transaction.player_id));
	transaction.kind = key->kind;
	transaction.entry_seq = key->entry_seq;
	transaction.time_ms = key->time_ms;
	memcpy(transaction.game_id, key->game_id, sizeof(transaction.game_id));
	transaction.bet_number = key->bet_number;
	return transaction;
}

struct transaction proof_bet_transaction(const struct bet *bet)
{
	struct request key = proof_bet_key(bet);

	return proof_key_transaction(&key, bet->casino_id);
}

struct transaction proof_round_transaction(const struct round *round)
{
	struct request key = proof_round_key(round);

	return proof_key_transaction(&key, round->casino_id);
}

bool proof_key_counts(const struct proof *proof, const struct request *key)
{
	/* A loss has no transaction id, so only the clock can decide. */
	if (!key->transaction_id)
		return key->time_ms < proof->point.begin_ms;
	return key->transaction_id <= proof->point.as_of;
}

bool proof_transaction_counts(const struct proof *proof, const struct transaction *transaction)
{
	return transaction->transaction_id && transaction->transaction_id <= proof->point.as_of;
}

void proof_hash_key(const struct proof *proof, const struct request *key, struct row_hash *hash)
{
	row_hash_begin(hash, proof->seed);
	row_hash_text(hash, key->owner);
	row_hash_text(hash, key->bet_number ? key->request_transaction_id : "");
	row_hash_number(hash, key->kind);
	row_hash_number(hash, (uint64_t)key->amount);
	row_hash_text(hash, key->player_id);
	row_hash_number(hash, key->entry_seq != 0);
	row_hash_number(hash, key->transaction_id);
	row_hash_number(hash, (uint64_t)key->time_ms);
	row_hash_text(hash, key->game_id);
	row_hash_number(hash, key->bet_number);
}

void proof_hash_transaction(const struct proof *proof, const struct transaction *transaction,
	struct row_hash *hash)
{
	row_hash_begin(hash, proof->seed);
	row_hash_number(hash, transaction->transaction_id);
	row_hash_text(hash, transaction->casino_id);
	row_hash_text(hash, transaction->player_id);
	row_hash_number(hash, transaction->kind);
	row_hash_number(hash, transaction->entry_seq != 0);
	row_hash_number(hash, (uint64_t)transaction->time_ms);
	row_hash_text(hash, transaction->game_id);
	row_hash_number(hash, transaction->bet_number);
}

void proof_want_movement(struct proof *proof, const struct request *key,
	const struct transaction *transaction)
{
	struct row_hash hash;

	if (!proof_key_counts(proof, key))
		return;
	proof_hash_key(proof, key, &hash);
	fingerprint_add(&proof->wanted.requests, &hash);
	proof_hash_transaction(proof, transaction, &hash);
	fingerprint_add(&proof->wanted.transactions, &hash);
}

/* ---- rows by which bets are found */

bool proof_bet_counts(const struct proof *proof, uint64_t transaction_id)
{
	return transaction_id <= proof->point.as_of;
}

static void add_game_player(const struct proof *proof, const struct game_player *row,
	struct wager_sets *sets)
{
	struct row_hash hash;

	if (!proof_bet_counts(proof, row->transaction_id))
		return;
	row_hash_begin(&hash, proof->seed);
	row_hash_number(&hash, RECORD_GAME_PLAYER);
	row_hash_text(&hash, row->game_id);
	row_hash_text(&hash, row->player_id);
	row_hash_number(&hash, row->transaction_id);
	fingerprint_add(&sets->bet_index, &hash);
}

static void add_player_bet(const struct proof *proof, const struct player_bet *row,
	struct wager_sets *sets)
{
	struct row_hash hash;

	if (!proof_bet_counts(proof, row->transaction_id))
		return;
	row_hash_begin(&hash, proof->seed);
	row_hash_number(&hash, RECORD_PLAYER_BET);
	row_hash_text(&hash, row->player_id);
	row_hash_number(&hash, row->transaction_id);
	row_hash_text(&hash, row->game_id);
	row_hash_number(&hash, row->bet_number);
	fingerprint_add(&sets->bet_index, &hash);
}

/* Checks that the id was given out: a row with a later one would stand in the way of a bet. */
static void check_given(struct proof *proof, uint64_t transaction_id, uint64_t page_as_of,
	const char *what)
{
	if (!transaction_id || transaction_id > page_as_of)
		proof_problem(proof, "%s has transaction %" PRIu64 ", which was never given out",
			what, transaction_id);
}

void proof_game_player(struct proof *proof, const struct game_player *row, uint64_t page_as_of)
{
	check_given(proof, row->transaction_id, page_as_of, "a row of a game");
	add_game_player(proof, row, &proof->found);
}

void proof_player_bet(struct proof *proof, const struct player_bet *row, uint64_t page_as_of)
{
	check_given(proof, row->transaction_id, page_as_of, "a row of a player's bets");
	add_player_bet(proof, row, &proof->found);
}

void proof_want_bet_index(const struct proof *proof, const struct bet *bet, struct wager_sets *sets)
{
	const struct bet_index index = bet_index_of(bet);

	add_player_bet(proof, &index.by_time, sets);
	if (index.is_first)
		add_game_player(proof, &index.by_game, sets);
}

/* ---- rows compared one by one */

const char *proof_wager_key(const struct request *wanted, const struct request *found)
{
	if (!found)
		return "its request key is missing";
	if (strcmp(found->player_id, wanted->player_id) != 0 ||
		strcmp(found->game_id, wanted->game_id) != 0 ||
		found->bet_number != wanted->bet_number)
		return "its request key points to another bet";
	if (strcmp(found->owner, wanted->owner) != 0)
		return "its request key is another client's";
	if (found->transaction_id != wanted->transaction_id)
		return "its request key holds another transaction id";
	if (found->outcome != REFUSAL_NONE || found->kind != wanted->kind ||
		found->amount != wanted->amount)
		return "its request key asked for something else";
	if ((found->entry_seq != 0) != (wanted->entry_seq != 0))
		return wanted->entry_seq ? "its request key moved nothing"
					 : "its request key moved credit here";
	return found->time_ms == wanted->time_ms ? NULL : "its request key is of another time";
}

const char *proof_wager_transaction(const struct transaction *wanted,
	const struct transaction *found)
{
	if (!found)
		return "its transaction row is missing";
	if (strcmp(found->player_id, wanted->player_id) != 0 ||
		strcmp(found->game_id, wanted->game_id) != 0 ||
		found->bet_number != wanted->bet_number || found->kind != wanted->kind)
		return "its transaction row points to another bet";
	if (strcmp(found->casino_id, wanted->casino_id) != 0)
		return "its transaction row names another dealer";
	if ((found->entry_seq != 0) != (wanted->entry_seq != 0))
		return wanted->entry_seq ? "its transaction row names no movement"
					 : "its transaction row names a movement";
	return found->time_ms == wanted->time_ms ? NULL : "its transaction row is of another time";
}

/* ---- the rows */

/* Returns true if outcome, entry_seq and transaction id are consistent. */
static bool outcome_agrees(const struct request *request)
{
	bool entry = request->entry_seq != 0, transaction = request->transaction_id != 0;

	if (request->outcome != REFUSAL_NONE)
		return !entry && !transaction && !request->bet_number;
	if (request->kind == ENTRY_BET)
		return transaction;
	if (request_is_batch(request))
		return !entry && !transaction;
	/* The cancellation of a bet that was refunded before, or of an unused key, moves nothing. */
	if (request->kind == ENTRY_BET_CANCEL)
		return entry == transaction;
	if (request->kind == ENTRY_CORRECTION)
		return transaction;
	/* A result without a payout moves no credit; a loss has no transaction id either. */
	if (request->kind == ENTRY_PAYOUT)
		return entry ? transaction && request->amount > 0
			     : transaction || request->amount == 0;
	return entry && transaction;
}

static bool game_agrees(const struct request *request)
{
	if ((request->game_id[0] != '\0') != proof_names_game(request->kind))
		return false;
	if (request->kind == ENTRY_BET_CANCEL)
		return request->outcome == REFUSAL_NONE || !request->bet_number;
	return request->outcome != REFUSAL_NONE ||
		(request->bet_number != 0) == proof_names_number(request->kind);
}

/*
 * A sealed key is of a dealer and names no player and no transfer, and so does a batch, whose items
 * have keys of their own. Every other key names its player.
 */
static void check_seal(struct proof *proof, const struct request *request)
{
	const bool sealed = request_is_sealed(request) || request_is_batch(request);
	const char *what = request_is_batch(request) ? "is a batch" : "is sealed";

	if (sealed != (request->player_id[0] == '\0'))
		proof_problem(proof, "request %s of %s %s%s", request->request_transaction_id,
			request->owner, sealed ? what : "",
			sealed ? " and names a player" : "names no player");
	if (sealed && (request->amount || request->current_balance || request->addition))
		proof_problem(proof, "request %s of %s %s and holds a transfer",
			request->request_transaction_id, request->owner, what);
}

/* A transfer of the whole balance leaves nothing; it is refused if there was nothing. */
static void check_all(struct proof *proof, const struct request *request)
{
	const char *wrong = NULL;

	if (!request->all)
		return;
	if (request->kind != ENTRY_TRANSFER_OUT)
		wrong = "is no transfer out";
	else if (request->current_balance)
		wrong = "left credit";
	else if ((request->amount != 0) != (request->outcome == REFUSAL_NONE))
		wrong = "has an amount that does not fit its outcome";
	if (wrong)
		proof_problem(proof, "request %s of %s asked for the whole balance and %s",
			request->request_transaction_id, request->owner, wrong);
}

/* Returns true if the outcome is one that a key can be recorded with. */
static bool outcome_is_recorded(const struct request *request)
{
	switch (request->outcome) {
	case REFUSAL_NONE:
		return request->kind != ENTRY_SEAL;
	case REFUSAL_BET_CANCELLED:
		return request->kind == ENTRY_BET_CANCEL;
	case REFUSAL_TRANSACTION_SEALED:
		return request->kind == ENTRY_SEAL;
	default:
		return request->outcome == REFUSAL_INSUFFICIENT_BALANCE &&
			request->kind != ENTRY_SEAL && request->kind != ENTRY_BET_CANCEL &&
			request->kind != ENTRY_CORRECTION && !request_is_batch(request);
	}
}

static void check_request(struct proof *proof, const struct request *request)
{
	const char *id = request->request_transaction_id;

	if (!outcome_is_recorded(request))
		proof_problem(proof, "request %s of %s was recorded with the outcome %s", id,
			request->owner, refusal_ids[request->outcome]);
	if (!outcome_agrees(request))
		proof_problem(proof, "request %s of %s: outcome and movement do not agree", id,
			request->owner);
	if (!game_agrees(request))
		proof_problem(proof,
			"request %s of %s: a %s does not name bet number %" PRIu32 " of game '%s'",
			id, request->owner, entry_kind_names[request->kind], request->bet_number,
			request->game_id);
	if (!proof_scope_fits(request->kind, request->scope))
		proof_problem(proof, "request %s of %s is a %s with the key of another scope", id,
			request->owner, entry_kind_names[request->kind]);
	check_seal(proof, request);
	check_all(proof, request);
}

void proof_request(struct proof *proof, const struct request *request)
{
	struct row_hash row;

	check_request(proof, request);
	if (request->transaction_id > proof->point.as_of)
		return;
	proof->requests++;
	/* A cancellation that moved nothing here is looked up by itself: proof_cancel_key(). */
	if (proof_is_linked(request->kind) && request->outcome == REFUSAL_NONE &&
		(request->transaction_id || request->kind != ENTRY_BET_CANCEL) &&
		proof_key_counts(proof, request)) {
		proof_hash_key(proof, request, &row);
		fingerprint_add(&proof->found.requests, &row);
	}
	if (!request->entry_seq)
		return;
	row_hash_begin(&row, proof->seed);
	row_hash_text(&row, request->player_id);
	row_hash_number(&row, request->entry_seq);
	row_hash_number(&row, request->transaction_id);
	row_hash_number(&row, request->scope);
	row_hash_text(&row, request->owner);
	row_hash_text(&row, request->request_transaction_id);
	row_hash_number(&row, request->kind);
	row_hash_number(&row, (uint64_t)request->amount);
	row_hash_number(&row, (uint64_t)request->current_balance);
	row_hash_number(&row, (uint64_t)request->time_ms);
	fingerprint_add(&proof->request_rows, &row);
}

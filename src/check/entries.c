/*
 * check_entries - walks every player's name and row, request key and transaction, for `check`.
 *
 * Transactions up to the point never change, so they may be read at any time. Player rows keep
 * changing. The walk therefore goes back from the last transaction of a player row to the last
 * one up to the point.
 */
#include "check/check.h"

#include "admin/list.h"
#include "admin/transactions.h"
#include "proof/chain.h"
#include "proof/links.h"

#include <string.h>

/* Goes back over the transactions that the player made since the point. */
static enum outcome find_last(struct check *check, struct proof_link *last)
{
	struct transaction entry;
	enum outcome code = OUTCOME_DONE;
	bool found;

	while (code == OUTCOME_DONE && proof_link_is_late(&check->proof, last)) {
		code = transaction_fetch(check->session, last->transaction_id, &entry, &found);
		if (code == OUTCOME_DONE &&
			!proof_link_back(&check->proof, last, found ? &entry : NULL))
			return OUTCOME_DONE;
	}
	if (code == OUTCOME_DONE)
		proof_last(&check->proof, last);
	return code;
}

static enum outcome check_name(struct check *check, const struct player_name *name)
{
	struct player player;
	struct proof_link last;
	bool found;
	enum outcome code = check_find_player(check, name, &player, &found);

	if (code != OUTCOME_DONE)
		return code;
	proof_name(&check->proof, name, found ? &player : NULL,
		found && player.created_ms < check->point.begin_ms);
	if (!found)
		return OUTCOME_DONE;
	last = proof_link_last(&player);
	return find_last(check, &last);
}

enum outcome check_walk_names(struct check *check)
{
	struct list list;
	struct player_name name;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_PLAYER_NAME, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &name)) {
		code = check_name(check, &name);
		check_progress(check, "players' movements", list.taken);
	}
	return list_end(&list, code);
}

enum outcome check_walk_requests(struct check *check)
{
	enum outcome code = OUTCOME_DONE;
	struct list list;
	struct request row;

	list_open(&list, check->session, RECORD_REQUEST, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		proof_request(&check->proof, &row);
		code = check_cancel_key(check, &row);
		if (code == OUTCOME_DONE)
			code = check_batch_item(check, &row);
		check_progress(check, "request keys", check->proof.requests);
	}
	return list_end(&list, code);
}

static uint64_t last_counted(const struct check *check)
{
	uint64_t last = check->proof.point.as_of;

	for (size_t i = 0; i < check->proof.dealer_count; i++) {
		if (check->proof.dealers[i].moment.as_of > last)
			last = check->proof.dealers[i].moment.as_of;
	}
	return last;
}

/* Checks the last row: no row may have an id above the counter. */
static enum outcome check_last_entry(struct check *check)
{
	struct list list;
	struct transaction row;

	list_open(&list, check->session, RECORD_TRANSACTION, true, 0, NULL);
	list.page = 1;
	if (list_next(&list, &row) && row.transaction_id > list.as_of)
		proof_transaction(&check->proof, &row, list.as_of);
	return list_end(&list, OUTCOME_DONE);
}

/*
 * Walks up to the last transaction that any of the sums counts; later ones are still being added.
 */
enum outcome check_walk_transactions(struct check *check)
{
	const uint64_t last = last_counted(check);
	struct list list;
	struct transaction row;
	enum outcome code;

	list_open(&list, check->session, RECORD_TRANSACTION, false, 0, NULL);
	while (list_next(&list, &row) && row.transaction_id <= last) {
		proof_transaction(&check->proof, &row, list.as_of);
		if (row.transaction_id <= check->point.as_of)
			check->last_transaction_id = row.transaction_id;
		check_progress(check, "transactions", check->proof.transactions);
	}
	code = list_end(&list, OUTCOME_DONE);
	return code == OUTCOME_DONE ? check_last_entry(check) : code;
}

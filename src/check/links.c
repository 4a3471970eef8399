/*
 * check_links - finds rows that do not match each other. Runs only if the sets of rows differ.
 */
#include "base/text.h"
#include "check/check.h"

#include "admin/list.h"
#include "admin/transactions.h"
#include "proof/chain.h"
#include "proof/links.h"

#include <inttypes.h>
#include <string.h>

enum outcome check_find_name(struct check *check, const char *player_id, struct player_name *name,
	bool *found)
{
	enum outcome code;

	*found = true;
	if (strcmp(name->player_id, player_id) == 0)
		return OUTCOME_DONE;
	memset(name, 0, sizeof(*name));
	memcpy(name->player_id, player_id, sizeof(name->player_id));
	code = list_fetch(check->session, RECORD_PLAYER_NAME, name, found, NULL);
	if (code == OUTCOME_DONE && !*found)
		name->player_id[0] = '\0';
	return code;
}

enum outcome check_find_player(struct check *check, const struct player_name *name,
	struct player *player, bool *found)
{
	memset(player, 0, sizeof(*player));
	memcpy(player->casino_id, name->casino_id, sizeof(player->casino_id));
	memcpy(player->user_id, name->user_id, sizeof(player->user_id));
	return list_fetch(check->session, RECORD_PLAYER, player, found, NULL);
}

/* Checks the link from a transaction to its idempotency key. */
static enum outcome check_transaction_links(struct check *check, const struct transaction *entry)
{
	struct request request = {.scope = entry->scope};
	const char *fault;
	enum outcome code;
	bool found;

	text_copy(request.owner, sizeof(request.owner), entry_owner(entry));
	text_copy(request.request_transaction_id, sizeof(request.request_transaction_id),
		entry->request_transaction_id);
	code = list_fetch(check->session, RECORD_REQUEST, &request, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	fault = proof_entry_request(entry, found ? &request : NULL);
	if (fault)
		proof_problem(&check->proof, "movement %s/%" PRIu64 ": %s", entry->player_id,
			entry->entry_seq, fault);
	return OUTCOME_DONE;
}

/* Checks the link from an idempotency key to its transaction. */
static enum outcome check_request_links(struct check *check, const struct request *row)
{
	struct transaction entry;
	const char *fault = NULL;
	bool found;
	enum outcome code = transaction_fetch(check->session, row->transaction_id, &entry, &found);

	if (!found || strcmp(entry.player_id, row->player_id) != 0 ||
		entry.entry_seq != row->entry_seq)
		fault = "is not there";
	/* If the transaction has this key as its own, the other direction compared them. */
	else if (entry.scope != row->scope || strcmp(entry_owner(&entry), row->owner) != 0 ||
		strcmp(entry.request_transaction_id, row->request_transaction_id) != 0)
		fault = "was made by another key";
	if (code == OUTCOME_DONE && fault)
		proof_problem(&check->proof,
			"request %s of %s points to movement %s/%" PRIu64 ", which %s",
			row->request_transaction_id, row->owner, row->player_id, row->entry_seq,
			fault);
	return code;
}

static enum outcome search_requests(struct check *check)
{
	struct list list;
	struct request row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_REQUEST, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching request keys", &row)) {
		if (row.entry_seq && row.transaction_id <= check->proof.point.as_of)
			code = check_request_links(check, &row);
	}
	return list_end(&list, code);
}

static enum outcome search_players(struct check *check)
{
	struct list list;
	struct player row;
	struct player_name name = {.player_id = ""};
	enum outcome code = OUTCOME_DONE;
	bool found;

	list_open(&list, check->session, RECORD_PLAYER, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching players", &row)) {
		code = check_find_name(check, row.player_id, &name, &found);
		if (code == OUTCOME_DONE &&
			(!found || strcmp(name.casino_id, row.casino_id) != 0 ||
				strcmp(name.user_id, row.user_id) != 0))
			proof_problem(&check->proof,
				"player %s (user %s of %s) is not found by its "
				"name",
				row.player_id, row.user_id, row.casino_id);
	}
	return list_end(&list, code);
}

enum outcome check_find_links(struct check *check)
{
	const struct proof *proof = &check->proof;
	bool requests = fingerprint_equal(&proof->entry_requests, &proof->request_rows);
	bool players = fingerprint_equal(&proof->player_rows, &proof->name_rows);
	bool chains = proof_chains_equal(proof);
	enum outcome code = OUTCOME_DONE;

	/*
	 * If the clock was set back during the check, the players may differ without a wrong row.
	 */
	if (!players)
		code = search_players(check);
	if (code == OUTCOME_DONE && !chains)
		code = check_find_chains(check);
	if (code == OUTCOME_DONE && !requests)
		code = check_search_entries(check, check_transaction_links);
	if (code == OUTCOME_DONE && !requests)
		code = search_requests(check);
	/* No row explains the difference, so report the difference itself. */
	if (!requests && proof->problems == 0)
		proof_problem(&check->proof, "movements and request keys do not agree");
	return code;
}

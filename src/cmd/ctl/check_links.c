/*
 * check_links - which rows do not fit? Only walked when the sets of rows differ.
 */
#include "base/text.h"
#include "cmd/ctl/check.h"

#include "cmd/ctl/list.h"
#include "cmd/ctl/proof_links.h"

#include <inttypes.h>
#include <string.h>

enum ctl_exit check_find_name(struct check *check, const char *player_id, struct player_name *name,
	bool *found)
{
	enum ctl_exit code;

	*found = true;
	if (strcmp(name->player_id, player_id) == 0)
		return CTL_DONE;
	memset(name, 0, sizeof(*name));
	memcpy(name->player_id, player_id, sizeof(name->player_id));
	code = list_fetch(check->ctl, RECORD_PLAYER_NAME, name, found, NULL);
	if (code == CTL_DONE && !*found)
		name->player_id[0] = '\0';
	return code;
}

static enum ctl_exit check_entry(struct check *check, const struct entry *entry,
	const char *casino_id)
{
	struct request request = {.scope = entry->scope};
	struct transaction transaction = {.transaction_id = entry->transaction_id};
	const char *fault;
	enum ctl_exit code;
	bool found;

	text_copy(request.owner, sizeof(request.owner), entry_owner(entry, casino_id));
	memcpy(request.request_transaction_id, entry->request_transaction_id,
		sizeof(request.request_transaction_id));
	code = list_fetch(check->ctl, RECORD_REQUEST, &request, &found, NULL);
	if (code != CTL_DONE)
		return code;
	fault = proof_entry_request(entry, casino_id, found ? &request : NULL);
	if (fault)
		proof_problem(&check->proof, "movement %s/%" PRIu64 ": %s", entry->player_id,
			entry->seq, fault);
	code = list_fetch(check->ctl, RECORD_TRANSACTION, &transaction, &found, NULL);
	if (code != CTL_DONE)
		return code;
	fault = proof_entry_transaction(entry, casino_id, found ? &transaction : NULL);
	if (fault)
		proof_problem(&check->proof, "movement %s/%" PRIu64 ": %s", entry->player_id,
			entry->seq, fault);
	return CTL_DONE;
}

/* From each movement to its request key and its transaction row. */
static enum ctl_exit search_entries(struct check *check)
{
	struct list list;
	struct entry row;
	struct player_name name = {.player_id = ""};
	enum ctl_exit code = CTL_DONE;
	bool found;

	list_open(&list, check->ctl, RECORD_ENTRY, false, 0, NULL);
	while (code == CTL_DONE && check_search(check, &list, "searching movements", &row) &&
		row.transaction_id <= check->proof.point.as_of) {
		code = check_find_name(check, row.player_id, &name, &found);
		/* One without a player is reported by check_find_chains(). */
		if (code == CTL_DONE && found)
			code = check_entry(check, &row, name.casino_id);
	}
	return list_end(&list, code);
}

static enum ctl_exit check_request(struct check *check, const struct request *row)
{
	struct player_name name = {.player_id = ""};
	struct entry entry;
	enum ctl_exit code;
	bool found;

	code = check_find_entry(check, row->transaction_id, &entry, &found);
	found = found && strcmp(entry.player_id, row->player_id) == 0 &&
		entry.seq == row->entry_seq;
	if (code == CTL_DONE && !found) {
		proof_problem(&check->proof, "request %s of %s points to movement %s/%" PRIu64
			", which is not there", row->request_transaction_id, row->owner,
			row->player_id, row->entry_seq);
		return CTL_DONE;
	}
	if (code == CTL_DONE)
		code = check_find_name(check, row->player_id, &name, &found);
	if (code != CTL_DONE)
		return code;
	/* A movement whose own key this is was compared with it from the other side. */
	if (!found || entry.scope != row->scope ||
		strcmp(entry_owner(&entry, name.casino_id), row->owner) != 0 ||
		strcmp(entry.request_transaction_id, row->request_transaction_id) != 0)
		proof_problem(&check->proof, "request %s of %s points to movement %s/%" PRIu64
			", which was made by another key", row->request_transaction_id,
			row->owner, row->player_id, row->entry_seq);
	return CTL_DONE;
}

static enum ctl_exit search_requests(struct check *check)
{
	struct list list;
	struct request row;
	enum ctl_exit code = CTL_DONE;

	list_open(&list, check->ctl, RECORD_REQUEST, false, 0, NULL);
	while (code == CTL_DONE && check_search(check, &list, "searching request keys", &row)) {
		if (row.entry_seq && row.transaction_id <= check->proof.point.as_of)
			code = check_request(check, &row);
	}
	return list_end(&list, code);
}

static enum ctl_exit search_transactions(struct check *check)
{
	struct list list;
	struct transaction row;
	struct entry entry;
	enum ctl_exit code = CTL_DONE;
	bool found;

	list_open(&list, check->ctl, RECORD_TRANSACTION, false, 0, NULL);
	while (code == CTL_DONE && check_search(check, &list, "searching transactions", &row) &&
		row.transaction_id <= check->proof.point.as_of) {
		/* A bet or a result that moved nothing here: check_wagers.c. */
		if (!row.entry_seq)
			continue;
		code = check_find_entry(check, row.transaction_id, &entry, &found);
		if (code == CTL_DONE && (!found || entry.seq != row.entry_seq ||
						strcmp(entry.player_id, row.player_id) != 0))
			proof_problem(&check->proof, "transaction %" PRIu64
				" points to movement %s/%" PRIu64 ", which is %s",
				row.transaction_id, row.player_id, row.entry_seq,
				found ? "another transaction's" : "not there");
	}
	return list_end(&list, code);
}

static enum ctl_exit search_players(struct check *check)
{
	struct list list;
	struct player row;
	struct player_name name = {.player_id = ""};
	enum ctl_exit code = CTL_DONE;
	bool found;

	list_open(&list, check->ctl, RECORD_PLAYER, false, 0, NULL);
	while (code == CTL_DONE && check_search(check, &list, "searching players", &row)) {
		code = check_find_name(check, row.player_id, &name, &found);
		if (code == CTL_DONE && (!found || strcmp(name.casino_id, row.casino_id) != 0 ||
						strcmp(name.user_id, row.user_id) != 0))
			proof_problem(&check->proof, "player %s (user %s of %s) is not found by its "
						     "name", row.player_id, row.user_id,
				row.casino_id);
	}
	return list_end(&list, code);
}

/* Reports that two sets differ when no row was found that tells why: it cannot be passed over. */
static void insist(struct check *check, bool equal, const char *what)
{
	if (!equal && check->proof.problems == 0)
		proof_problem(&check->proof, "movements and %s do not agree", what);
}

enum ctl_exit check_find_links(struct check *check)
{
	const struct proof *proof = &check->proof;
	bool requests = fingerprint_equal(&proof->entry_requests, &proof->request_rows);
	bool transactions = fingerprint_equal(&proof->entry_transactions, &proof->transaction_rows);
	bool players = fingerprint_equal(&proof->player_rows, &proof->name_rows);
	bool chains = proof_chains_equal(proof);
	enum ctl_exit code = CTL_DONE;

	/* A clock set back during the check makes the players differ and no row be found: no harm. */
	if (!players)
		code = search_players(check);
	if (code == CTL_DONE && !chains)
		code = check_find_chains(check);
	if (code == CTL_DONE && (!requests || !transactions))
		code = search_entries(check);
	if (code == CTL_DONE && !requests)
		code = search_requests(check);
	if (code == CTL_DONE && !transactions)
		code = search_transactions(check);
	insist(check, requests, "request keys");
	insist(check, transactions, "transaction rows");
	return code;
}

/*
 * check_chains - finds transactions that do not follow each other. Runs only if the sets differ.
 */
#include "check/check.h"

#include "admin/list.h"
#include "admin/transactions.h"
#include "proof/chain.h"

#include <inttypes.h>

/*
 * Follows a link of the player row or of the next transaction (@who) to the transaction it names.
 */
static enum outcome follow_link(struct check *check, const struct proof_link *link, const char *who)
{
	struct transaction entry;
	const char *fault;
	bool found;
	enum outcome code = transaction_fetch(check->session, link->transaction_id, &entry, &found);

	fault = code == OUTCOME_DONE ? proof_link_entry(link, found ? &entry : NULL) : NULL;
	if (fault)
		proof_problem(&check->proof,
			"%s movement %s/%" PRIu64 " as transaction %" PRIu64 ", which %s", who,
			link->player_id, link->seq, link->transaction_id, fault);
	return code;
}

static enum outcome search_last(struct check *check)
{
	struct list list;
	struct player row;
	struct proof_link link;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_PLAYER, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching players", &row)) {
		if (!row.entry_seq)
			continue;
		link = proof_link_last(&row);
		code = follow_link(check, &link, "the player row names");
	}
	return list_end(&list, code);
}

static enum outcome check_before(struct check *check, const struct transaction *entry)
{
	const struct proof_link before = proof_link_before(entry);

	if (entry->entry_seq <= 1 || !entry->previous)
		return OUTCOME_DONE;
	return follow_link(check, &before, "the next one names");
}

/* Checks that the player row counts the transaction and that another row links to it. */
static enum outcome check_told(struct check *check, const struct transaction *entry)
{
	struct player_name name = {.player_id = ""};
	struct player player;
	bool found;
	enum outcome code = check_find_name(check, entry->player_id, &name, &found);

	if (code != OUTCOME_DONE)
		return code;
	if (!found) {
		proof_problem(&check->proof, "movement %s/%" PRIu64 " belongs to no player",
			entry->player_id, entry->entry_seq);
		return OUTCOME_DONE;
	}
	/*
	 * The player row is read after the transaction was made, so it must count the
	 * transaction.
	 */
	code = check_find_player(check, &name, &player, &found);
	if (code != OUTCOME_DONE)
		return code;
	if (!found || entry->entry_seq > player.entry_seq)
		proof_problem(&check->proof,
			"movement %s/%" PRIu64 " (transaction %" PRIu64
			") is not counted by the player, which has %" PRIu64,
			entry->player_id, entry->entry_seq, entry->transaction_id,
			found ? player.entry_seq : 0);
	else if (proof_is_untold(&check->proof, entry))
		proof_problem(&check->proof,
			"movement %s/%" PRIu64 ": neither the next one "
			"nor the player names it as transaction %" PRIu64 " of %s",
			entry->player_id, entry->entry_seq, entry->transaction_id,
			entry->casino_id);
	return OUTCOME_DONE;
}

enum outcome check_search_entries(struct check *check,
	enum outcome (*look)(struct check *check, const struct transaction *entry))
{
	struct list list;
	struct transaction row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_TRANSACTION, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching movements", &row) &&
		row.transaction_id <= check->proof.point.as_of) {
		if (row.entry_seq)
			code = look(check, &row);
	}
	return list_end(&list, code);
}

enum outcome check_find_chains(struct check *check)
{
	const uint64_t problems = check->proof.problems;
	enum outcome code = search_last(check);

	if (code == OUTCOME_DONE)
		code = check_search_entries(check, check_before);
	/* A transaction with a wrong link to it counts as not linked. */
	if (code == OUTCOME_DONE && check->proof.problems == problems)
		code = check_search_entries(check, check_told);
	if (code == OUTCOME_DONE && check->proof.problems == problems)
		proof_problem(&check->proof,
			"movements do not follow each other from the "
			"first to the last one that the players name");
	return code;
}

/*
 * check_corrections - walks the corrections of settled rounds for `check`, each chain with its round.
 *
 * A round may be corrected between two reads, so a chain with a fault is read again with its round
 * before the fault is reported.
 */
#include "check/check.h"

#include "admin/transactions.h"
#include "proof/correction.h"
#include "proof/event.h"

#include <inttypes.h>
#include <string.h>

static struct round round_of(const struct correction *row)
{
	struct round key;

	memset(&key, 0, sizeof(key));
	memcpy(key.player_id, row->player_id, sizeof(key.player_id));
	memcpy(key.game_id, row->game_id, sizeof(key.game_id));
	return key;
}

/* Reads the chain of the round @closure, and the round before and after. */
static enum outcome read_chain(struct check *check, void *closure, struct proof_faults *faults,
	bool *stable)
{
	struct round *round = closure;
	struct round after = *round;
	struct corrections_reading reading;
	struct correction row;
	struct list list;
	const char *fault = NULL, *wrong;
	enum outcome code;
	bool found, still;

	faults->count = 0;
	code = list_fetch(check->session, RECORD_ROUND, round, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	proof_corrections_begin(&reading, round);
	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, round->player_id, sizeof(row.player_id));
	memcpy(row.game_id, round->game_id, sizeof(row.game_id));
	list_open(&list, check->session, RECORD_CORRECTION, false, 2, &row);
	while (found && list_next(&list, &row)) {
		wrong = proof_corrections_add(&reading, &row);
		if (wrong && !fault)
			fault = wrong;
	}
	code = list_end(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE)
		code = list_fetch(check->session, RECORD_ROUND, &after, &still, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (!found)
		fault = "is corrected and does not exist";
	if (!fault)
		fault = proof_corrections_end(&reading);
	if (fault)
		proof_fault(faults, "round %s/%s: correction %" PRIu32 " %s", round->player_id,
			round->game_id, reading.revision, fault);
	*stable = found == still && after.revision == round->revision &&
		after.shortfall == round->shortfall;
	return OUTCOME_DONE;
}

enum outcome check_corrected_round(struct check *check, const struct round *round)
{
	struct proof_faults faults;
	struct round key = *round;
	enum outcome code;
	bool stable, settled;

	code = read_chain(check, &key, &faults, &stable);
	return code == OUTCOME_DONE && faults.count ? check_again(check, read_chain, &key, &settled)
						    : code;
}

enum outcome check_walk_corrections(struct check *check)
{
	enum outcome code = OUTCOME_DONE;
	struct correction row;
	struct round round;
	struct buffer bytes;
	struct list list;
	bool found;

	list_open(&list, check->session, RECORD_CORRECTION, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		check_progress(check, "corrections", list.taken);
		round = round_of(&row);
		buffer_init(&bytes, 0);
		code = list_fetch_bytes(check->session, RECORD_ROUND, &round, &found, &bytes);
		/* The walk of rounds compares the rounds that count corrections. */
		if (code == OUTCOME_DONE && (!found || !round.revision))
			code = check_corrected_round(check, &round);
		if (code == OUTCOME_DONE && found)
			proof_correction_links(&check->proof, &round, &row);
		if (code == OUTCOME_DONE)
			code = check_decrease(check, &row);
		buffer_free(&bytes);
	}
	return list_end(&list, code);
}

/* ---- the search, if the sets of rows differ */

static enum outcome search_correction(struct check *check, const struct round *round,
	const struct correction *row)
{
	const struct request wanted_key = proof_correction_key(round, row);
	const struct transaction wanted = proof_correction_transaction(round, row);
	struct request key = wanted_key;
	struct transaction moved;
	const char *fault;
	enum outcome code;
	bool found;

	if (!proof_key_counts(&check->proof, &wanted_key))
		return OUTCOME_DONE;
	code = list_fetch(check->session, RECORD_REQUEST, &key, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	fault = proof_wager_key(&wanted_key, found ? &key : NULL);
	if (!fault) {
		code = transaction_fetch(check->session, row->transaction_id, &moved, &found);
		if (code != OUTCOME_DONE)
			return code;
		fault = proof_wager_transaction(&wanted, found ? &moved : NULL);
	}
	if (fault)
		proof_problem(&check->proof, "correction %s/%s/%" PRIu32 ": %s", row->player_id,
			row->game_id, row->revision, fault);
	return OUTCOME_DONE;
}

enum outcome check_search_corrections(struct check *check)
{
	enum outcome code = OUTCOME_DONE;
	struct correction row;
	struct round round;
	struct list list;
	bool found;

	list_open(&list, check->session, RECORD_CORRECTION, false, 0, NULL);
	while (code == OUTCOME_DONE && check_search(check, &list, "searching corrections", &row)) {
		round = round_of(&row);
		code = list_fetch(check->session, RECORD_ROUND, &round, &found, NULL);
		if (code == OUTCOME_DONE && found)
			code = search_correction(check, &round, &row);
	}
	return list_end(&list, code);
}

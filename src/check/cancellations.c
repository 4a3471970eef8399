/*
 * check_cancellations - walks the cancellations of bets for `check`, each with its bet, its request
 * key and the movement that returned the stake. check_walk_rounds() looks up the cancellation of each
 * cancelled bet, so that a missing row is found as well. The sets of rows find a movement and its key
 * that no cancellation names.
 */
#include "check/check.h"

#include "admin/transactions.h"
#include "proof/cancellation.h"
#include "proof/links.h"

#include <inttypes.h>
#include <string.h>

static void accuse_bet(struct check *check, const struct bet *bet, const char *fault)
{
	if (fault)
		proof_problem(&check->proof, "bet %s/%s/%" PRIu32 " %s", bet->player_id,
			bet->game_id, bet->number, fault);
}

enum outcome check_cancelled_bet(struct check *check, const struct bet *bet)
{
	struct cancellation row;
	enum outcome code;
	bool found;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, bet->player_id, sizeof(row.player_id));
	memcpy(row.game_id, bet->game_id, sizeof(row.game_id));
	row.number = bet->number;
	code = list_fetch(check->session, RECORD_CANCELLATION, &row, &found, NULL);
	if (code == OUTCOME_DONE)
		accuse_bet(check, bet, proof_cancellation(bet, found ? &row : NULL));
	return code;
}

static enum outcome check_cancellation_key(struct check *check, const struct cancellation *row,
	const struct bet *bet)
{
	const struct request wanted = proof_cancellation_key(row, bet);
	struct request key = wanted;
	const char *fault;
	enum outcome code;
	bool found;

	code = list_fetch(check->session, RECORD_REQUEST, &key, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	fault = proof_wager_key(&wanted, found ? &key : NULL);
	if (fault)
		proof_problem(&check->proof, "cancellation of bet %s/%s/%" PRIu32 ": %s",
			row->player_id, row->game_id, row->number, fault);
	return OUTCOME_DONE;
}

static enum outcome check_cancellation(struct check *check, const struct cancellation *row)
{
	struct transaction moved;
	enum outcome code;
	struct bet bet;
	bool found, has_moved = false;

	code = check_find_bet(check, row->player_id, row->game_id, row->number, &bet, &found);
	if (code != OUTCOME_DONE)
		return code;
	accuse_bet(check, &bet, proof_cancellation(found ? &bet : NULL, row));
	if (!found)
		return OUTCOME_DONE;
	proof_cancellation_links(&check->proof, row, &bet);
	code = check_cancellation_key(check, row, &bet);
	if (code != OUTCOME_DONE || !row->transaction_id)
		return code;
	code = transaction_fetch(check->session, row->transaction_id, &moved, &has_moved);
	if (code == OUTCOME_DONE)
		accuse_bet(check, &bet,
			proof_cancellation_moved(row, &bet, has_moved ? &moved : NULL));
	return code;
}

enum outcome check_walk_cancellations(struct check *check)
{
	enum outcome code = OUTCOME_DONE;
	struct cancellation row;
	struct list list;

	list_open(&list, check->session, RECORD_CANCELLATION, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		check_progress(check, "cancellations", list.taken);
		code = check_cancellation(check, &row);
	}
	return list_end(&list, code);
}

enum outcome check_cancel_key(struct check *check, const struct request *key)
{
	const char *fault;
	enum outcome code;
	struct bet bet;
	bool found;

	if (key->kind != ENTRY_BET_CANCEL || !key->bet_number)
		return OUTCOME_DONE;
	code = check_find_bet(check, key->player_id, key->game_id, key->bet_number, &bet, &found);
	if (code != OUTCOME_DONE)
		return code;
	fault = proof_cancel_key(key, found ? &bet : NULL);
	if (fault)
		proof_problem(&check->proof, "request %s of %s cancels bet %s/%s/%" PRIu32 ", %s",
			key->request_transaction_id, key->owner, key->player_id, key->game_id,
			key->bet_number, fault);
	return OUTCOME_DONE;
}

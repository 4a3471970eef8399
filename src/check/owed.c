/*
 * check_owed - the rows that the dealers' sums of callbacks need besides the callbacks (proof/bounds.h).
 *
 * Callbacks end while `check` reads. A callback that has ended does not change any more. Its end
 * and the changes that follow from it were one commit.
 */
#include "check/check.h"

#include "admin/list.h"
#include "domain/delivery.h"
#include "domain/wager.h"
#include "proof/correction.h"

#include <inttypes.h>
#include <string.h>

/* Finds what the betting-result reports as the payout; 0 if its round or correction is missing. */
static enum outcome find_payout(struct check *check, const struct callback *callback,
	money_t *payout)
{
	struct correction correction;
	struct round round;
	enum outcome code;
	bool found;

	if (callback->revision) {
		memset(&correction, 0, sizeof(correction));
		memcpy(correction.player_id, callback->player_id, sizeof(correction.player_id));
		memcpy(correction.game_id, callback->game_id, sizeof(correction.game_id));
		correction.revision = callback->revision;
		code = list_fetch(check->session, RECORD_CORRECTION, &correction, &found, NULL);
		*payout = found ? correction_paid(&correction) : 0;
		return code;
	}
	memset(&round, 0, sizeof(round));
	memcpy(round.player_id, callback->player_id, sizeof(round.player_id));
	memcpy(round.game_id, callback->game_id, sizeof(round.game_id));
	code = list_fetch(check->session, RECORD_ROUND, &round, &found, NULL);
	*payout = found ? round.payout_amount : 0;
	return code;
}

enum outcome check_owed_payout(struct check *check, const struct callback *callback)
{
	money_t payout = 0;
	enum outcome code;

	if (!proof_bounds_may_owe(&check->proof, callback))
		return OUTCOME_DONE;
	code = find_payout(check, callback, &payout);
	if (code == OUTCOME_DONE)
		proof_bounds_owed(&check->proof, callback, payout);
	return code;
}

enum outcome check_decrease(struct check *check, const struct correction *row)
{
	struct callback before, after;
	struct correction now = *row;
	enum outcome code;
	bool found = false, there = false, still = false;

	if (!row->event || row->payout_amount >= row->previous_payout)
		return OUTCOME_DONE;
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	before.event = after.event = row->event;
	code = list_fetch(check->session, RECORD_CALLBACK, &before, &found, NULL);
	if (code == OUTCOME_DONE)
		code = list_fetch(check->session, RECORD_CORRECTION, &now, &there, NULL);
	if (code == OUTCOME_DONE)
		code = list_fetch(check->session, RECORD_CALLBACK, &after, &still, NULL);
	/* The search reports a callback that is missing. */
	if (code != OUTCOME_DONE || !found || !there || !still)
		return code;
	if (callback_has_ended(before.state) == callback_has_ended(after.state) &&
		proof_correction_shortfall(&now, &after))
		proof_problem(&check->proof, "correction %s/%s/%" PRIu32 " %s", row->player_id,
			row->game_id, row->revision, proof_correction_shortfall(&now, &after));
	proof_bounds_decrease(&check->proof, &after, proof_reported_shortfall(&now, &after));
	return OUTCOME_DONE;
}

/*
 * judge_correction - corrections of settled rounds in a dealer's file (contract, "Corrections").
 *
 * A round has one result and any number of corrections, which may ask for equal amounts. So a
 * correction is the dealer's row only if that row has its webhook-id or its transaction_id; the
 * round does not identify it. A correction that the game server repeated after a restore has new
 * ids. It may be booked under the old ones, so the dealer is asked.
 */
#include "recon/judge.h"

#include "domain/callback.h"

#include <stdlib.h>
#include <string.h>

/* Returns true if @theirs can be about the same round as @ours. */
static bool round_fits(const struct compared *ours, const struct compared *theirs)
{
	return !theirs->game_id[0] || strcmp(theirs->game_id, ours->game_id) == 0;
}

/* Returns the dealer's row of the correction @ours; NULL if no row has one of its ids. */
static const struct compared *find_correction(const struct reconcile *reconcile,
	const struct compared *ours)
{
	const struct side *theirs = &reconcile->theirs;
	const struct compared *row = recon_side_find(theirs, RECON_CALLBACK, ours->id);

	if (row && round_fits(ours, row))
		return row;
	for (size_t i = 0; i < theirs->count; i++) {
		row = &theirs->rows[i];
		if (row->record == RECON_CALLBACK && row->transaction_id &&
			row->transaction_id == ours->transaction_id && round_fits(ours, row))
			return row;
	}
	return NULL;
}

/* Returns true if the dealer's row says that it has not booked the callback. */
static bool is_not_booked(const struct compared *theirs)
{
	return strcmp(theirs->state, "failed") == 0 || strcmp(theirs->state, "parked") == 0;
}

void judge_correction(struct reconcile *reconcile, const struct compared *ours)
{
	const struct compared *theirs = find_correction(reconcile, ours);

	if (!theirs)
		judge_propose(reconcile, REMEDY_ASK, ours, NULL,
			"no row of the file has the ids of this correction: ask the dealer whether it "
			"booked it, also under another id, and for a row with this webhook-id");
	else if (is_not_booked(theirs))
		judge_propose(reconcile,
			strcmp(ours->state, "parked") == 0 ? REMEDY_RETRY : REMEDY_RELEASE, ours,
			theirs, "the dealer has not booked the correction: it may go");
	else if (theirs->amount != ours->amount)
		judge_propose(reconcile, REMEDY_ASK, ours, theirs,
			"the dealer booked another amount for the correction: agree on it before "
			"release");
	else
		judge_propose_cancel(reconcile, ours, theirs, "booked before the restore");
}

static int order_transaction_ids(const void *one, const void *other)
{
	const struct compared *a = *(const struct compared *const *)one;
	const struct compared *b = *(const struct compared *const *)other;

	return a->transaction_id < b->transaction_id ? -1 : a->transaction_id > b->transaction_id;
}

bool judge_index_corrections(struct reconcile *reconcile)
{
	const struct side *ours = &reconcile->ours;

	reconcile->our_corrections = calloc(ours->count + 1, sizeof(struct compared *));
	if (!reconcile->our_corrections)
		return false;
	for (size_t i = 0; i < ours->count; i++) {
		if (ours->rows[i].revision)
			reconcile->our_corrections[reconcile->our_correction_count++] =
				&ours->rows[i];
	}
	qsort(reconcile->our_corrections, reconcile->our_correction_count,
		sizeof(struct compared *), order_transaction_ids);
	return true;
}

bool judge_is_correction(const struct reconcile *reconcile, const struct compared *theirs)
{
	const struct compared *ours = recon_side_find(&reconcile->ours, RECON_CALLBACK, theirs->id);
	const struct compared *const *found;

	if (theirs->revision)
		return true;
	if (ours && round_fits(ours, theirs))
		return ours->revision > 0;
	if (!theirs->transaction_id)
		return false;
	found = bsearch(&theirs, reconcile->our_corrections, reconcile->our_correction_count,
		sizeof(struct compared *), order_transaction_ids);
	return found && round_fits(*found, theirs);
}

void judge_correction_there(struct reconcile *reconcile, const struct compared *theirs)
{
	struct round round;

	if (!theirs->user_id[0])
		judge_propose(reconcile, REMEDY_ASK, NULL, theirs,
			"the file names no user_id of a correction: ask the dealer for it");
	else if (judge_find_round(reconcile, theirs, &round) && round.state == ROUND_SETTLED &&
		round.revision < (theirs->revision ? theirs->revision : 1))
		judge_propose(reconcile, REMEDY_REPEAT, NULL, theirs,
			"the round does not have this correction here: the game server repeats it "
			"while callbacks are held; then run reconcile again before release");
}

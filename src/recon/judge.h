/*
 * judge - selects the command that resolves a difference between the ledger and a dealer's file.
 * reconcile_judge() is in reconcile.h; these functions are shared by the files judge*.c.
 */
#ifndef RECON_JUDGE_H
#define RECON_JUDGE_H

#include "recon/reconcile.h"

/* Adds a proposal. @ours or @theirs is NULL if that side has no row. @why is a constant. */
void judge_propose(struct reconcile *reconcile, enum remedy remedy, const struct compared *ours,
	const struct compared *theirs, const char *why);

/*
 * Proposes to cancel the callback @ours. One that was being sent when the backup ended can be
 * cancelled only after it was taken over.
 */
void judge_propose_cancel(struct reconcile *reconcile, const struct compared *ours,
	const struct compared *theirs, const char *why);

/*
 * Finds our round for @theirs. Returns false if there is none, or after an error in
 * @reconcile->code.
 */
bool judge_find_round(struct reconcile *reconcile, const struct compared *theirs,
	struct round *round);

/* Fills @our_corrections. Returns false if memory is exhausted. */
bool judge_index_corrections(struct reconcile *reconcile);

/* Returns true if the dealer's result @theirs is one that corrects a settled round. */
bool judge_is_correction(const struct reconcile *reconcile, const struct compared *theirs);

/* Judges our waiting callback @ours of a correction, which `release` would send. */
void judge_correction(struct reconcile *reconcile, const struct compared *ours);

/* Judges a correction that the dealer booked: the round may not have it here. */
void judge_correction_there(struct reconcile *reconcile, const struct compared *theirs);

#endif

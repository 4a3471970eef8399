/*
 * check - runs the checks of `check` for other commands.
 */
#ifndef CMD_CTL_CHECK_H
#define CMD_CTL_CHECK_H

#include "cmd/ctl/ctl.h"
#include "proof/proof.h"

#define CHECK_PROBLEM_SIZE PROOF_LINE_SIZE

struct check_found {
	uint64_t problems;
	char first[CHECK_PROBLEM_SIZE]; /* "": no problem */
};

/*
 * Checks all rows that the session lists, and prints only progress. OUTCOME_DONE: *found is set.
 * OUTCOME_BUSY: the rows changed during the check. Any other outcome was reported.
 */
enum outcome check_prove(struct ctl *ctl, struct check_found *found);

#endif

/*
 * prove - checks all rows for a program that needs only the result.
 */
#ifndef CHECK_PROVE_H
#define CHECK_PROVE_H

#include "admin/session.h"
#include "proof/proof.h"

#define CHECK_PROBLEM_SIZE PROOF_LINE_SIZE

struct check_found {
	uint64_t problems;
	uint32_t passes;                /* through all rows */
	char first[CHECK_PROBLEM_SIZE]; /* "": no problem */
};

/*
 * Checks all rows that the session lists; @newest_ms is as for check_open() (check/check.h). OUTCOME_DONE: *found is set.
 * OUTCOME_BUSY: the rows changed during the check. Any other outcome was reported.
 */
enum outcome check_prove(struct session *session, int64_t newest_ms, struct check_found *found,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure);

#endif

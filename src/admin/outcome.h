/*
 * outcome - the results of an administrative call. The numbers are the exit codes of
 * creditbridgectl; some are those of <sysexits.h>.
 */
#ifndef ADMIN_OUTCOME_H
#define ADMIN_OUTCOME_H

#include "base/status.h"

enum outcome {
	OUTCOME_DONE = 0,
	OUTCOME_FAILED = 1, /* failed or refused, or a check found a problem */
	OUTCOME_USAGE = 2,
	OUTCOME_PARTLY = 3,       /* only some of several actions succeeded */
	OUTCOME_UNREACHABLE = 69, /* no ledger (or server) responds */
	OUTCOME_BUSY = 75,        /* nothing was done; the same call may succeed later */
	OUTCOME_NOT_PERMITTED = 77,
	OUTCOME_CONFIG = 78, /* the configuration or the state directory cannot be used */
};

/* The kind of work that failed: a call to the ledger, work on data at rest, or work on a backup. */
enum failure_source { FAILURE_OF_LEDGER, FAILURE_OF_DATA, FAILURE_OF_BACKUP, FAILURE_SOURCE_COUNT };

/* The id of a call whose result is unknown. */
#define OUTCOME_UNKNOWN_ID "outcome_unknown"

/*
 * The one table of failures: returns the outcome for @status, which is not STATUS_OK, and sets *id
 * to the error id.
 */
enum outcome outcome_of_status(enum failure_source source, enum status status, const char **id);

#endif

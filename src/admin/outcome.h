/*
 * outcome - the results of an administrative call. The numbers are the exit codes of
 * creditbridgectl; some are those of <sysexits.h>.
 */
#ifndef ADMIN_OUTCOME_H
#define ADMIN_OUTCOME_H

enum outcome {
	OUTCOME_DONE = 0,
	OUTCOME_FAILED = 1,       /* failed or refused, or a check found a problem */
	OUTCOME_USAGE = 2,
	OUTCOME_PARTLY = 3,       /* only some of several actions succeeded */
	OUTCOME_UNREACHABLE = 69, /* no ledger (or server) responds */
	OUTCOME_BUSY = 75,        /* nothing was done; the same call may succeed later */
	OUTCOME_NOT_PERMITTED = 77,
	OUTCOME_CONFIG = 78,      /* the configuration or the state directory cannot be used */
};

#endif

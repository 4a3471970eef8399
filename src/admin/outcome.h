/*
 * outcome - how an administrative call ends. The numbers are the exit codes of creditbridgectl, in part
 * those of <sysexits.h>.
 */
#ifndef ADMIN_OUTCOME_H
#define ADMIN_OUTCOME_H

enum outcome {
	OUTCOME_DONE = 0,
	OUTCOME_FAILED = 1,       /* it failed, was refused, or a check found something */
	OUTCOME_USAGE = 2,
	OUTCOME_PARTLY = 3,       /* only some of several things were done */
	OUTCOME_UNREACHABLE = 69, /* no ledger (or server) answers */
	OUTCOME_BUSY = 75,        /* nothing was done; the same call may succeed later */
	OUTCOME_NOT_PERMITTED = 77,
	OUTCOME_CONFIG = 78,      /* the configuration or the state directory is not usable */
};

#endif

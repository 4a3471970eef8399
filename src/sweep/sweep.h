/*
 * sweep - sends due callbacks and takes over the attempts of lost senders (contract, "Attempts" and
 * "Leases").
 *
 * The ledger lists what can be claimed (CALLBACK_FIND: the oldest first, alternating between
 * dealers). It grants a lease for each attempt (CALLBACK_CLAIM) and gets the outcome
 * (CALLBACK_END). The sweeper claims no more than it can send at once, and the first byte leaves
 * only during the lease. So a sweeper killed at any moment leaves only leases that expire, and two
 * sweepers do not harm each other.
 */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include "base/settings.h"
#include "base/status.h"
#include "sweep/report.h"

#include <signal.h>

struct sweep_options {
	const struct settings *settings; /* must outlive the run, with its networks */
	/* Boot time; no attempt begins later. 0: run until nothing can be claimed. */
	int64_t until_ms;
	/*
	 * Signals to stop, blocked by the caller. Once one is pending, nothing more is claimed and
	 * running attempts are finished.
	 */
	sigset_t stop;
};

/*
 * Sweeps and adds the results to @report. Ends by @until_ms plus callback_timeout_ms plus the time
 * of the ledger's answers. Any status but STATUS_OK is the sweeper's own failure, with the reason
 * in @why. The ledger was not reached (see link_call()), its storage is full (STATUS_FULL), or
 * memory is exhausted. Running attempts were then finished if the ledger could be reached.
 */
#define SWEEP_WHY_MAX 256
enum status sweep_run(const struct sweep_options *options, struct report *report,
	char why[SWEEP_WHY_MAX]);

/*
 * Writes to @out what a run would claim first, without claiming it. Each callback is a line, or
 * with @json all are
 * {"waiting":N,"callbacks":[{"event","casino_id","kind","takeover","overdue_ms"}]}. Fails like
 * sweep_run().
 */
enum status sweep_look(const struct settings *settings, bool json, FILE *out,
	char why[SWEEP_WHY_MAX]);

#endif

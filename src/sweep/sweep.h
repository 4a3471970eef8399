/*
 * sweep - sends the callbacks that are due, and takes over what senders left who are gone (api.md,
 * B; Bet states).
 *
 * The ledger says what may be claimed (CALLBACK_FIND: the oldest first, round the dealers), gives a
 * lease for each attempt (CALLBACK_CLAIM), and is told what came of it (CALLBACK_END). No more is
 * claimed than can be sent at once, and the first byte leaves only while the lease holds, so that
 * a sweeper killed at any moment leaves nothing but leases that run out, and two of them do not
 * harm each other.
 */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include "base/settings.h"
#include "base/status.h"
#include "sweep/report.h"

#include <signal.h>

struct sweep_options {
	const struct settings *settings; /* with the networks, it must outlive the run */
	/* Boot time; no attempt is begun later. 0: until nothing can be claimed. */
	int64_t until_ms;
	/*
	 * Blocked by the caller. When one of them has arrived nothing more is claimed; what is
	 * under way is finished.
	 */
	sigset_t stop;
};

/*
 * Sweeps, and adds what it did to @report. Ends by @until_ms and callback_timeout_ms, with the
 * ledger's answers on top. Anything but STATUS_OK is the sweeper's own failure, and @why says it:
 * the ledger could not be asked (see link_call()), or has no storage left (STATUS_FULL), or memory.
 * What was under way was then finished if the ledger could be told.
 */
#define SWEEP_WHY_MAX 256
enum status sweep_run(const struct sweep_options *options, struct report *report,
	char why[SWEEP_WHY_MAX]);

/*
 * Writes to @out what a run would begin with, and claims nothing: a line for each callback, or with
 * @json {"waiting":N,"callbacks":[{"event","casino_id","kind","takeover","overdue_ms"}]}. Fails as
 * sweep_run() does.
 */
enum status sweep_look(const struct settings *settings, bool json, FILE *out,
	char why[SWEEP_WHY_MAX]);

#endif

/*
 * offline - commands that work on the data themselves instead of asking a ledger.
 *
 * libdb ends its process when a disk fails (store/bdb/bdb.h): so they do it in a child, and such an
 * end is told like any other failure.
 */
#ifndef CMD_CTL_OFFLINE_H
#define CMD_CTL_OFFLINE_H

#include "cmd/ctl/ctl.h"

/*
 * Reports that a ledger answers at the sockets of the configuration, or holds the lock there: OUTCOME_BUSY.
 * Its state may be gone, and with it the lock in it; a socket that systemd keeps does not answer.
 */
enum outcome offline_check_stopped(struct ctl *ctl);

/* Reports that a ledger of this state holds that lock: OUTCOME_BUSY. It need not answer. */
enum outcome offline_check_unheld(struct ctl *ctl);

/*
 * As root: becomes the one whom the state belongs to: --user, the owner of the state directory, or,
 * when that is not there, of @backup (NULL: none), who was the ledger. @make: the directory is made
 * for him, if it is not there.
 */
enum outcome offline_become_owner(struct ctl *ctl, bool make, const char *backup);

/*
 * Runs @work in a child, which prints what there is to be told, and returns what it returned. When
 * the disk or a signal ended it that is reported, followed by @outcome ("nothing was imported").
 * Signals that end are passed on to it. *ended, if not NULL: it was ended so.
 */
enum outcome offline_run(struct ctl *ctl, enum outcome (*work)(void *context), void *context,
	const char *outcome, bool *ended);

/* The exit code for a failure that @status stands for, reported with @why or its own text. */
enum outcome offline_fail(struct ctl *ctl, enum status status, const char *why);

/* Prints what the operator has to do before callbacks are sent again. */
void offline_print_steps(void);

/*
 * Prints up to where the data goes that was brought in: its last movement (0: none), and the first
 * id of the life that begins with it (0: none begins).
 */
void offline_print_last(uint64_t transaction_id, int64_t ms, uint64_t first_id);

#endif

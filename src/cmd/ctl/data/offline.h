/*
 * offline - runs commands that work directly on the state instead of asking a ledger.
 *
 * The store ends its process when a disk fails (store/exit.h). These commands therefore run in a
 * child process, and the parent reports the child's death like any other failure.
 */
#ifndef CMD_CTL_DATA_OFFLINE_H
#define CMD_CTL_DATA_OFFLINE_H

#include "cmd/ctl/common/ctl.h"

struct output_json;

/*
 * Reports OUTCOME_BUSY if a ledger answers at the sockets of the configuration or holds the lock
 * beside them. The state directory and its own lock may have been deleted under a running ledger.
 * A socket that systemd holds open does not answer.
 */
enum outcome offline_check_stopped(struct ctl *ctl);

/*
 * Reports OUTCOME_BUSY if a ledger of this state holds the lock beside the sockets, even if it
 * does not answer.
 */
enum outcome offline_check_unheld(struct ctl *ctl);

/*
 * Run as root: changes to the user that owns the state. That is --user, or the owner of the state
 * directory. If the directory does not exist, it is the owner of @backup, which the ledger made
 * (NULL: there is no backup). @make: creates a missing directory for that user.
 */
enum outcome offline_become_owner(struct ctl *ctl, bool make, const char *backup);

/*
 * Runs @work in a child process, which prints its own messages. Returns the outcome of @work. If
 * the disk or a signal ended the child, reports that, followed by @outcome ("nothing was
 * imported"). Passes termination signals to the child. Sets *ended, if not NULL, if the child was
 * ended in this way.
 */
enum outcome offline_run(struct ctl *ctl, enum outcome (*work)(void *context), void *context,
	const char *outcome, bool *ended);

/*
 * Reports a failure with @why, or with the text of @status if @why is NULL. Returns the exit code
 * for @status.
 */
enum outcome offline_fail(struct ctl *ctl, enum status status, const char *why);

/* Prints the steps that the operator must take before callbacks are sent again. */
void offline_print_steps(void);

/*
 * Prints how far the imported or restored data extends: its last transaction (0: none), and the
 * first transaction id of the new incarnation (0: none begins), with the number of the ledger that it has.
 */
void offline_print_last(uint64_t transaction_id, int64_t ms, uint64_t first_id);

/* Adds the member ledger_number: that of the life which begins with @first_id; 0: none begins. */
void offline_json_number(struct output_json *json, uint64_t first_id);

#endif

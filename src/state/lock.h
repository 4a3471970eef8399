/*
 * lock - the lock that a ledger holds on its state directory while it runs.
 *
 * The name of the directory may later lead to another one: the directory was moved, copied,
 * initialised again or mounted over. The supervisor therefore keeps the directory, db/ and the
 * lock open. Before an engine opens the data, it compares these descriptors with the directory
 * that the name leads to.
 *
 * A second lock file lies beside the sockets. If a command finds another directory under the name,
 * this file shows that a ledger runs. It works also while no engine answers.
 */
#ifndef STATE_LOCK_H
#define STATE_LOCK_H

#include "base/status.h"
#include "state/directory.h"
#include "state/identity.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The lock file in the socket directory. The running ledger holds it; its text is the state path.
 */
#define STATE_HOLD_PLACE "ledger.lock"

struct state_hold {
	const char *path; /* of the state directory; outlives the hold */
	int directory;    /* open on it, ... */
	int db;           /* ... on db/ in it, ... */
	int lock;         /* ... on the lock in it, ... */
	int place;        /* ... and on the lock beside the sockets; -1: it could not be made */
	char installation[STATE_INSTALLATION_MAX];
};

/*
 * Checks the state as state_dir_check() does and takes both locks. Waits up to @wait_ms for each.
 * If @socket_directory is NULL, takes only the lock of the state. Returns STATUS_BUSY if another
 * ledger holds a lock, otherwise the errors of state_dir_check(). Writes the reason to @why. The
 * caller releases the locks with state_hold_release(); the end of the process releases them, too.
 */
enum status state_hold_take(struct state_hold *hold, const char *path, const char *socket_directory,
	int wait_ms, char *why, size_t why_size);

/*
 * Checks that the name still leads to the held directory and that it is initialised. If not,
 * returns STATUS_CONFIG and writes the reason and the remedy to @why. Other failures are returned
 * as status_of_errno() maps them, also with a reason.
 */
enum status state_hold_check(const struct state_hold *hold, char *why, size_t why_size);

void state_hold_release(struct state_hold *hold);

/*
 * Returns true if a ledger of the state at @path holds the lock beside the sockets. @path is as
 * the configuration names it. Also returns false if this cannot be determined.
 */
bool state_hold_is_running(const char *path, const char *socket_directory);

#endif

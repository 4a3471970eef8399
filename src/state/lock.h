/*
 * lock - the state that a ledger locked, for as long as the ledger runs.
 *
 * A name may lead to another directory later: one that was moved there, copied, initialised anew or
 * mounted. So the ledger's parent keeps the directory, db/ and the lock open, and each engine
 * compares them with what the name leads to before it opens the data.
 *
 * A second lock lies beside the sockets. It says that a ledger runs to commands that find another
 * directory at the name, also while no engine answers.
 */
#ifndef STATE_LOCK_H
#define STATE_LOCK_H

#include "base/status.h"
#include "state/directory.h"

#include <stdbool.h>
#include <stddef.h>

/* In the socket directory, held by the running ledger. It holds the path of the state as text. */
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
 * Checks the state as state_dir_check() does and takes both locks, waiting up to @wait_ms for each.
 * @socket_directory: NULL: only the lock of the state. STATUS_BUSY: another ledger has one. Others as
 * of state_dir_check(). With a sentence in @why. Ended by state_hold_release(), or with the process.
 */
enum status state_hold_take(struct state_hold *hold, const char *path, const char *socket_directory,
	int wait_ms, char *why, size_t why_size);

/*
 * Whether the name still leads to what is held, and it is initialised. STATUS_CONFIG: it does not,
 * with a sentence in @why that names the remedy. Else a failure as of status_of_errno(), likewise.
 */
enum status state_hold_check(const struct state_hold *hold, char *why, size_t why_size);

void state_hold_release(struct state_hold *hold);

/*
 * Whether a ledger of the state at @path, as its configuration names it, holds the lock beside the
 * sockets. False also where that cannot be seen.
 */
bool state_hold_is_running(const char *path, const char *socket_directory);

#endif

/*
 * directory - the state directory: who may own it, what lies in it, and that one ledger uses it.
 *
 *     STATE/            0700
 *     STATE/lock        held with flock(2) by the running ledger; holds its pid as text
 *     STATE/db/         Berkeley DB's environment: tables and log
 *     STATE/installation  the installation's id, written by `creditbridgectl init`; its presence
 *                       tells an initialised state from an empty or unmounted directory
 *     STATE/identity    where it is (identity.h): a copy is not there
 *     STATE/created     the tables were made: data that lacks one is refused
 *     STATE/restoring   a restore is under way or was interrupted: it has no installation then
 *     STATE/export/     the copy of the data that an export reads; deleted when it is done
 *     STATE/ballast     space given up when recovery finds the disk full
 *     STATE/halted      written when the disk failed (exit 74): the ledger stays down until
 *                       `creditbridgectl resume`
 */
#ifndef STATE_DIRECTORY_H
#define STATE_DIRECTORY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

#define STATE_INSTALLATION_MAX 33
/* In the state directory: where the backup is made that an export reads. */
#define STATE_EXPORT        "export"
#define STATE_EXPORT_BACKUP STATE_EXPORT "/backup"

/*
 * What errno says of a call that failed is returned as status_of_errno() has it, with a sentence in
 * @why; what is named below is besides.
 *
 * Creates @path (and db/ and installation in it) with mode 0700, owned by the caller. An existing
 * empty directory is taken over. STATUS_CONFIG with a sentence in @why: it already holds a ledger,
 * is not empty, is not ours or is writable by others. STATUS_BUSY: a ledger holds the lock in it,
 * though it is empty. @installation is 32 hex characters.
 */
enum status state_dir_create(const char *path, const char *installation, char *why,
	size_t why_size);

/*
 * Checks that @path is an initialised state directory of the caller that no one else may read or
 * write, and copies its id to @installation (STATE_INSTALLATION_MAX bytes). STATUS_CONFIG with a
 * sentence in @why, naming the remedy, when not.
 */
enum status state_dir_check(const char *path, char *installation, char *why, size_t why_size);

/*
 * Makes @path ready for a restore or an import and takes the lock: it is created, or empty, or was
 * initialised and no ledger started on it, or it holds what an interrupted restore left; db/ in it
 * is empty then. It counts as not initialised until
 * state_dir_restored(). STATUS_BUSY: a ledger or another restore has it. STATUS_CONFIG: it already
 * holds a ledger, is not empty, is not ours or is open to others. With a sentence in @why.
 */
enum status state_dir_restore(const char *path, int *lock, char *why, size_t why_size);

/* The restore is done: the state is initialised, durably. */
enum status state_dir_restored(const char *path, const char *installation, char *why,
	size_t why_size);

/*
 * The restore is given up: the state is empty again or, if it was initialised before, as it was
 * then, with @installation (else NULL). The lock is held still.
 */
enum status state_dir_abandon(const char *path, const char *installation, char *why,
	size_t why_size);

/*
 * Takes the lock, waiting up to @wait_ms for another holder to go. Returns the descriptor, to be
 * kept open (forked children inherit the lock with it; an exec closes it), or -1 with a sentence in
 * @why.
 */
int state_dir_lock(const char *path, int wait_ms, char *why, size_t why_size);

#endif

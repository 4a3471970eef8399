/*
 * directory - the state directory: its owner, its files, and its lock for one ledger.
 *
 *     STATE/            0700
 *     STATE/lock        held with flock(2) by the running ledger; holds its pid as text
 *     STATE/db/         the data of the store
 *     STATE/installation  the installation's id, written by `creditbridgectl init`; its presence
 *                       distinguishes an initialised state from an empty or unmounted directory
 *     STATE/identity    where the state lies (identity.h); shows that a state was copied
 *     STATE/created     the tables were made: data that lacks a table is refused
 *     STATE/restoring   a restore runs or was interrupted: there is no installation then
 *     STATE/export/     the copy of the data that an export reads; deleted after the export
 *     STATE/refused/    refused calls (ledger/refused); no part of the data
 *     STATE/ballast     space given up when recovery finds the disk full
 *     STATE/halted      written when the disk failed (exit 74): the ledger stays down until
 *                       `creditbridgectl resume`
 */
#ifndef STATE_DIRECTORY_H
#define STATE_DIRECTORY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The directory of the backup that an export reads, inside the state directory. */
#define STATE_EXPORT        "export"
#define STATE_EXPORT_BACKUP STATE_EXPORT "/backup"

/*
 * The functions below return a failed system call as status_of_errno() maps it, with a reason in
 * @why. Their comments list the other errors.
 *
 * Creates @path, db/ and installation in it, with mode 0700 and owned by the caller. Takes over an
 * existing empty directory. Returns STATUS_CONFIG if the directory holds a ledger, is not empty,
 * belongs to another user or is writable by others. Returns STATUS_BUSY if a ledger holds the lock
 * in an otherwise empty directory. @installation is 32 hex characters.
 */
enum status state_dir_create(const char *path, const char *installation, char *why,
	size_t why_size);

/*
 * Checks that @path is an initialised state directory of the caller that no other user may read or
 * write. Copies its id to @installation (STATE_INSTALLATION_MAX bytes). If the check fails,
 * returns STATUS_CONFIG and writes the reason and the remedy to @why.
 */
enum status state_dir_check(const char *path, char *installation, char *why, size_t why_size);

/*
 * Prepares @path for a restore or an import and takes the lock. The directory is created if it
 * does not exist. It may be empty, initialised without a ledger started on it, or hold the remains
 * of an interrupted restore. Afterwards db/ is empty, and the state counts as not initialised
 * until state_dir_restored().
 *
 * Returns STATUS_BUSY if a ledger or another restore holds the lock. Returns STATUS_CONFIG if the
 * directory holds a ledger, other files, belongs to another user or is open to others. Writes the
 * reason to @why.
 */
enum status state_dir_restore(const char *path, int *lock, char *why, size_t why_size);

/* Marks the restore as complete: the state is durably initialised. */
enum status state_dir_restored(const char *path, const char *installation, char *why,
	size_t why_size);

/*
 * Abandons the restore. If the state was initialised before, it is again, with @installation;
 * otherwise @installation is NULL and the state is empty. The caller still holds the lock.
 */
enum status state_dir_abandon(const char *path, const char *installation, char *why,
	size_t why_size);

/*
 * Takes the lock and waits up to @wait_ms for another holder to release it. Returns the
 * descriptor, or -1 with a reason in @why. The caller keeps the descriptor open; forked children
 * inherit the lock with it, an exec closes it.
 */
int state_dir_lock(const char *path, int wait_ms, char *why, size_t why_size);

#endif

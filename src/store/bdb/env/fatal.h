/*
 * fatal - failures of libdb and of the disk after which the process must end. store/exit.h has
 * the exit codes.
 *
 * If fsync fails or returns EIO, the process ends at once (74). libdb would repeat the call. On
 * Linux a repeated fsync can report success for data that is lost.
 *
 * If a log write finds the disk full, the process ends with 72. If the log cannot be written for
 * another reason, or its next file cannot be made, the process ends with 70. libdb would continue
 * with commits that are not on the disk. (Without store_options.ends, a file that cannot be made
 * fails the save.)
 *
 * After DB_RUNRECOVERY, as for a page with a wrong checksum, every later call of libdb fails. With
 * store_options.ends the process then ends: with 76 after such a page, with 72 after a full disk,
 * and otherwise with 70.
 */
#ifndef STORE_BDB_ENV_FATAL_H
#define STORE_BDB_ENV_FATAL_H

#include "base/status.h"
#include "store/exit.h"

#include <stdbool.h>

/* Returns true if a write of this process found the disk full. */
bool bdb_met_full(void);
/* Returns true if this process found a page with a wrong checksum. */
bool bdb_met_damage(void);

/* Records a page with a wrong checksum for bdb_met_damage(). */
void bdb_note_damage(void);
/*
 * Sets the function that is called before the process ends with 74 or 76. NULL: none. Call it
 * before other threads start.
 */
void bdb_before_halt(void (*function)(void));

/*
 * Ends the process (74) because the call @where failed with @error and the content of the disk is
 * unknown.
 */
void bdb_die_of_disk(const char *where, int error) __attribute__((noreturn));
/* Sets whether the process ends when libdb cannot continue. */
void bdb_end_with_libdb(bool ends);
bool bdb_ends_with_libdb(void);
/* Records for bdb_met_full() that @error means a full disk. */
void bdb_note_full(int error);
/* Returns the status for an error number of libdb. Ends the process (74) on EIO. */
enum status bdb_status(int error);

#endif

/*
 * fatal - failures after which the process must end: the disk failed, the data is damaged, or
 * libdb cannot continue. bdb.h lists the exit codes.
 */
#ifndef STORE_BDB_ENV_FATAL_H
#define STORE_BDB_ENV_FATAL_H

#include "base/status.h"

#include <stdbool.h>

/*
 * Returns unless the process is about to end with 74 or 76. The failure of another thread may
 * invalidate work that this thread considers complete.
 */
void bdb_wait_if_halting(void);
/*
 * Ends the process with @code as the store does. For 74 or 76 first calls the function of
 * bdb_before_halt(). With another code, ends it only if no thread is about to end it with 74 or
 * 76.
 */
void bdb_end(int code) __attribute__((noreturn));

/* Returns true if a write of this process found the disk full. */
bool bdb_met_full(void);
/* Returns true if this process found a page with a wrong checksum. */
bool bdb_met_damage(void);

/* Records a page with a wrong checksum for bdb_met_damage(). */
void bdb_note_damage(void);
/*
 * Sets the function that bdb_end() calls before it ends the process with 74 or 76. NULL: none.
 * Call it before other threads start.
 */
void bdb_before_halt(void (*function)(void));

/*
 * Ends the process (74) because the call @where failed with @error and the content of the disk is
 * unknown.
 */
void bdb_die_of_disk(const char *where, int error) __attribute__((noreturn));
/* Sets whether the process ends when libdb cannot continue (bdb.h). */
void bdb_end_with_libdb(bool ends);
bool bdb_ends_with_libdb(void);
/* Records for bdb_met_full() that @error means a full disk. */
void bdb_note_full(int error);
/* Returns the status for an error number of libdb. Ends the process (74) on EIO. */
enum status bdb_status(int error);

#endif

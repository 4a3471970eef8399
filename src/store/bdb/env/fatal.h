/*
 * fatal - failures after which the process must end: the disk fails, the data is damaged, or libdb gave
 * up. bdb.h says which exit code each has.
 */
#ifndef STORE_BDB_ENV_FATAL_H
#define STORE_BDB_ENV_FATAL_H

#include "base/status.h"

#include <stdbool.h>

/*
 * Returns, unless the process is about to end with 74 or 76: what was found out in another thread may
 * concern what this one takes for done.
 */
void bdb_wait_if_halting(void);
/*
 * Ends the process with @code as the store does: with 74 or 76 once options->before_halt was called,
 * with another only if no thread is about to end it with one of these.
 */
void bdb_end(int code) __attribute__((noreturn));

/* Whether a write of this process, since its start, found the disk full. */
bool bdb_met_full(void);
/* Whether this process met a page whose checksum is wrong. */
bool bdb_met_damage(void);

/* Remembers, for bdb_met_damage(), a page whose checksum is wrong. */
void bdb_note_damage(void);
/* What bdb_end() calls before the process ends with 74 or 76. NULL: nothing. Before other threads begin. */
void bdb_before_halt(void (*function)(void));

/* Ends the process (74): what the disk has is not known, by an @error of the call @where. */
void bdb_die_of_disk(const char *where, int error) __attribute__((noreturn));
/* Whether the process is to end when libdb gives up (bdb.h). */
void bdb_end_with_libdb(bool ends);
bool bdb_ends_with_libdb(void);
/* Of the error of a call: a full disk is remembered for bdb_met_full(). */
void bdb_note_full(int error);
/* The status that an error number of libdb stands for. Ends the process (74) on EIO. */
enum status bdb_status(int error);

#endif

/*
 * disk - how much space the state has left, and the ballast.
 *
 * Recovery needs space. The ballast is a file that is deleted when a start fails for want of it.
 */
#ifndef STATE_DISK_H
#define STATE_DISK_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes that the caller may still write below @path. UINT64_MAX when that cannot be told. */
uint64_t disk_free_bytes(const char *path);

/* Makes the ballast of @bytes in the state directory, if it is not there whole and leaves room. */
void disk_ballast_make(const char *state, uint64_t bytes, uint64_t low_water_bytes);

/* Deletes the ballast. False: there is none. */
bool disk_ballast_drop(const char *state);

/* Files in the state directory whose presence says something. That of a halt: see halt.h. */
enum disk_mark {
	DISK_CREATED, /* the tables were made: data that lacks one is not complete */
	DISK_HALTED,  /* the disk failed: the ledger stays halted over restarts */
};

/* Sets a mark durably. False: it could not be written (logged). */
bool disk_mark_set(const char *state, enum disk_mark mark);
void disk_mark_clear(const char *state, enum disk_mark mark);
bool disk_mark_is_set(const char *state, enum disk_mark mark);

/* The mark's file. */
void disk_mark_path(char path[PATH_MAX], const char *state, enum disk_mark mark);

/*
 * Makes the system forget what it holds in memory of the files in @directory, so that they are
 * read from the disk: after a failed write the memory may hold what the disk does not.
 */
void disk_forget_cached(const char *directory);

#endif

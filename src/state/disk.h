/*
 * disk - the free space of the state directory, and the ballast.
 *
 * Recovery needs space. The ballast is a file that is deleted when a start fails for lack of
 * space.
 */
#ifndef STATE_DISK_H
#define STATE_DISK_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the bytes that the caller may still write below @path; UINT64_MAX if unknown. */
uint64_t disk_free_bytes(const char *path);

/*
 * Creates the ballast of @bytes in the state directory, unless it is already complete. Creates
 * none if less than twice @low_water_bytes would stay free. @bytes 0: no ballast.
 */
void disk_ballast_make(const char *state, uint64_t bytes, uint64_t low_water_bytes);

/* Deletes the ballast. Returns false if there is none. */
bool disk_ballast_drop(const char *state);

/* Marker files in the state directory. For the mark of a halt see halt.h. */
enum disk_mark {
	DISK_CREATED, /* the tables were made: data that lacks one is not complete */
	DISK_HALTED,  /* the disk failed: the ledger stays halted over restarts */
};

/* Durably sets a mark. Returns false if it cannot be written; the failure is logged. */
bool disk_mark_set(const char *state, enum disk_mark mark);
void disk_mark_clear(const char *state, enum disk_mark mark);
bool disk_mark_is_set(const char *state, enum disk_mark mark);

/* Writes the path of the mark's file to @path. */
void disk_mark_path(char path[PATH_MAX], const char *state, enum disk_mark mark);

/*
 * Drops the files in @directory from the page cache, so that they are read from the disk. After a
 * failed write the cache may hold data that the disk does not.
 */
void disk_forget_cached(const char *directory);

#endif

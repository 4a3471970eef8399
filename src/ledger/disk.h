/*
 * disk - how much space the state has left, and the ballast.
 *
 * Recovery needs space. The ballast is a file that is deleted when a start fails for want of it.
 */
#ifndef LEDGER_DISK_H
#define LEDGER_DISK_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes that the caller may still write below @path. UINT64_MAX when that cannot be told. */
uint64_t disk_free_bytes(const char *path);

/* Makes the ballast of @bytes in the state directory, if it is not there and leaves room. */
void disk_ballast_make(const char *state, uint64_t bytes, uint64_t low_water_bytes);

/* Deletes the ballast. False: there is none. */
bool disk_ballast_drop(const char *state);

/* The marker that the disk failed: the ledger stays halted over restarts. */
void disk_halt_mark(const char *state);
void disk_halt_clear(const char *state);
bool disk_halt_marked(const char *state);

#endif

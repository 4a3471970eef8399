/*
 * served - what this host has served, in the file `served` of the state directory.
 *
 * The cell's turn only grows. If the servers have less than a host has served, they lack batches that were
 * acknowledged: a standby without them was promoted, or an older backup was restored. The file is written
 * after each batch, without waiting for the disk: after a power cut it may be older than what was served.
 */
#ifndef STORE_PG_SERVED_H
#define STORE_PG_SERVED_H

#include "base/status.h"
#include "store/pg/cell.h"

struct served {
	int fd; /* -1: nothing is remembered */
};

/* Opens the file below @directory, and makes it if need be. NULL: nothing is remembered. */
enum status served_open(struct served *served, const char *directory, char *why, size_t why_size);
void served_close(struct served *served);

/*
 * Compares what the servers have with what this host served. STATUS_CORRUPT, with the remedy in @why: they
 * have less. A file that cannot be read counts as none, with a warning in the log.
 */
enum status served_check(const struct served *served, int64_t epoch, int64_t turn, char *why,
	size_t why_size);

/* Remembers that the batch which raised the turn to that of @cell is answered. */
void served_note(const struct served *served, const struct cell *cell);

#endif

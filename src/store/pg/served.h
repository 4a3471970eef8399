/*
 * served - the newest batch that was answered, as far as this host knows, in the file `served` of the state
 * directory.
 *
 * The cell's turn only grows. If the server that takes writes has less than was answered, it lacks batches: a
 * standby without them was promoted, or an older backup was restored. The active ledger notes each batch. The
 * others note what they see in the cell: a turn there means that the batch before it was answered, if both
 * are of one epoch, for a ledger begins a batch only when the one before is saved. So every host knows a
 * wrong promotion. The file is written without waiting for the disk: after a power cut it may be older.
 */
#ifndef STORE_PG_SERVED_H
#define STORE_PG_SERVED_H

#include "base/status.h"
#include "store/pg/cell.h"

struct served {
	int fd; /* -1: nothing is remembered */
};

/*
 * Opens the file below @directory. NULL: nothing is remembered. @writes: makes it if need be; otherwise
 * served_note() must not be called.
 */
enum status served_open(struct served *served, const char *directory, bool writes, char *why,
	size_t why_size);
void served_close(struct served *served);

/* Reads epoch and turn into @mark, which is 0 if there is no mark. One that cannot be read counts as none, with a warning. */
void served_read(const struct served *served, struct cell *mark);
/* Returns whether a server with this epoch and turn lacks a batch that @mark includes. */
bool served_lacks(const struct cell *mark, int64_t epoch, int64_t turn);

/*
 * Compares the server that takes writes with the mark. STATUS_CORRUPT, with the remedy in @why: it has less,
 * and so have all others that answer. STATUS_BUSY, with the name of the server in @why: another one has what is missing.
 */
enum status served_check(const struct served *served, const struct pg_options *options,
	int64_t epoch, int64_t turn, char *why, size_t why_size);

/* Remembers that the batch which raised the turn to that of @cell is answered. */
void served_note(const struct served *served, const struct cell *cell);
/* As served_note(), for the result of a look after an earlier one. A newer mark is not changed. */
void served_note_seen(const struct served *served, const struct store_cell *before,
	const struct store_cell *now);

#endif

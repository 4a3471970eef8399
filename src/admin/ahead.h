/*
 * ahead - reads the rows that a list is going to fetch, many with one command in place of one each.
 *
 * Open an ahead, name the rows with ahead_want(), and read them with ahead_read(). Until ahead_close(), list_fetch()
 * of the session takes these rows from memory, as they were when they were read. It asks the ledger for all others.
 */
#ifndef ADMIN_AHEAD_H
#define ADMIN_AHEAD_H

#include "admin/session.h"
#include "base/buffer.h"

/* Rows of one part of a list, each of which may need a few others. */
#define AHEAD_PART 64
#define AHEAD_MAX  (AHEAD_PART * 4)

struct ahead_row {
	enum record record;
	uint32_t key_at; /* in ahead->keys */
	uint32_t key_len;
	uint32_t row_at;  /* in ahead->rows */
	uint32_t row_len; /* 0: there is no such row */
};

struct ahead {
	struct session *session;
	struct buffer keys;
	struct buffer rows;
	unsigned int count;
	struct ahead_row wanted[AHEAD_MAX];
};

/* Makes @ahead the session's, which has none. */
void ahead_open(struct ahead *ahead, struct session *session);
/* Allocates an ahead and opens it. NULL: memory is exhausted. */
struct ahead *ahead_new(struct session *session);

/*
 * Remembers the row of @record whose key fields are set in @row. Ignores rows that are remembered already, and those
 * above AHEAD_MAX.
 */
void ahead_want(struct ahead *ahead, enum record record, const void *row);

/* Reads all rows that were remembered. */
enum outcome ahead_read(struct ahead *ahead);

/*
 * Sets *found and, if there is one, fills @row from memory, without its JSON and bytes. Returns false if the row whose
 * key fields are set in @row was not read.
 */
bool ahead_find(const struct ahead *ahead, enum record record, void *row, bool *found);

void ahead_close(struct ahead *ahead);
/* Closes and frees what ahead_new() made. */
void ahead_free(struct ahead *ahead);

#endif

/*
 * list - walks rows of the ledger page by page, and fetches single rows.
 *
 * A page is a copy, so other commands may be sent during a walk.
 */
#ifndef ADMIN_LIST_H
#define ADMIN_LIST_H

#include "admin/session.h"
#include "base/buffer.h"

struct list {
	struct session *session;
	enum record record;
	bool reverse;
	uint32_t page; /* rows to request at a time; 0: the maximum */
	bool own;      /* of the audit, only the caller's own rows */
	/* Of the callbacks, only those of this dealer that are parked or held; NULL: all. */
	const char *aside_of;
	/* Of the transactions and callbacks, only those of this dealer; NULL: of each. */
	const char *casino_id;
	bool started;
	bool more;      /* another page follows */
	uint64_t as_of; /* the page's point in time: last_transaction_id */
	uint64_t taken; /* rows returned by list_next() */
	/* With @own or @casino_id: rows that the ledger looked at so far, and the time of the last one. */
	uint64_t looked;
	int64_t looked_ms;
	enum outcome code; /* why list_next() returned false; OUTCOME_DONE: no row is left */
	struct buffer prefix;
	struct buffer here;   /* the cursor with which this page was requested */
	struct buffer cursor; /* of the next page */
	struct buffer rows;
	struct bytes rest; /* rows not yet returned */
};

/*
 * Walks the rows of @record whose first @key_count key fields equal those of @key (0: all rows),
 * in the order of their keys, or backwards with @reverse. Call list_end() in any case.
 */
void list_open(struct list *list, struct session *session, enum record record, bool reverse,
	unsigned int key_count, const void *key);
/*
 * Narrows the walk to rows whose next key field, a string, begins with @text. Call it before the first list_next(), after
 * list_open() with the key fields before that one.
 */
void list_beginning(struct list *list, const char *text);
/*
 * Starts the walk after the key of @row, whether or not that row exists. Call it before the first
 * list_next().
 */
void list_behind(struct list *list, const void *row);
/*
 * Returns the next row in @row. Its JSON and bytes point into the page and are valid until the
 * next call. Returns false if no row is left, or after a failure, which was reported
 * (list->code).
 */
bool list_next(struct list *list, void *row);
/*
 * For lists with @own or @casino_id, after list_next() returned false. Returns true if the list has
 * not ended: the ledger looked at its limit of rows, and none of them matched the list's filter.
 * The key fields of @row are then those of the last row that it looked at. The next list_next()
 * looks at further rows.
 */
bool list_goes_on(const struct list *list, void *row);
void list_close(struct list *list);
/* Closes the list. Returns @code, or list->code if @code is OUTCOME_DONE. */
enum outcome list_end(struct list *list, enum outcome code);

/*
 * Fetches the row whose key fields are set in @row, from memory if it was read ahead (admin/ahead.h). *found is set to whether it exists; *as_of,
 * unless @as_of is NULL, to its point in time. list_fetch() omits the row's JSON and bytes.
 * list_fetch_bytes() stores them in @bytes, which the caller frees in any case.
 */
enum outcome list_fetch(struct session *session, enum record record, void *row, bool *found,
	uint64_t *as_of);
enum outcome list_fetch_bytes(struct session *session, enum record record, void *row, bool *found,
	struct buffer *bytes);

#endif

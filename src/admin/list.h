/*
 * list - walks rows of the ledger page by page, and fetches single rows.
 *
 * A page is a copy: other commands may be asked while it is walked.
 */
#ifndef ADMIN_LIST_H
#define ADMIN_LIST_H

#include "admin/session.h"
#include "base/buffer.h"

struct list {
	struct session *session;
	enum record record;
	bool reverse;
	uint32_t page;        /* rows to ask for at a time; 0: as many as there may be */
	bool started;
	bool more;            /* there is a page behind this one */
	uint64_t as_of;       /* the page's point in time: last_transaction_id */
	uint64_t taken;       /* rows, by list_next() */
	enum outcome code;   /* why list_next() ended; OUTCOME_DONE: there are no more rows */
	struct buffer prefix;
	struct buffer here;   /* cursor that this page was asked with */
	struct buffer cursor; /* of the next page */
	struct buffer rows;
	struct bytes rest;    /* rows not yet taken */
};

/*
 * Walks the rows of @record whose first @key_count key fields equal those of @key (0: all), in the
 * order of their keys or, with @reverse, against it. To be closed in any case.
 */
void list_open(struct list *list, struct session *session, enum record record, bool reverse,
	unsigned int key_count, const void *key);
/*
 * Begins behind the row with the key of @row, be it there or not, instead of with the first one. To
 * be called before the first list_next().
 */
void list_behind(struct list *list, const void *row);
/*
 * Takes the next row; its JSON and bytes stand in the page, until the next one is asked for. False:
 * none left, or a failure that was reported (list->code).
 */
bool list_next(struct list *list, void *row);
void list_close(struct list *list);
/* Closes the list, and returns why the walk ended: @code, or if that is OUTCOME_DONE list->code. */
enum outcome list_end(struct list *list, enum outcome code);

/*
 * Fetches the row whose key fields are set in @row. *found tells whether there is one; @as_of, if
 * not NULL, its point in time. Its JSON and bytes are left out; list_fetch_bytes() keeps them, in
 * @bytes, which the caller frees in any case.
 */
enum outcome list_fetch(struct session *session, enum record record, void *row, bool *found,
	uint64_t *as_of);
enum outcome list_fetch_bytes(struct session *session, enum record record, void *row, bool *found,
	struct buffer *bytes);

#endif

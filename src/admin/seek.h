/*
 * seek - finds where a time begins in rows that are numbered in the order of their creation:
 * transactions and callbacks.
 *
 * The numbers grow with time, so a binary search finds a day: it reads about 30 rows. Numbers may
 * be missing (1,000,000,000 of them after an import). If the clock was set, a row's time can be
 * earlier or later than its neighbours'. Walks therefore include the rows up to SEEK_SLACK_MS
 * before the range and after it. A clock that was wrong by a day in either direction hides no
 * row. One that was wrong by more can hide rows of that time.
 */
#ifndef ADMIN_SEEK_H
#define ADMIN_SEEK_H

#include "admin/session.h"

#define SEEK_SLACK_MS INT64_C(176400000) /* 49 hours */

/* A row of one of these kinds. */
union seek_row {
	struct transaction transaction;
	struct callback callback;
};

/*
 * Return the number and the time of @row, which is of kind RECORD_TRANSACTION or RECORD_CALLBACK.
 */
uint64_t seek_number(enum record record, const union seek_row *row);
int64_t seek_time(enum record record, const union seek_row *row);

/* Sets the key of @row to @number. */
void seek_key(enum record record, uint64_t number, union seek_row *row);

/*
 * Sets *before to a number after which a walk meets every row of @time_ms and later. Sets *last
 * to the number of the current last row. A walk that stops there ends even while rows are being
 * added. Both are 0 if there is no row.
 */
enum outcome seek_begin(struct session *session, enum record record, int64_t time_ms,
	uint64_t *before, uint64_t *last);

/*
 * Sets *before to the number of the last row before @time_ms, or to one between that and the next row; 0: there is no row.
 * Without the slack of seek_begin(): if the clock was set back, rows with a higher number may be before @time_ms, too.
 */
enum outcome seek_before(struct session *session, enum record record, int64_t time_ms,
	uint64_t *before);

/* Calls @visit for every row from @from_ms until before @until_ms, until it returns a failure. */
enum outcome seek_walk(struct session *session, enum record record, int64_t from_ms,
	int64_t until_ms, enum outcome (*visit)(void *closure, const union seek_row *row),
	void *closure);

#endif

/*
 * seek - where a time begins among rows that are numbered as they are made: transactions and
 * callbacks.
 *
 * Their numbers grow with time, so that a day is found by halving: some fifty rows are read, not
 * all before it. Numbers may be missing (after an import there are a thousand million). A clock
 * that was set makes a row look earlier or later than it is: rows up to SEEK_SLACK_MS before are
 * looked through for that, and so much behind. So a clock that was wrong by a day, either way, hides
 * nothing; one that was wrong by more does, where it was.
 */
#ifndef ADMIN_SEEK_H
#define ADMIN_SEEK_H

#include "admin/session.h"

#define SEEK_SLACK_MS INT64_C(176400000) /* 49 hours */

/* A row of a kind that is numbered so. */
union seek_row {
	struct transaction transaction;
	struct callback callback;
};

/* The number and the time of @row, of kind RECORD_TRANSACTION or RECORD_CALLBACK. */
uint64_t seek_number(enum record record, const union seek_row *row);
int64_t seek_time(enum record record, const union seek_row *row);

/* Fills @row with a number, as a key. */
void seek_key(enum record record, uint64_t number, union seek_row *row);

/*
 * Tells in *before a number such that a walk that begins behind it meets every row of @time_ms and
 * later; in *last that of the last row there is now: a walk that ends there ends, however fast rows
 * are made meanwhile. 0 and 0: there is no row.
 */
enum outcome seek_begin(struct session *session, enum record record, int64_t time_ms, uint64_t *before,
	uint64_t *last);

#endif

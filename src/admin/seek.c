#include "admin/seek.h"

#include "admin/list.h"

#include <string.h>

/*
 * Numbers jump to the clock at each start of the ledger (ledger/rows/life.h). A jump above this is passed with one read, so
 * that the reads grow with the rows and not with the years.
 */
#define GAP_LEAST 1024

uint64_t seek_number(enum record record, const union seek_row *row)
{
	return record == RECORD_CALLBACK ? row->callback.event : row->transaction.transaction_id;
}

int64_t seek_time(enum record record, const union seek_row *row)
{
	return record == RECORD_CALLBACK ? row->callback.created_ms : row->transaction.time_ms;
}

void seek_key(enum record record, uint64_t number, union seek_row *row)
{
	memset(row, 0, sizeof(*row));
	if (record == RECORD_CALLBACK)
		row->callback.event = number;
	else
		row->transaction.transaction_id = number;
}

/* Fetches the first row after @number; if @number is NULL, the last row. */
static enum outcome fetch_first(struct session *session, enum record record, const uint64_t *number,
	union seek_row *row, bool *found)
{
	struct list list;

	list_open(&list, session, record, !number, 0, NULL);
	list.page = 1;
	if (number) {
		seek_key(record, *number, row);
		list_behind(&list, row);
	}
	*found = list_next(&list, row);
	return list_end(&list, OUTCOME_DONE);
}

/* Lowers *late to the number of the last row up to it, or to @early if there is none after @early. */
static enum outcome skip_gap(struct session *session, enum record record, uint64_t early,
	uint64_t *late)
{
	union seek_row row;
	struct list list;
	bool found;

	list_open(&list, session, record, true, 0, NULL);
	list.page = 1;
	seek_key(record, *late + 1, &row);
	list_behind(&list, &row);
	found = list_next(&list, &row);
	*late = found && seek_number(record, &row) > early ? seek_number(record, &row) : early;
	return list_end(&list, OUTCOME_DONE);
}

/*
 * Sets *before to the number of the last row that is before @time_ms, or to a number between that and the next row. Sets
 * *last to the number of the current last row. Both are 0 if there is no row.
 */
static enum outcome find_time(struct session *session, enum record record, int64_t time_ms,
	uint64_t *before, uint64_t *last)
{
	/*
	 * Rows up to @early are too early. A row after @late is not too early, if there is one.
	 */
	uint64_t early = 0, late, middle;
	union seek_row row;
	bool found, gap;
	enum outcome code = fetch_first(session, record, NULL, &row, &found);

	*before = *last = late = found ? seek_number(record, &row) : 0;
	/* Ids of an incarnation begin far above 0 (ledger/rows/life.h). */
	if (code == OUTCOME_DONE && late)
		code = fetch_first(session, record, &early, &row, &found);
	if (code == OUTCOME_DONE && late && found)
		early = seek_number(record, &row) - 1;
	while (code == OUTCOME_DONE && early < late) {
		middle = early + (late - early) / 2;
		code = fetch_first(session, record, &middle, &row, &found);
		if (code != OUTCOME_DONE)
			break;
		if (found && seek_number(record, &row) <= late &&
			seek_time(record, &row) < time_ms) {
			early = seek_number(record, &row);
			continue;
		}
		gap = !found || seek_number(record, &row) - middle > GAP_LEAST;
		late = middle;
		if (gap)
			code = skip_gap(session, record, early, &late);
	}
	*before = late;
	return code;
}

enum outcome seek_begin(struct session *session, enum record record, int64_t time_ms,
	uint64_t *before, uint64_t *last)
{
	return find_time(session, record, time_ms - SEEK_SLACK_MS, before, last);
}

enum outcome seek_before(struct session *session, enum record record, int64_t time_ms,
	uint64_t *before)
{
	uint64_t last;

	return find_time(session, record, time_ms, before, &last);
}

enum outcome seek_walk(struct session *session, enum record record, int64_t from_ms,
	int64_t until_ms, enum outcome (*visit)(void *closure, const union seek_row *row),
	void *closure)
{
	union seek_row row;
	struct list list;
	uint64_t before, last;
	int64_t time_ms;
	enum outcome code = seek_begin(session, record, from_ms, &before, &last);

	if (code != OUTCOME_DONE)
		return code;
	list_open(&list, session, record, false, 0, NULL);
	seek_key(record, before, &row);
	list_behind(&list, &row);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		time_ms = seek_time(record, &row);
		if (seek_number(record, &row) > last || time_ms >= until_ms + SEEK_SLACK_MS)
			break;
		if (time_ms >= from_ms && time_ms < until_ms)
			code = visit(closure, &row);
	}
	return list_end(&list, code);
}

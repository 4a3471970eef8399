#include "admin/days.h"

#include "admin/ahead.h"
#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

const struct field day_row_fields[] = {
	FIELD(FIELD_STR, day_row, casino_id),
	FIELD(FIELD_STR, day_row, currency),
	FIELD(FIELD_STR, day_row, date),
	FIELD(FIELD_BOOL, day_row, complete),
	FIELD(FIELD_BOOL, day_row, over),
	FIELD(FIELD_U64, day_row, transfers_in),
	FIELD(FIELD_SUM, day_row, transferred_in),
	FIELD(FIELD_U64, day_row, transfers_out),
	FIELD(FIELD_SUM, day_row, transferred_out),
	FIELD(FIELD_U64, day_row, adjustments),
	FIELD(FIELD_SUM, day_row, adjusted),
	FIELD(FIELD_U64, day_row, bets),
	FIELD(FIELD_SUM, day_row, staked),
	FIELD(FIELD_U64, day_row, payouts),
	FIELD(FIELD_SUM, day_row, paid),
	FIELD(FIELD_U64, day_row, corrections),
	FIELD(FIELD_SUM, day_row, corrected),
	FIELD(FIELD_U64, day_row, bets_refunded),
	FIELD(FIELD_SUM, day_row, refunded),
	FIELD(FIELD_U64, day_row, bets_rejected),
	FIELD(FIELD_SUM, day_row, rejected),
	FIELD(FIELD_U64, day_row, cancellations),
	FIELD(FIELD_SUM, day_row, cancelled),
	FIELD(FIELD_SUM, day_row, profit),
	FIELD(FIELD_U64, day_row, callbacks),
	FIELD(FIELD_U64, day_row, callbacks_success),
	FIELD(FIELD_U64, day_row, callbacks_refused),
	FIELD(FIELD_U64, day_row, callbacks_unknown),
	FIELD(FIELD_U64, day_row, callbacks_not_sent),
	FIELD(FIELD_U64, day_row, callbacks_waiting),
	FIELD_END,
};

uint32_t days_today(const struct dealer *dealer, int64_t now_ms)
{
	return statistics_day(now_ms, dealer->utc_offset_min);
}

static void fill_row(struct day_row *row, const struct dealer_day *day)
{
	struct day_report report;

	dealer_day_report(day, &report);
	row->transfers_in = day->transferred_in.count;
	row->transferred_in = day->transferred_in.amount;
	row->transfers_out = day->transferred_out.count;
	row->transferred_out = day->transferred_out.amount;
	row->adjustments = day->adjusted.count;
	row->adjusted = day->adjusted.amount;
	row->bets = report.bets.count;
	row->staked = report.staked.amount;
	row->payouts = day->paid.count;
	row->paid = day->paid.amount;
	row->corrections = day->corrected.count;
	row->corrected = day->corrected.amount;
	row->bets_refunded = report.refunded.count;
	row->refunded = report.refunded.amount;
	row->bets_rejected = day->rejected.count;
	row->rejected = day->rejected.amount;
	row->cancellations = day->cancelled.count;
	row->cancelled = day->cancelled.amount;
	row->profit = report.profit;
	row->callbacks = report.callbacks;
	row->callbacks_success = day->callbacks_success;
	row->callbacks_refused = day->callbacks_refused;
	row->callbacks_unknown = day->callbacks_unknown;
	row->callbacks_not_sent = day->callbacks_not_sent;
	row->callbacks_waiting = day->callbacks_waiting;
}

/* Makes the rows of days without any row. */
static void clear_rows(const struct dealer *dealer, uint32_t first, uint32_t count, int64_t now_ms,
	struct day_row *rows)
{
	const uint32_t complete_from = dealer_day_first(dealer);
	const uint32_t today = days_today(dealer, now_ms);

	memset(rows, 0, count * sizeof(*rows));
	for (uint32_t i = 0; i < count; i++) {
		memcpy(rows[i].casino_id, dealer->casino_id, sizeof(rows[i].casino_id));
		memcpy(rows[i].currency, dealer->currency, sizeof(rows[i].currency));
		rows[i].number = first + i;
		statistics_date(first + i, rows[i].date);
		rows[i].complete = first + i >= complete_from;
		rows[i].over = first + i < today;
	}
}

enum outcome days_read(struct session *session, const struct dealer *dealer, uint32_t first,
	uint32_t count, int64_t now_ms, struct day_row *rows)
{
	struct dealer_day day;
	struct list list;

	clear_rows(dealer, first, count, now_ms, rows);
	if (!count)
		return OUTCOME_DONE;
	memset(&day, 0, sizeof(day));
	memcpy(day.casino_id, dealer->casino_id, sizeof(day.casino_id));
	list_open(&list, session, RECORD_DEALER_DAY, false, 1, &day);
	list.page = count < 64 ? count : 0;
	day.number = first - 1;
	if (first)
		list_behind(&list, &day);
	while (list_next(&list, &day) && day.number < first + count)
		fill_row(&rows[day.number - first], &day);
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome read_dealers(struct session *session, const char *const *ids, uint32_t count,
	struct dealer *dealers)
{
	struct ahead *ahead = ahead_new(session);
	enum outcome code;

	if (!ahead)
		return session_no_memory(session);
	for (uint32_t i = 0; i < count; i++) {
		struct dealer key = {.casino_id = ""};

		text_copy(key.casino_id, sizeof(key.casino_id), ids[i]);
		ahead_want(ahead, RECORD_DEALER, &key);
	}
	code = ahead_read(ahead);
	for (uint32_t i = 0; i < count && code == OUTCOME_DONE; i++)
		code = names_dealer(session, ids[i], &dealers[i]);
	ahead_free(ahead);
	return code;
}

static void set_day_key(struct dealer_day *day, const struct day_row *row)
{
	memset(day, 0, sizeof(*day));
	memcpy(day->casino_id, row->casino_id, sizeof(day->casino_id));
	day->number = row->number;
}

/* Reads the days of @rows, which clear_rows() made. */
static enum outcome read_rows(struct session *session, uint32_t count, struct day_row *rows)
{
	struct ahead *ahead = ahead_new(session);
	struct dealer_day day;
	enum outcome code;
	bool found;

	if (!ahead)
		return session_no_memory(session);
	for (uint32_t i = 0; i < count; i++) {
		set_day_key(&day, &rows[i]);
		ahead_want(ahead, RECORD_DEALER_DAY, &day);
	}
	code = ahead_read(ahead);
	for (uint32_t i = 0; i < count && code == OUTCOME_DONE; i++) {
		set_day_key(&day, &rows[i]);
		code = list_fetch(session, RECORD_DEALER_DAY, &day, &found, NULL);
		if (code == OUTCOME_DONE && found)
			fill_row(&rows[i], &day);
	}
	ahead_free(ahead);
	return code;
}

enum outcome days_last(struct session *session, const char *const *ids, uint32_t count,
	uint32_t days, int64_t now_ms, struct day_row *rows)
{
	struct dealer *dealers = calloc(count, sizeof(*dealers));
	enum outcome code;

	if (!dealers)
		return session_no_memory(session);
	code = read_dealers(session, ids, count, dealers);
	for (uint32_t i = 0; i < count && code == OUTCOME_DONE; i++)
		clear_rows(&dealers[i], days_today(&dealers[i], now_ms) - days + 1, days, now_ms,
			&rows[i * days]);
	free(dealers);
	return code == OUTCOME_DONE ? read_rows(session, count * days, rows) : code;
}

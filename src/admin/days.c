#include "admin/days.h"

#include "admin/list.h"

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

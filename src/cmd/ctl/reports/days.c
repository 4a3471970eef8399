/*
 * days - implements `report days`: lists the sums of a dealer's days.
 */
#include "admin/days.h"

#include "admin/names.h"
#include "base/clock.h"
#include "base/zone.h"
#include "cmd/ctl/common/output.h"

#include <stdlib.h>

/* The days without --since. */
#define DAYS_USUAL 30

static const struct output_column days_columns[] = {
	{"DAY", "date", OUTPUT_PLAIN},
	{"IN", "transfers_in", OUTPUT_PLAIN},
	{"AMOUNT IN", "transferred_in", OUTPUT_PLAIN},
	{"OUT", "transfers_out", OUTPUT_PLAIN},
	{"AMOUNT OUT", "transferred_out", OUTPUT_PLAIN},
	{"BETS", "bets", OUTPUT_PLAIN},
	{"STAKED", "staked", OUTPUT_PLAIN},
	{"PAID", "paid", OUTPUT_PLAIN},
	{"CORRECTED", "corrected", OUTPUT_PLAIN},
	{"REFUNDED", "refunded", OUTPUT_PLAIN},
	{"REJECTED", "rejected", OUTPUT_PLAIN},
	{"PROFIT", "profit", OUTPUT_PLAIN},
	{"CALLBACKS", "callbacks", OUTPUT_PLAIN},
	{"SUCCESS", "callbacks_success", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Reads the day on which the time of @option falls, in the dealer's utc_offset. */
static enum outcome read_number(struct ctl *ctl, enum ctl_option option,
	const struct dealer *dealer, int64_t now_ms, uint32_t *number)
{
	const struct zone zone = zone_offset(dealer->utc_offset_min);
	const char *text = ctl->options[option];
	int64_t time_ms;

	if (!text)
		return OUTCOME_DONE;
	if (!zone_read(&zone, text, now_ms, false, &time_ms) || time_ms < 0)
		return ctl_usage(ctl, "'%s' is no day; give " ZONE_FORMS, text);
	*number = statistics_day(time_ms, dealer->utc_offset_min);
	return OUTCOME_DONE;
}

/* Warns about days whose sums lack rows. */
static void warn_incomplete(const struct dealer *dealer, uint32_t first)
{
	const uint32_t begin = dealer_day_first(dealer);
	char date[DATE_SIZE];

	if (first >= begin)
		return;
	statistics_date(begin, date);
	ctl_tell(NULL,
		"warning: the sums of %s begin on %s, because it was upgraded or its utc_offset was "
		"changed on the day before; earlier days are not complete: see `creditbridgectl recon`",
		dealer->casino_id, date);
}

static enum outcome print_days(struct ctl *ctl, const struct dealer *dealer, uint32_t first,
	uint32_t count, int64_t now_ms)
{
	struct day_row *rows = calloc(count, sizeof(*rows));
	struct output_list list;
	enum outcome code;

	if (!rows)
		return ctl_no_memory(ctl);
	code = days_read(&ctl->session, dealer, first, count, now_ms, rows);
	if (code == OUTCOME_DONE)
		warn_incomplete(dealer, first);
	output_list_open(&list, ctl, "days", "days", day_row_fields, days_columns);
	for (uint32_t i = 0; code == OUTCOME_DONE && i < count; i++)
		output_list_add(&list, &rows[i]);
	code = output_list_close(&list, code);
	free(rows);
	return code;
}

enum outcome ctl_report_days(struct ctl *ctl)
{
	const int64_t now_ms = clock_wall_ms();
	struct dealer dealer;
	uint32_t first, last;
	enum outcome code = names_dealer(&ctl->session, ctl->args[0], &dealer);

	if (code != OUTCOME_DONE)
		return code;
	last = days_today(&dealer, now_ms);
	code = read_number(ctl, OPTION_UNTIL, &dealer, now_ms, &last);
	first = last < DAYS_USUAL ? 0 : last - DAYS_USUAL + 1;
	if (code == OUTCOME_DONE)
		code = read_number(ctl, OPTION_SINCE, &dealer, now_ms, &first);
	if (code != OUTCOME_DONE)
		return code;
	if (first > last || last - first >= DAYS_MAX)
		return ctl_usage(ctl, "--since must be at most %d days before --until",
			DAYS_MAX - 1);
	return print_days(ctl, &dealer, first, last - first + 1, now_ms);
}

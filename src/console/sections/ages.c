#include "console/sections/ages.h"

#include "base/text.h"
#include "console/common/leads.h"
#include "console/common/view.h"
#include "domain/delivery.h"
#include "link/metrics_commands.h"

#include <stdio.h>
#include <string.h>

/* The waiting callbacks of a dealer in one state. */
struct age_row {
	char casino_id[CASINO_ID_SIZE]; /* "": of all dealers */
	char dealer[CASINO_ID_SIZE + 4];
	char state[16];
	uint64_t ages[CALLBACK_AGES];
	char all[VIEW_COUNT_SIZE + 1]; /* "10,000+": there are more than were counted */
};

static const struct field age_fields[] = {
	FIELD(FIELD_STR, age_row, casino_id),
	FIELD(FIELD_STR, age_row, dealer),
	FIELD(FIELD_STR, age_row, state),
	FIELD_AS("minute", FIELD_U64, age_row, ages[0]),
	FIELD_AS("ten_minutes", FIELD_U64, age_row, ages[1]),
	FIELD_AS("hour", FIELD_U64, age_row, ages[2]),
	FIELD_AS("day", FIELD_U64, age_row, ages[3]),
	FIELD_AS("older", FIELD_U64, age_row, ages[4]),
	FIELD(FIELD_STR, age_row, all),
	FIELD_END,
};
_Static_assert(CALLBACK_AGES == 5, "a column for each age");

static void lead_to_waiting(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	const char *casino_id = view_source_text(source, "casino_id");

	*to = page_address(page, "/callbacks");
	if (casino_id[0])
		address_add(to, "casino", casino_id);
	address_add(to, "state", view_source_text(source, "state"));
}

static const struct view_column age_columns[] = {
	{"Dealer", "dealer", VIEW_PLAIN, NULL},
	{"State", "state", VIEW_STATE, lead_to_waiting},
	{"< 1 min", "minute", VIEW_COUNT, NULL},
	{"< 10 min", "ten_minutes", VIEW_COUNT, NULL},
	{"< 1 h", "hour", VIEW_COUNT, NULL},
	{"< 1 d", "day", VIEW_COUNT, NULL},
	{"Older", "older", VIEW_COUNT, NULL},
	{"All", "all", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* What is added up over the pages of an answer. */
struct age_sums {
	uint64_t counts[CALLBACK_STATE_COUNT][CALLBACK_AGES];
	bool more[CALLBACK_STATE_COUNT];
};

static void add_result(struct age_sums *sums, struct callback_ages_result *result)
{
	for (unsigned int state = 0; state < CALLBACK_STATE_COUNT; state++) {
		for (unsigned int age = 0; age < CALLBACK_AGES; age++)
			sums->counts[state][age] += *callback_ages_count(result, state, age);
	}
	sums->more[CALLBACK_PARKED] = sums->more[CALLBACK_HELD] = result->more;
	if (result->due_left)
		sums->more[CALLBACK_DUE] = sums->more[CALLBACK_SENDING] = true;
}

static enum outcome read_sums(struct page *page, const char *casino_id, uint64_t rows,
	struct age_sums *sums)
{
	struct callback_ages_result result;
	struct callback_ages_cmd cmd;
	enum outcome code;

	memset(sums, 0, sizeof(*sums));
	memset(&cmd, 0, sizeof(cmd));
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), casino_id);
	do {
		cmd.limit = rows < CALLBACK_AGES_LOOK_MAX ? (uint32_t)rows : CALLBACK_AGES_LOOK_MAX;
		code = session_do(&page->desk.session, COMMAND_CALLBACK_AGES, &cmd, &result, NULL);
		if (code != OUTCOME_DONE)
			return code;
		add_result(sums, &result);
		rows -= result.looked < rows ? result.looked : rows;
		text_copy(cmd.after_casino_id, sizeof(cmd.after_casino_id), result.last_casino_id);
		cmd.after_event = result.last_event;
	} while (result.more && rows);
	return OUTCOME_DONE;
}

static void show_sums(struct view *view, const char *casino_id, const struct age_sums *sums)
{
	char count[VIEW_COUNT_SIZE];
	struct age_row row;
	uint64_t all;

	for (unsigned int state = 0; state < CALLBACK_STATE_COUNT; state++) {
		memset(&row, 0, sizeof(row));
		all = 0;
		for (unsigned int age = 0; age < CALLBACK_AGES; age++) {
			row.ages[age] = sums->counts[state][age];
			all += row.ages[age];
		}
		if (!all)
			continue;
		text_copy(row.casino_id, sizeof(row.casino_id), casino_id);
		text_copy(row.dealer, sizeof(row.dealer), casino_id[0] ? casino_id : "all");
		text_copy(row.state, sizeof(row.state), callback_state_names[state]);
		snprintf(row.all, sizeof(row.all), "%s%s", view_count(all, count),
			sums->more[state] ? "+" : "");
		view_row(view, &row);
	}
}

enum outcome ages_section(struct page *page, const char *const *ids, unsigned int count,
	uint64_t rows)
{
	struct view view = {.fields = age_fields};
	struct html *html = &page->html;
	struct age_sums sums;
	enum outcome code = OUTCOME_DONE;

	html_open(html, "section");
	html_element(html, "h2", "", "Callbacks that wait");
	view_begin(&view, page, "By their age, since they were made", age_columns);
	for (unsigned int i = 0; i < count && code == OUTCOME_DONE; i++) {
		code = read_sums(page, ids[i], rows, &sums);
		if (code == OUTCOME_DONE)
			show_sums(&view, ids[i], &sums);
	}
	view_end(&view, "No callback waits.");
	html_close(html);
	return code;
}

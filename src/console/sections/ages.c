#include "console/sections/ages.h"

#include "admin/breaker.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/common/view.h"
#include "console/sections/dealers.h"
#include "domain/delivery.h"
#include "link/metrics_commands.h"

#include <stdio.h>
#include <string.h>

/* Dealers whose sums are added up for all: eight commands of the ledger. */
#define SUM_DEALERS 1024
/* "10,000+": there are more than were counted. "": not counted. */
#define COUNT_SIZE (VIEW_COUNT_SIZE + 1)

/* The waiting callbacks of a dealer in one state. */
struct age_row {
	char casino_id[CASINO_ID_SIZE]; /* "": of all dealers */
	char dealer[CASINO_ID_SIZE + 4];
	char state[16];
	char ages[CALLBACK_AGES][COUNT_SIZE];
	char all[COUNT_SIZE];
};

static const struct field age_fields[] = {
	FIELD(FIELD_STR, age_row, casino_id),
	FIELD(FIELD_STR, age_row, dealer),
	FIELD(FIELD_STR, age_row, state),
	FIELD_AS("minute", FIELD_STR, age_row, ages[0]),
	FIELD_AS("ten_minutes", FIELD_STR, age_row, ages[1]),
	FIELD_AS("hour", FIELD_STR, age_row, ages[2]),
	FIELD_AS("day", FIELD_STR, age_row, ages[3]),
	FIELD_AS("older", FIELD_STR, age_row, ages[4]),
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
	{"< 1 min", "minute", VIEW_PLAIN, NULL},
	{"< 10 min", "ten_minutes", VIEW_PLAIN, NULL},
	{"< 1 h", "hour", VIEW_PLAIN, NULL},
	{"< 1 d", "day", VIEW_PLAIN, NULL},
	{"Older", "older", VIEW_PLAIN, NULL},
	{"All", "all", VIEW_PLAIN, NULL},
	VIEW_END,
};

static void add_result(struct ages_of *of, struct callback_ages_result *result)
{
	for (unsigned int state = 0; state < CALLBACK_STATE_COUNT; state++) {
		for (unsigned int age = 0; age < CALLBACK_AGES; age++)
			of->counts[state][age] += *callback_ages_count(result, state, age);
	}
	of->more = result->more;
	of->due_more |= result->due_left != 0;
	of->owed_players += result->owed_players;
	of->owed_more |= result->owed_more;
}

static enum outcome count_one(struct page *page, struct ages_of *of, uint64_t rows)
{
	struct callback_ages_result result;
	struct callback_ages_cmd cmd;
	enum outcome code;

	memset(&cmd, 0, sizeof(cmd));
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), of->casino_id);
	cmd.players = of->players;
	do {
		cmd.limit = rows < CALLBACK_AGES_LOOK_MAX ? (uint32_t)rows : CALLBACK_AGES_LOOK_MAX;
		code = session_do(&page->desk.session, COMMAND_CALLBACK_AGES, &cmd, &result, NULL);
		if (code != OUTCOME_DONE)
			return code;
		add_result(of, &result);
		cmd.players = false; /* A player may be in several pages: the first one counts. */
		rows -= result.looked < rows ? result.looked : rows;
		text_copy(cmd.after_casino_id, sizeof(cmd.after_casino_id), result.last_casino_id);
		cmd.after_event = result.last_event;
	} while (result.more && rows);
	return OUTCOME_DONE;
}

enum outcome ages_count(struct page *page, struct ages_of *of, unsigned int count, uint64_t rows)
{
	enum outcome code = OUTCOME_DONE;

	for (unsigned int i = 0; i < count && code == OUTCOME_DONE; i++)
		code = count_one(page, &of[i], rows);
	return code;
}

/*
 * Of one dealer's parked and held callbacks, the ledger counts the oldest first. So each age above the youngest one that was
 * counted is complete. Returns that youngest age; CALLBACK_AGES: no age is known to be complete.
 */
static unsigned int complete_above(const struct ages_of *of, enum callback_state state)
{
	unsigned int age = 0;

	if (!of->casino_id[0] || (state != CALLBACK_PARKED && state != CALLBACK_HELD))
		return CALLBACK_AGES;
	while (age < CALLBACK_AGES && !of->counts[CALLBACK_PARKED][age] &&
		!of->counts[CALLBACK_HELD][age])
		age++;
	return age;
}

static void write_count(char text[COUNT_SIZE], uint64_t count, bool more)
{
	char digits[VIEW_COUNT_SIZE];

	snprintf(text, COUNT_SIZE, "%s%s", view_count(count, digits), more ? "+" : "");
}

/* Shows the callbacks in one state. Returns false if they are more than were counted. */
static bool show_state(struct view *view, const struct ages_of *of, enum callback_state state)
{
	const bool left =
		state == CALLBACK_PARKED || state == CALLBACK_HELD ? of->more : of->due_more;
	const unsigned int bound = complete_above(of, state);
	struct age_row row;
	uint64_t counted = 0;
	bool more;

	memset(&row, 0, sizeof(row));
	for (unsigned int age = 0; age < CALLBACK_AGES; age++)
		counted += of->counts[state][age];
	more = left && (of->least || counted < of->all[state]);
	for (unsigned int age = 0; age < CALLBACK_AGES; age++) {
		const uint64_t count = of->counts[state][age];

		if (!more || age > bound)
			write_count(row.ages[age], count, false);
		else if (count)
			write_count(row.ages[age], count, true);
	}
	if (more && of->all[state] > counted)
		counted = of->all[state];
	if (!counted)
		return !more;
	text_copy(row.casino_id, sizeof(row.casino_id), of->casino_id);
	text_copy(row.dealer, sizeof(row.dealer), of->casino_id[0] ? of->casino_id : "all");
	text_copy(row.state, sizeof(row.state), callback_state_names[state]);
	write_count(row.all, counted, more && of->least);
	view_row(view, &row);
	return !more;
}

static bool show_sums(struct view *view, const struct ages_of *of)
{
	bool whole = true;

	for (unsigned int state = 0; state < CALLBACK_STATE_COUNT; state++)
		whole &= show_state(view, of, state);
	return whole;
}

/* Says which callbacks were counted, if not all were. */
static void write_bound(struct page *page, const char *casino_id, uint64_t rows)
{
	char count[VIEW_COUNT_SIZE], due[VIEW_COUNT_SIZE];
	struct html *html = &page->html;

	html_open(html, "p");
	html_attribute(html, "class", "note");
	html_printf(html,
		casino_id[0]
			? "The ages are those of the oldest %s parked and held callbacks of a dealer"
			: "The ages are those of the first %s parked and held callbacks, dealer by dealer "
			  "in the order of their ids",
		view_count(rows, count));
	html_printf(html,
		", and of up to %s that are due or being sent. + means that there may be more of this age; "
		"an empty field, that none of this age was counted.",
		view_count(CALLBACK_AGES_DUE_MAX, due));
	if (!casino_id[0])
		html_text(html, " With a dealer in the filter, its oldest ones are counted.");
	html_close(html);
}

void ages_take(struct ages_of *of, const struct dealer_metrics *dealer)
{
	of->all[CALLBACK_PARKED] += dealer->parked;
	of->all[CALLBACK_HELD] += dealer->held;
	of->all[CALLBACK_DUE] += dealer->due;
	of->all[CALLBACK_SENDING] += dealer->sending;
}

/* The sums of all dealers, of which the first SUM_DEALERS are added up. */
struct all_sums {
	struct ages_of of;
	unsigned int dealers;
};

static bool add_dealer(void *context, const struct dealer_metrics *dealer)
{
	struct all_sums *sums = context;

	sums->of.least = sums->dealers == SUM_DEALERS;
	if (sums->of.least)
		return false;
	sums->dealers++;
	ages_take(&sums->of, dealer);
	return true;
}

enum outcome ages_read_of(struct page *page, const char *casino_id, struct ages_of *of)
{
	struct all_sums sums;
	struct dealer_state_result result;
	enum outcome code;

	memset(&sums, 0, sizeof(sums));
	if (!casino_id[0]) {
		code = dealers_walk(page, "", NULL, add_dealer, &sums);
	} else {
		text_copy(sums.of.casino_id, sizeof(sums.of.casino_id), casino_id);
		code = breaker_fetch(&page->desk.session, casino_id, &result);
		if (code == OUTCOME_DONE)
			ages_take(&sums.of, &result.dealer);
		else if (strcmp(page->desk.session.failure.id, "dealer_not_found") == 0)
			code = OUTCOME_DONE;
	}
	*of = sums.of;
	return code;
}

void ages_section(struct page *page, const struct ages_of *of, unsigned int count, uint64_t rows,
	const char *which)
{
	struct view view = {.fields = age_fields};
	struct html *html = &page->html;
	bool whole = true;

	html_open(html, "section");
	html_element(html, "h2", "", "Callbacks that wait");
	view_begin(&view, page, "By their age, since they were made", age_columns);
	for (unsigned int i = 0; i < count; i++)
		whole &= show_sums(&view, &of[i]);
	view_end(&view, "No callback waits.");
	if (!whole)
		write_bound(page, of[0].casino_id, rows);
	if (which[0]) {
		const struct page_address to = page_address(page, "/callbacks");

		html_open(html, "p");
		html_attribute(html, "class", "note");
		html_printf(html, "%s ", which);
		page_link(page, &to, "Callbacks");
		html_close(html);
	}
	html_close(html);
}

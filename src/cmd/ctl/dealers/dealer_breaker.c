#include "cmd/ctl/dealers/dealer_breaker.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)

/* The state, and the last error. */
struct breaker_row {
	char casino_id[CASINO_ID_SIZE]; /* for the zone of the times */
	enum breaker state;
	int64_t since_ms; /* 0: the breaker has not opened since started_ms */
	int64_t next_ms;
	int64_t started_ms;
	uint32_t opened;
	char day[32]; /* openings in 24 hours: "at least 16" */
	int64_t error_ms;
	enum callback_class class;
	char outcome[16]; /* the class as text; "": there was no error */
	struct attempt attempt;
};

static const struct field breaker_fields[] = {
	FIELD_NAMED(breaker_row, state, breaker_names, BREAKER_COUNT),
	FIELD(FIELD_TIME_MS, breaker_row, since_ms),
	FIELD(FIELD_TIME_MS, breaker_row, next_ms),
	FIELD(FIELD_TIME_MS, breaker_row, started_ms),
	FIELD(FIELD_U32, breaker_row, opened),
	FIELD_END,
};
static const struct field error_fields[] = {
	FIELD_AS("time_ms", FIELD_TIME_MS, breaker_row, error_ms),
	FIELD_NAMED(breaker_row, class, callback_class_names, CALLBACK_CLASS_COUNT),
	FIELD_AS("http_status", FIELD_U32, breaker_row, attempt.http_status),
	FIELD_AS("note", FIELD_STR, breaker_row, attempt.note),
	FIELD_AS("event", FIELD_U64, breaker_row, attempt.event),
	FIELD_END,
};

/* What people see besides. */
static const struct field shown_more[] = {
	FIELD(FIELD_STR, breaker_row, casino_id),
	FIELD(FIELD_STR, breaker_row, day),
	FIELD(FIELD_TIME_MS, breaker_row, error_ms),
	FIELD(FIELD_STR, breaker_row, outcome),
	FIELD_AS("http_status", FIELD_U32, breaker_row, attempt.http_status),
	FIELD_AS("note", FIELD_STR, breaker_row, attempt.note),
	FIELD_AS("event", FIELD_U64, breaker_row, attempt.event),
	FIELD_END,
};
#define SHOWN_FIELDS 13
static const struct output_column breaker_columns[] = {
	{"state", "state", OUTPUT_PLAIN},
	{"since", "since_ms", OUTPUT_IF_ANY},
	{"next test call", "next_ms", OUTPUT_IF_ANY},
	{"engine started", "started_ms", OUTPUT_PLAIN},
	{"openings since then", "opened", OUTPUT_PLAIN},
	{"openings in 24 hours", "day", OUTPUT_PLAIN},
	{"last error", "error_ms", OUTPUT_IF_ANY},
	{"its outcome", "outcome", OUTPUT_IF_ANY},
	{"its HTTP status", "http_status", OUTPUT_IF_ANY},
	{"its note", "note", OUTPUT_IF_ANY},
	{"its callback", "event", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

struct opening_row {
	struct breaker_opening opening; /* must be first */
	char casino_id[CASINO_ID_SIZE];
};
static const struct field opening_more[] = {
	FIELD(FIELD_STR, opening_row, casino_id),
	FIELD_END,
};
static const struct output_column opening_columns[] = {
	{"OPENED", "opened_ms", OUTPUT_PLAIN},
	{"CLOSED", "closed_ms", OUTPUT_PLAIN},
	{"FAILED-TEST-CALLS", "tests", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};
#define OPENING_FIELDS 8

static void fill_row(const struct dealer_breaker *breaker, struct breaker_row *row)
{
	const struct dealer_state_result *state = &breaker->state;
	const struct breaker_opening *last = &state->openings[0];
	unsigned int opened;
	bool more;

	memset(row, 0, sizeof(*row));
	row->state = state->dealer.breaker;
	row->since_ms = row->state == BREAKER_CLOSED ? last->closed_ms : last->opened_ms;
	row->next_ms = state->next_ms;
	row->started_ms = state->started_ms;
	row->opened = state->opened;
	opened = breaker_openings_since(state, clock_wall_ms() - DAY_MS, &more);
	snprintf(row->day, sizeof(row->day), "%s%u", more ? "at least " : "", opened);
	row->error_ms = state->bad_ms;
	row->class = state->bad_class;
	text_copy(row->outcome, sizeof(row->outcome),
		state->bad_ms ? callback_class_names[state->bad_class] : "");
	row->attempt = breaker->attempt;
}

enum outcome dealer_breaker_fetch(struct ctl *ctl, const char *casino_id,
	struct dealer_breaker *breaker)
{
	enum outcome code = breaker_fetch(&ctl->session, casino_id, &breaker->state);
	bool found = false;

	if (code == OUTCOME_DONE && breaker->state.bad_ms)
		code = breaker_last_error(&ctl->session, &breaker->state, &breaker->attempt,
			&found);
	if (!found)
		memset(&breaker->attempt, 0, sizeof(breaker->attempt));
	return code;
}

static enum outcome print_openings(struct ctl *ctl, const char *casino_id,
	const struct breaker_opening openings[BREAKER_OPENINGS])
{
	struct field fields[OPENING_FIELDS];
	struct opening_row row;
	struct output_list list;

	memset(&row, 0, sizeof(row));
	text_copy(row.casino_id, sizeof(row.casino_id), casino_id);
	output_view(fields, OPENING_FIELDS, breaker_opening_fields, opening_more);
	output_list_open(&list, ctl, NULL, NULL, fields, opening_columns);
	for (unsigned int i = 0; i < BREAKER_OPENINGS && openings[i].opened_ms; i++) {
		row.opening = openings[i];
		output_list_add(&list, &row);
	}
	return output_list_close(&list, OUTCOME_DONE);
}

enum outcome dealer_breaker_print(struct ctl *ctl, const char *casino_id,
	const struct dealer_breaker *breaker)
{
	const struct dealer_state_result *state = &breaker->state;
	struct field fields[SHOWN_FIELDS];
	struct breaker_row row;
	enum outcome code;

	if (ctl->json || (!state->dealer.called && !state->opened))
		return OUTCOME_DONE;
	fill_row(breaker, &row);
	text_copy(row.casino_id, sizeof(row.casino_id), casino_id);
	output_title(ctl, "Breaker");
	output_view(fields, SHOWN_FIELDS, breaker_fields, shown_more);
	code = output_record(ctl, fields, breaker_columns, &row);
	if (code != OUTCOME_DONE || !state->opened)
		return code;
	output_title(ctl, "Openings of the breaker");
	return print_openings(ctl, casino_id, state->openings);
}

void dealer_breaker_json(struct output_json *json, const struct dealer_breaker *breaker)
{
	const struct breaker_opening *openings = breaker->state.openings;
	struct output_json member;
	struct breaker_row row;

	fill_row(breaker, &row);
	output_json_open(&member, json->ctl);
	output_json_fields(&member, breaker_fields, &row);
	output_json_list_open(&member, "openings");
	for (unsigned int i = 0; i < BREAKER_OPENINGS && openings[i].opened_ms; i++)
		output_json_item(&member, breaker_opening_fields, &openings[i]);
	output_json_list_close(&member);
	output_json_record(&member, "last_error", error_fields, row.error_ms ? &row : NULL);
	output_json_object(json, "breaker", &member);
}

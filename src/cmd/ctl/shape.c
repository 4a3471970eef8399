/*
 * shape - implements `callback list --shape`: counts waiting callbacks by dealer and age, like
 * Postfix's qshape.
 *
 * Callbacks that are due or being sent have rows of RECORD_DUE; the age of each costs one more
 * read. Callbacks that are parked or held have no rows of their own; the dealers' totals contain
 * their number. So the command walks the callbacks from the newest until it has found that many.
 * The walk is short if the waiting callbacks are young. One that was parked a year ago costs a
 * walk through a year.
 */
#include "cmd/ctl/ctl.h"

#include "admin/list.h"
#include "base/clock.h"
#include "cmd/ctl/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   (60 * MINUTE_MS)
#define AGES      7

/* The upper bounds of the columns; the last column has none. */
static const int64_t ages_ms[AGES - 1] = {
	MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 24 * HOUR_MS};

enum wait { WAIT_DUE, WAIT_PARKED, WAIT_HELD, WAIT_COUNT };
static const char *const wait_names[WAIT_COUNT] = {"due", "parked", "held"};

struct shape_row {
	char casino_id[CASINO_ID_SIZE];
	enum wait state;
	uint64_t total;
	uint64_t up_to_1m;
	uint64_t up_to_5m;
	uint64_t up_to_15m;
	uint64_t up_to_1h;
	uint64_t up_to_4h;
	uint64_t up_to_1d;
	uint64_t over_1d;
};

static const struct field shape_fields[] = {
	FIELD(FIELD_STR, shape_row, casino_id),
	FIELD_NAMED(shape_row, state, wait_names, WAIT_COUNT),
	FIELD(FIELD_U64, shape_row, total),
	FIELD(FIELD_U64, shape_row, up_to_1m),
	FIELD(FIELD_U64, shape_row, up_to_5m),
	FIELD(FIELD_U64, shape_row, up_to_15m),
	FIELD(FIELD_U64, shape_row, up_to_1h),
	FIELD(FIELD_U64, shape_row, up_to_4h),
	FIELD(FIELD_U64, shape_row, up_to_1d),
	FIELD(FIELD_U64, shape_row, over_1d),
	FIELD_END,
};

static const struct output_column shape_columns[] = {
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"T", "total", OUTPUT_PLAIN},
	{"1m", "up_to_1m", OUTPUT_PLAIN},
	{"5m", "up_to_5m", OUTPUT_PLAIN},
	{"15m", "up_to_15m", OUTPUT_PLAIN},
	{"1h", "up_to_1h", OUTPUT_PLAIN},
	{"4h", "up_to_4h", OUTPUT_PLAIN},
	{"1d", "up_to_1d", OUTPUT_PLAIN},
	{"1d+", "over_1d", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* The columns of one dealer in one state. */
struct counts {
	uint64_t ages[AGES];
};

struct shape_dealer {
	char casino_id[CASINO_ID_SIZE];
	struct counts waits[WAIT_COUNT];
};

struct shape {
	struct ctl *ctl;
	struct filter filter;
	uint32_t kinds;
	bool asked[WAIT_COUNT];
	int64_t now_ms;
	struct shape_dealer *dealers; /* sorted by casino_id */
	size_t count;
	uint64_t aside; /* parked or held callbacks of all dealers that are still to be found */
};

static int order(const void *a, const void *b)
{
	const struct shape_dealer *one = a, *other = b;

	return strcmp(one->casino_id, other->casino_id);
}

static void count_callback(struct shape *shape, enum wait wait, const struct callback *callback)
{
	const int64_t age_ms = shape->now_ms - callback->created_ms;
	struct shape_dealer key, *dealer;
	unsigned int age = 0;

	memset(&key, 0, sizeof(key));
	memcpy(key.casino_id, callback->casino_id, sizeof(key.casino_id));
	dealer = shape->count ? bsearch(&key, shape->dealers, shape->count, sizeof(key), order)
			      : NULL;
	/* A dealer that was added after the table was made has no old callbacks. */
	if (!dealer || !shape->asked[wait] || !(shape->kinds & UINT32_C(1) << callback->kind) ||
		!filter_names(&shape->filter, callback->casino_id, callback->player_id,
			callback->game_id))
		return;
	while (age < AGES - 1 && age_ms >= ages_ms[age])
		age++;
	dealer->waits[wait].ages[age]++;
}

/* Creates the table of dealers and counts the callbacks that are parked or held. */
static enum outcome walk_totals(struct shape *shape)
{
	struct list list;
	struct total row;

	shape->dealers = calloc(DEALERS_MAX, sizeof(*shape->dealers));
	if (!shape->dealers)
		return ctl_no_memory(shape->ctl);
	list_open(&list, &shape->ctl->session, RECORD_TOTAL, false, 0, NULL);
	while (shape->count < DEALERS_MAX && list_next(&list, &row)) {
		memcpy(shape->dealers[shape->count++].casino_id, row.casino_id,
			sizeof(row.casino_id));
		shape->aside += row.parked + row.held;
	}
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome walk_due(struct shape *shape)
{
	struct callback callback;
	struct list list;
	struct due row;
	enum outcome code = OUTCOME_DONE;
	bool found;

	list_open(&list, &shape->ctl->session, RECORD_DUE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if (shape->filter.casino_id[0] &&
			strcmp(shape->filter.casino_id, row.casino_id) != 0)
			continue;
		memset(&callback, 0, sizeof(callback));
		callback.event = row.event;
		code = list_fetch(&shape->ctl->session, RECORD_CALLBACK, &callback, &found, NULL);
		/* The callback may have ended since. */
		if (code == OUTCOME_DONE && found &&
			(callback.state == CALLBACK_DUE || callback.state == CALLBACK_SENDING))
			count_callback(shape, WAIT_DUE, &callback);
	}
	return list_end(&list, code);
}

static enum outcome walk_aside(struct shape *shape)
{
	struct list list;
	struct callback row;

	list_open(&list, &shape->ctl->session, RECORD_CALLBACK, true, 0, NULL);
	while (shape->aside && list_next(&list, &row)) {
		if (row.state != CALLBACK_PARKED && row.state != CALLBACK_HELD)
			continue;
		shape->aside--;
		count_callback(shape, row.state == CALLBACK_HELD ? WAIT_HELD : WAIT_PARKED, &row);
	}
	return list_end(&list, OUTCOME_DONE);
}

static void fill(struct shape_row *row, const struct counts *counts)
{
	uint64_t *const cells[AGES] = {&row->up_to_1m, &row->up_to_5m, &row->up_to_15m,
		&row->up_to_1h, &row->up_to_4h, &row->up_to_1d, &row->over_1d};

	for (unsigned int i = 0; i < AGES; i++) {
		*cells[i] = counts->ages[i];
		row->total += counts->ages[i];
	}
}

static void add_row(struct output_list *out, const char *casino_id, enum wait wait,
	const struct counts *counts)
{
	struct shape_row row;

	memset(&row, 0, sizeof(row));
	snprintf(row.casino_id, sizeof(row.casino_id), "%s", casino_id);
	row.state = wait;
	fill(&row, counts);
	if (row.total)
		output_list_add(out, &row);
}

/*
 * Puts the totals of all dealers first, as "TOTAL". JSON omits them, because its reader can add.
 */
static void add_sums(struct shape *shape, struct output_list *out)
{
	for (unsigned int wait = 0; wait < WAIT_COUNT; wait++) {
		struct counts sum = {.ages = {0}};

		for (size_t i = 0; i < shape->count; i++) {
			for (unsigned int age = 0; age < AGES; age++)
				sum.ages[age] += shape->dealers[i].waits[wait].ages[age];
		}
		add_row(out, "TOTAL", wait, &sum);
	}
}

static enum outcome print(struct shape *shape)
{
	struct output_list out;

	output_list_open(&out, shape->ctl, "shape", "callbacks that wait", shape_fields,
		shape_columns);
	if (!shape->ctl->json)
		add_sums(shape, &out);
	for (size_t i = 0; i < shape->count; i++) {
		for (unsigned int wait = 0; wait < WAIT_COUNT; wait++)
			add_row(&out, shape->dealers[i].casino_id, wait,
				&shape->dealers[i].waits[wait]);
	}
	return output_list_close(&out, OUTCOME_DONE);
}

static enum outcome read_options(struct shape *shape)
{
	struct ctl *ctl = shape->ctl;
	uint32_t states;
	enum outcome code;

	if (ctl->options[OPTION_LIMIT] || ctl->options[OPTION_SINCE] || ctl->options[OPTION_UNTIL])
		return ctl_usage(ctl, "--shape is of all that wait, whatever their number and age");
	code = ctl_choices(ctl, OPTION_STATE, wait_names, WAIT_COUNT, &states);
	for (unsigned int i = 0; i < WAIT_COUNT; i++)
		shape->asked[i] = states & UINT32_C(1) << i;
	if (code == OUTCOME_DONE)
		code = ctl_choices(ctl, OPTION_KIND, callback_kind_names, CALLBACK_KIND_COUNT,
			&shape->kinds);
	return code == OUTCOME_DONE ? ctl_filter(ctl, 0, &shape->filter) : code;
}

enum outcome ctl_callback_shape(struct ctl *ctl)
{
	struct shape shape = {.ctl = ctl, .now_ms = clock_wall_ms()};
	enum outcome code = read_options(&shape);

	if (code == OUTCOME_DONE)
		code = walk_totals(&shape);
	if (code == OUTCOME_DONE && shape.asked[WAIT_DUE])
		code = walk_due(&shape);
	if (code == OUTCOME_DONE && (shape.asked[WAIT_PARKED] || shape.asked[WAIT_HELD]))
		code = walk_aside(&shape);
	if (code == OUTCOME_DONE)
		code = print(&shape);
	free(shape.dealers);
	return code;
}

/*
 * shape - implements `callback list --shape`: prints the numbers of waiting callbacks by dealer and
 * age.
 */
#include "admin/callbacks/callback_shape.h"

#include "base/clock.h"
#include "cmd/ctl/common/output.h"

#include <stdlib.h>
#include <string.h>

struct shape_row {
	char casino_id[CASINO_ID_SIZE];
	enum shape_wait state;
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
	FIELD_NAMED(shape_row, state, shape_wait_names, WAIT_COUNT),
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

static void fill_ages(struct shape_row *row, const struct shape_counts *counts)
{
	uint64_t *const cells[SHAPE_AGES] = {&row->up_to_1m, &row->up_to_5m, &row->up_to_15m,
		&row->up_to_1h, &row->up_to_4h, &row->up_to_1d, &row->over_1d};

	for (unsigned int i = 0; i < SHAPE_AGES; i++) {
		*cells[i] = counts->ages[i];
		row->total += counts->ages[i];
	}
}

static void add_shape_row(struct output_list *out, const char *casino_id, enum shape_wait wait,
	const struct shape_counts *counts)
{
	struct shape_row row;

	memset(&row, 0, sizeof(row));
	snprintf(row.casino_id, sizeof(row.casino_id), "%s", casino_id);
	row.state = wait;
	fill_ages(&row, counts);
	if (row.total)
		output_list_add(out, &row);
}

/*
 * Puts the totals of all dealers first, as "TOTAL". JSON omits them, because its reader can add.
 */
static void add_sums(const struct callback_shape *shape, struct output_list *out)
{
	for (unsigned int wait = 0; wait < WAIT_COUNT; wait++) {
		struct shape_counts sum = {.ages = {0}};

		for (size_t i = 0; i < shape->count; i++) {
			for (unsigned int age = 0; age < SHAPE_AGES; age++)
				sum.ages[age] += shape->dealers[i].waits[wait].ages[age];
		}
		add_shape_row(out, "TOTAL", wait, &sum);
	}
}

static enum outcome print_shape(struct ctl *ctl, const struct callback_shape *shape)
{
	struct output_list out;

	output_list_open(&out, ctl, "shape", "callbacks that wait", shape_fields, shape_columns);
	if (!ctl->json)
		add_sums(shape, &out);
	for (size_t i = 0; i < shape->count; i++) {
		for (unsigned int wait = 0; wait < WAIT_COUNT; wait++)
			add_shape_row(&out, shape->dealers[i].casino_id, wait,
				&shape->dealers[i].waits[wait]);
	}
	return output_list_close(&out, OUTCOME_DONE);
}

static enum outcome read_options(struct ctl *ctl, struct callback_shape *shape,
	struct filter *filter)
{
	uint32_t states;
	enum outcome code;

	if (ctl->options[OPTION_LIMIT] || ctl->options[OPTION_SINCE] || ctl->options[OPTION_UNTIL])
		return ctl_usage(ctl, "--shape is of all that wait, whatever their number and age");
	code = ctl_choices(ctl, OPTION_STATE, shape_wait_names, WAIT_COUNT, &states);
	for (unsigned int i = 0; i < WAIT_COUNT; i++)
		shape->asked[i] = states & UINT32_C(1) << i;
	if (code == OUTCOME_DONE)
		code = ctl_choices(ctl, OPTION_KIND, callback_kind_names, CALLBACK_KIND_COUNT,
			&shape->kinds);
	return code == OUTCOME_DONE ? ctl_filter(ctl, 0, filter) : code;
}

enum outcome ctl_callback_shape(struct ctl *ctl)
{
	struct filter filter;
	struct callback_shape shape = {.session = &ctl->session,
		.filter = &filter,
		.now_ms = clock_wall_ms()};
	enum outcome code = read_options(ctl, &shape, &filter);

	if (code == OUTCOME_DONE)
		code = callback_shape_count(&shape);
	if (code == OUTCOME_DONE)
		code = print_shape(ctl, &shape);
	free(shape.dealers);
	return code;
}

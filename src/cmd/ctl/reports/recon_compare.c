/*
 * recon_compare - implements `recon --compare`: lists the differences between two files of one
 * day.
 */
#include "cmd/ctl/reports/recon.h"

#include "cmd/ctl/common/output.h"
#include "recon/read.h"

#include <inttypes.h>
#include <string.h>

enum finding { MISSING_HERE, MISSING_THERE, AMOUNT_DIFFERS, STATE_DIFFERS, FINDING_COUNT };
static const char *const finding_names[FINDING_COUNT] = {"missing_here", "missing_there",
	"amount_differs", "state_differs"};

/* A difference as it is shown. */
struct difference {
	enum finding finding;
	enum recon_record record;
	char id[OUTPUT_TEXT_MAX / 4];
	COMPARED_MEMBERS;
};

static const struct field difference_fields[] = {
	FIELD_NAMED(difference, finding, finding_names, FINDING_COUNT),
	FIELD_NAMED(difference, record, recon_record_names, RECON_RECORD_COUNT),
	FIELD(FIELD_STR, difference, id),
	COMPARED_FIELDS(difference),
	FIELD_END,
};

static const struct output_column difference_columns[] = {
	{"FINDING", "finding", OUTPUT_PLAIN},
	{"RECORD", "record", OUTPUT_PLAIN},
	{"ID", "id", OUTPUT_PLAIN},
	COMPARED_COLUMNS,
	{NULL, NULL, OUTPUT_PLAIN},
};

struct comparison {
	struct ctl *ctl;
	struct side sides[2]; /* ours, theirs */
	uint32_t records;
	bool states; /* both files contain states */
	uint64_t compared;
	uint64_t found[FINDING_COUNT];
	uint64_t limit; /* differences that may still be listed */
	struct output_list list;
	struct output_json json;
};

/* Reports a finding. @ours or @theirs is NULL if that side has no such row. */
static void report_difference(struct comparison *comparison, enum finding finding,
	const struct compared *ours, const struct compared *theirs)
{
	const struct compared *any = ours ? ours : theirs;
	struct difference row;

	comparison->found[finding]++;
	if (!comparison->limit)
		return;
	comparison->limit--;
	memset(&row, 0, sizeof(row));
	row.finding = finding;
	row.record = any->record;
	snprintf(row.id, sizeof(row.id), "%s", any->id);
	compared_show(ours, 2, row.our_amount, row.our_state);
	compared_show(theirs, 2, row.their_amount, row.their_state);
	output_list_add(&comparison->list, &row);
	output_json_item(&comparison->json, difference_fields, &row);
}

static void compare_pair(void *context, const struct compared *ours, const struct compared *theirs)
{
	struct comparison *comparison = context;

	if (!ours || !theirs) {
		report_difference(comparison, ours ? MISSING_THERE : MISSING_HERE, ours, theirs);
		return;
	}
	comparison->compared++;
	if (ours->amount != theirs->amount)
		report_difference(comparison, AMOUNT_DIFFERS, ours, theirs);
	if (comparison->states && strcmp(ours->state, theirs->state) != 0)
		report_difference(comparison, STATE_DIFFERS, ours, theirs);
}

static void side_json(struct comparison *comparison, const char *name, const struct side *side)
{
	struct output_json json;

	output_json_open(&json, comparison->ctl);
	output_json_string(&json, "file", side->path);
	output_json_number(&json, "rows", side->count);
	output_json_object(&comparison->json, name, &json);
}

static enum outcome report_comparison(struct comparison *comparison)
{
	uint64_t all = 0;
	enum outcome code;

	output_json_list_close(&comparison->json);
	code = output_list_close(&comparison->list, OUTCOME_DONE);
	side_json(comparison, "our", &comparison->sides[0]);
	side_json(comparison, "their", &comparison->sides[1]);
	output_json_number(&comparison->json, "compared", comparison->compared);
	output_json_bool(&comparison->json, "states_compared", comparison->states);
	for (unsigned int i = 0; i < FINDING_COUNT; i++) {
		output_json_number(&comparison->json, finding_names[i], comparison->found[i]);
		all += comparison->found[i];
	}
	output_json_bool(&comparison->json, "ok", all == 0);
	if (!comparison->ctl->json) {
		printf("compared %" PRIu64 ", missing here %" PRIu64 ", missing there %" PRIu64
		       ", amount differs %" PRIu64 ", state differs %" PRIu64 "\n",
			comparison->compared, comparison->found[MISSING_HERE],
			comparison->found[MISSING_THERE], comparison->found[AMOUNT_DIFFERS],
			comparison->found[STATE_DIFFERS]);
	}
	if (!comparison->states)
		ctl_tell(NULL, "states were not compared: one of the files has no column 'state'");
	if (output_json_close(&comparison->json) != OUTCOME_DONE)
		code = OUTCOME_FAILED;
	return code == OUTCOME_DONE && all ? OUTCOME_FAILED : code;
}

static enum outcome same_day(const struct comparison *comparison)
{
	const struct side *ours = &comparison->sides[0], *theirs = &comparison->sides[1];

	if (!ours->day[0] || !theirs->day[0] ||
		(strcmp(ours->day, theirs->day) == 0 &&
			strcmp(ours->casino_id, theirs->casino_id) == 0))
		return OUTCOME_DONE;
	return ctl_fail(comparison->ctl, OUTCOME_FAILED, "bad_file",
		"the files are of %s %s and of %s %s: there is nothing to compare", ours->casino_id,
		ours->day, theirs->casino_id, theirs->day);
}

enum outcome recon_compare(struct ctl *ctl)
{
	struct comparison comparison = {.ctl = ctl};
	enum outcome code = ctl_choices(ctl, OPTION_KIND, recon_record_names, RECON_RECORD_COUNT,
		&comparison.records);

	if (code == OUTCOME_DONE)
		code = ctl_limit(ctl, 1000, &comparison.limit);
	for (unsigned int i = 0; i < 2 && code == OUTCOME_DONE; i++)
		code = recon_side_load(&comparison.sides[i], &ctl->session, ctl->args[i], i == 0,
			comparison.records);
	if (code == OUTCOME_DONE)
		code = same_day(&comparison);
	if (code == OUTCOME_DONE) {
		comparison.states = comparison.sides[0].columns[COLUMN_STATE] >= 0 &&
			comparison.sides[1].columns[COLUMN_STATE] >= 0;
		output_json_open(&comparison.json, ctl);
		output_json_list_open(&comparison.json, "differences");
		output_list_open(&comparison.list, ctl, NULL, NULL, difference_fields,
			difference_columns);
		recon_sides_walk(&comparison.sides[0], &comparison.sides[1], compare_pair,
			&comparison);
		code = report_comparison(&comparison);
	}
	recon_side_free(&comparison.sides[0]);
	recon_side_free(&comparison.sides[1]);
	return code;
}

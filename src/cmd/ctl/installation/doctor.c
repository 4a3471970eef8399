/*
 * doctor - implements `doctor`: runs the checks of src/doctor and prints their findings.
 */
#include "doctor/doctor.h"

#include "base/isolated.h"
#include "cmd/ctl/common/output.h"

#include <stdio.h>

static const char *const result_names[DOCTOR_RESULT_COUNT] = {
	[DOCTOR_PASS] = "PASS",
	[DOCTOR_WARN] = "WARN",
	[DOCTOR_FAIL] = "FAIL",
	[DOCTOR_SKIP] = "SKIP",
};

static const struct field finding_fields[] = {
	FIELD_NAMED(finding, result, result_names, DOCTOR_RESULT_COUNT),
	FIELD(FIELD_STR, finding, check),
	FIELD(FIELD_STR, finding, purpose),
	FIELD(FIELD_STR, finding, about),
	FIELD(FIELD_STR, finding, found),
	FIELD(FIELD_STR, finding, remedy),
	FIELD_END,
};

static const struct output_column finding_columns[] = {
	{"RESULT", "result", OUTPUT_PLAIN},
	{"CHECK", "check", OUTPUT_PLAIN},
	{"ABOUT", "about", OUTPUT_PLAIN},
	{"FOUND", "found", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

typedef void each_finding(void *context, const struct finding *finding);

/* Calls @each for all findings, in the order of the table. */
static void walk_findings(const struct doctor_sheet *sheets, each_finding *each, void *context)
{
	for (unsigned int i = 0; i < doctor_check_count; i++) {
		for (uint32_t n = 0; n < sheets[i].count; n++)
			each(context, &sheets[i].findings[n]);
	}
}

static void count_one(void *context, const struct finding *finding)
{
	((unsigned int *)context)[finding->result]++;
}

static void list_one(void *context, const struct finding *finding)
{
	struct output_list *list = context;

	if (finding->result != DOCTOR_PASS || !list->ctl->options[OPTION_PROBLEMS])
		output_list_add(list, finding);
}

static void render_one(void *context, const struct finding *finding)
{
	struct output_json *json = context;

	if (finding->result == DOCTOR_PASS && json->ctl->options[OPTION_PROBLEMS])
		return;
	output_json_item(context, finding_fields, finding);
}

/* The remedies for findings with the same result. */
struct remedies {
	struct output_pairs *pairs;
	enum doctor_result result;
};

static void advise_one(void *context, const struct finding *finding)
{
	const struct remedies *remedies = context;

	if (finding->result == remedies->result && finding->remedy[0])
		output_pairs_add(remedies->pairs, finding->check, "%s%s%s", finding->about,
			finding->about[0] ? ": " : "", finding->remedy);
}

static enum outcome print_remedies(struct ctl *ctl, const struct doctor_sheet *sheets)
{
	static const enum doctor_result order[] = {DOCTOR_FAIL, DOCTOR_WARN, DOCTOR_SKIP};
	struct output_pairs pairs;
	struct remedies remedies = {.pairs = &pairs};

	output_title(ctl, "What to do");
	output_pairs_open(&pairs, ctl);
	for (unsigned int i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		remedies.result = order[i];
		walk_findings(sheets, advise_one, &remedies);
	}
	return output_pairs_close(&pairs);
}

static enum outcome print_doctor_text(struct ctl *ctl, const struct doctor_sheet *sheets,
	const unsigned int counts[DOCTOR_RESULT_COUNT], unsigned int dropped)
{
	struct output_list list;
	enum outcome code;

	output_title(ctl, "What was found");
	output_list_open(&list, ctl, NULL, NULL, finding_fields, finding_columns);
	walk_findings(sheets, list_one, &list);
	code = output_list_close(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && counts[DOCTOR_FAIL] + counts[DOCTOR_WARN] + counts[DOCTOR_SKIP])
		code = print_remedies(ctl, sheets);
	if (code != OUTCOME_DONE)
		return code;
	if (dropped)
		printf("\n%u more findings are not shown\n", dropped);
	printf("\n%u failed, %u warnings, %u passed, %u not looked at\n", counts[DOCTOR_FAIL],
		counts[DOCTOR_WARN], counts[DOCTOR_PASS], counts[DOCTOR_SKIP]);
	return OUTCOME_DONE;
}

static enum outcome print_doctor_json(struct ctl *ctl, const struct doctor_sheet *sheets,
	const unsigned int counts[DOCTOR_RESULT_COUNT], unsigned int dropped)
{
	struct output_json json;

	output_json_open(&json, ctl);
	output_json_bool(&json, "ok", !counts[DOCTOR_FAIL]);
	output_json_number(&json, "failed", counts[DOCTOR_FAIL]);
	output_json_number(&json, "warnings", counts[DOCTOR_WARN]);
	output_json_number(&json, "passed", counts[DOCTOR_PASS]);
	output_json_number(&json, "not_looked_at", counts[DOCTOR_SKIP]);
	output_json_number(&json, "not_shown", dropped);
	output_json_list_open(&json, "findings");
	walk_findings(sheets, render_one, &json);
	output_json_list_close(&json);
	return output_json_close(&json);
}

enum outcome ctl_doctor(struct ctl *ctl)
{
	unsigned int counts[DOCTOR_RESULT_COUNT] = {0}, dropped = 0;
	struct settings *settings = isolated_memory(sizeof(*settings));
	bool *settings_loaded = isolated_memory(sizeof(*settings_loaded));
	struct doctor_sheet *sheets = isolated_memory(doctor_check_count * sizeof(*sheets));
	const struct doctor_options options = {
		.config = ctl->options[OPTION_CONFIG],
		.url = ctl->options[OPTION_URL],
		.platform_url = ctl->options[OPTION_PLATFORM_URL],
		.console_url = ctl->options[OPTION_CONSOLE_URL],
		.no_lookup = ctl->options[OPTION_NO_LOOKUP] != NULL,
		.user = ctl->options[OPTION_USER],
		.key_files = ctl->args,
		.key_file_count = ctl->arg_count,
	};
	enum outcome code;

	if (!settings || !settings_loaded || !sheets)
		return ctl_no_memory(ctl);
	doctor_run(&options, &ctl->session, sheets, settings, settings_loaded);
	walk_findings(sheets, count_one, counts);
	for (unsigned int i = 0; i < doctor_check_count; i++) {
		dropped += doctor_dropped(&sheets[i]);
		for (unsigned int n = 0; n < DOCTOR_RESULT_COUNT; n++)
			counts[n] += sheets[i].dropped[n];
		/* A check without any finding was not run, or is for what is not used here. */
		if (!sheets[i].count && !(doctor_checks[i].needs & NEEDS_OF_USE))
			return ctl_no_memory(ctl);
	}
	code = ctl->json ? print_doctor_json(ctl, sheets, counts, dropped)
			 : print_doctor_text(ctl, sheets, counts, dropped);
	return code == OUTCOME_DONE && counts[DOCTOR_FAIL] ? OUTCOME_FAILED : code;
}

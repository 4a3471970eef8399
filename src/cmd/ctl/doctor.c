/*
 * doctor - the command: runs the checks, and prints what they found.
 */
#include "cmd/ctl/doctor.h"

#include "base/apart.h"
#include "cmd/ctl/output.h"
#include "wire/dealer_answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static void write_clean(char *to, size_t size, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));
static void write_clean(char *to, size_t size, const char *format, va_list arguments)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, arguments);
	dealer_answer_quote(to, size, text);
}

void doctor_about(struct doctor *doctor, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_clean(doctor->about, sizeof(doctor->about), format, arguments);
	va_end(arguments);
}

void doctor_add(struct doctor *doctor, enum doctor_result result, const char *format, ...)
{
	struct doctor_sheet *sheet = doctor->sheet;
	struct finding *finding = &sheet->findings[sheet->count];
	va_list arguments;

	if (sheet->count == DOCTOR_FINDINGS_MAX) {
		sheet->dropped[result]++;
		return;
	}
	memset(finding, 0, sizeof(*finding));
	finding->result = result;
	snprintf(finding->check, sizeof(finding->check), "%s", doctor->check->name);
	snprintf(finding->purpose, sizeof(finding->purpose), "%s", doctor->check->purpose);
	snprintf(finding->about, sizeof(finding->about), "%s", doctor->about);
	va_start(arguments, format);
	write_clean(finding->found, sizeof(finding->found), format, arguments);
	va_end(arguments);
	/* The process may be killed at any instruction: what is counted is whole. */
	__atomic_store_n(&sheet->count, sheet->count + 1, __ATOMIC_RELEASE);
}

static uint32_t count_dropped(const struct doctor_sheet *sheet)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < DOCTOR_RESULT_COUNT; i++)
		sum += sheet->dropped[i];
	return sum;
}

void doctor_remedy(struct doctor *doctor, const char *format, ...)
{
	struct doctor_sheet *sheet = doctor->sheet;
	struct finding *last;
	va_list arguments;

	/* Of one that was only counted. */
	if (!sheet->count || count_dropped(sheet))
		return;
	last = &sheet->findings[sheet->count - 1];
	va_start(arguments, format);
	write_clean(last->remedy, sizeof(last->remedy), format, arguments);
	va_end(arguments);
}

void doctor_unseen(struct doctor *doctor, const char *path, int error, const char *remedy)
{
	if (error == EACCES || error == EPERM) {
		doctor_skip(doctor, "%s may not be looked at by this user", path);
		doctor_remedy(doctor, "call doctor as root");
		return;
	}
	doctor_fail(doctor, "%s: %s", path, strerror(error));
	doctor_remedy(doctor, "%s", remedy);
}

const char *doctor_config(const struct doctor *doctor)
{
	const char *path = doctor->ctl->options[OPTION_CONFIG];

	return path ? path : SETTINGS_DEFAULT_FILE;
}

void doctor_path(char path[DOCTOR_PATH_MAX], const char *directory, const char *name)
{
	snprintf(path, DOCTOR_PATH_MAX, "%s/%s", directory, name);
}

typedef void each_finding(void *context, const struct finding *finding);

/* Gives all findings to @each, in the order of the table. */
static void walk(const struct doctor_sheet *sheets, each_finding *each, void *context)
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
	output_list_add(context, finding);
}

static void render_one(void *context, const struct finding *finding)
{
	output_json_item(context, finding_fields, finding);
}

/* The remedies for findings of one result. */
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

static enum outcome advise(struct ctl *ctl, const struct doctor_sheet *sheets)
{
	static const enum doctor_result order[] = {DOCTOR_FAIL, DOCTOR_WARN, DOCTOR_SKIP};
	struct output_pairs pairs;
	struct remedies remedies = {.pairs = &pairs};

	output_title(ctl, "What to do");
	output_pairs_open(&pairs, ctl);
	for (unsigned int i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		remedies.result = order[i];
		walk(sheets, advise_one, &remedies);
	}
	return output_pairs_close(&pairs);
}

static enum outcome print_text(struct ctl *ctl, const struct doctor_sheet *sheets,
	const unsigned int counts[DOCTOR_RESULT_COUNT], unsigned int dropped)
{
	struct output_list list;
	enum outcome code;

	output_title(ctl, "What was found");
	output_list_open(&list, ctl, NULL, NULL, finding_fields, finding_columns);
	walk(sheets, list_one, &list);
	code = output_list_close(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && counts[DOCTOR_FAIL] + counts[DOCTOR_WARN] + counts[DOCTOR_SKIP])
		code = advise(ctl, sheets);
	if (code != OUTCOME_DONE)
		return code;
	if (dropped)
		printf("\n%u more findings are not shown\n", dropped);
	printf("\n%u failed, %u warnings, %u passed, %u not looked at\n", counts[DOCTOR_FAIL],
		counts[DOCTOR_WARN], counts[DOCTOR_PASS], counts[DOCTOR_SKIP]);
	return OUTCOME_DONE;
}

static enum outcome print_json(struct ctl *ctl, const struct doctor_sheet *sheets,
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
	walk(sheets, render_one, &json);
	output_json_list_close(&json);
	return output_json_close(&json);
}

enum outcome ctl_doctor(struct ctl *ctl)
{
	unsigned int counts[DOCTOR_RESULT_COUNT] = {0}, dropped = 0;
	struct settings *settings = apart_memory(sizeof(*settings));
	bool *settings_loaded = apart_memory(sizeof(*settings_loaded));
	struct doctor_sheet *sheets = apart_memory(doctor_check_count * sizeof(*sheets));
	enum outcome code;

	if (!settings || !settings_loaded || !sheets)
		return ctl_no_memory(ctl);
	doctor_run(ctl, sheets, settings, settings_loaded);
	walk(sheets, count_one, counts);
	for (unsigned int i = 0; i < doctor_check_count; i++) {
		dropped += count_dropped(&sheets[i]);
		for (unsigned int n = 0; n < DOCTOR_RESULT_COUNT; n++)
			counts[n] += sheets[i].dropped[n];
		/* A check that found nothing at all was not made. */
		if (!sheets[i].count)
			return ctl_no_memory(ctl);
	}
	code = ctl->json ? print_json(ctl, sheets, counts, dropped)
			 : print_text(ctl, sheets, counts, dropped);
	return code == OUTCOME_DONE && counts[DOCTOR_FAIL] ? OUTCOME_FAILED : code;
}

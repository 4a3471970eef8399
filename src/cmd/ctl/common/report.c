/*
 * report - reports the failures of creditbridgectl: a line on standard error and, with --json, an
 * object.
 */
#include "cmd/ctl/common/ctl.h"

#include "cmd/ctl/common/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ctl_fail_json(struct ctl *ctl, const char *id, const char *detail)
{
	struct output_json json, error;

	output_json_open(&error, ctl);
	output_json_string(&error, "id", id);
	output_json_string(&error, "detail", detail);
	if (ctl->walk && strcmp(id, "usage") != 0) {
		output_walk_fail(ctl, &error);
		return;
	}
	output_json_open(&json, ctl);
	if (ctl->cell && strcmp(id, "usage") != 0)
		output_json_string(&json, "cell", ctl->cell);
	output_json_object(&json, "error", &error);
	/*
	 * If memory is exhausted, a report of that would recurse. The line on standard error must
	 * suffice.
	 */
	if (ctl->json && !json.text.failed)
		printf("%.*s}\n", (int)json.text.len, (const char *)json.text.data);
	buffer_free(&json.text);
}

static const char *named_cell;

void ctl_name_cell(const char *cell)
{
	named_cell = cell;
}

/* Prints to standard error, after flushing the earlier output. */
static void print_line(const char *id, const char *detail)
{
	char shown[OUTPUT_SHOWN_MAX];

	fflush(stdout);
	detail = output_shown(detail, shown);
	fprintf(stderr, "creditbridgectl: %s%s%s%s%s%s\n", id ? id : "", id ? ": " : "",
		named_cell ? "cell " : "", named_cell ? named_cell : "", named_cell ? ": " : "",
		detail);
}

void ctl_tell(const char *id, const char *format, ...)
{
	char detail[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	print_line(id, detail);
}

void ctl_report(void *closure, enum outcome outcome, const struct failure *failure)
{
	struct ctl *ctl = closure;
	const bool without_id = outcome == OUTCOME_USAGE || strcmp(failure->id, "failed") == 0;

	/* What is wrong with the words of the command is wrong in each cell. */
	if (outcome == OUTCOME_USAGE)
		named_cell = NULL;
	print_line(without_id ? NULL : failure->id, failure->detail);
	ctl_fail_json(ctl, failure->id, failure->detail);
	if (outcome == OUTCOME_USAGE)
		fprintf(stderr, "Try 'creditbridgectl %s --help' for more information.\n",
			ctl->command->name);
}

enum outcome ctl_fail(struct ctl *ctl, enum outcome outcome, const char *id, const char *format,
	...)
{
	va_list arguments;

	va_start(arguments, format);
	session_fail_list(&ctl->session, outcome, id, format, arguments);
	va_end(arguments);
	return outcome;
}

enum outcome ctl_no_memory(struct ctl *ctl)
{
	return session_no_memory(&ctl->session);
}

enum outcome ctl_usage(struct ctl *ctl, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	session_fail_list(&ctl->session, OUTCOME_USAGE, "usage", format, arguments);
	va_end(arguments);
	return OUTCOME_USAGE;
}

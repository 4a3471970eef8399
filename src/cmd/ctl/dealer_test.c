/*
 * dealer_test - implements `dealer test`: runs the cases of src/conformance against a dealer's
 * server.
 */
#include "cmd/ctl/dealer_test.h"

#include "admin/audit_note.h"
#include "base/clock.h"
#include "cmd/ctl/outfile.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/*
 * Handles stop signals: a case that has begun is completed, so that it returns the money it took.
 */
static void stop_at_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* A dealer that closes the connection must not end the process. */
	signal(SIGPIPE, SIG_IGN);
}

static void show_case(void *progress, const struct exam *exam, unsigned int number,
	const char *name)
{
	progress_show(progress, "case %u of %u: %s", number, exam->count, name);
}

static bool confirm_exam(struct ctl *ctl, struct exam *exam, enum outcome *code)
{
	char question[EXTERNAL_ID_SIZE + CALLBACK_URL_SIZE + 256];

	snprintf(question, sizeof(question),
		"The credit of %s at %s will be moved for real, a few credits at a time, in %u "
		"cases. Go on?",
		exam->player.user_id, exam->url, exam->count);
	return ctl_confirm(ctl, question, code);
}

/* Records the operator and the ids in the audit before any money moves. */
static enum outcome record_exam(struct exam *exam)
{
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];

	snprintf(object, sizeof(object), "player %s/%s", exam->player.casino_id,
		exam->player.user_id);
	snprintf(detail, sizeof(detail), "first_id=%" PRIu64 " cases=%u url=%.300s", exam->first_id,
		exam->count, exam->url);
	return audit_note(exam->session, NOTE_DEALER_TEST, object, detail);
}

static enum outcome do_exam(struct ctl *ctl, struct exam *exam, bool *begun)
{
	static struct progress progress; /* outlives the call: the exam keeps its address */
	enum outcome code = exam_prepare(exam, ctl->args[0], ctl->options[OPTION_USER]);

	if (code != OUTCOME_DONE || !confirm_exam(ctl, exam, &code))
		return code;
	exam->last_id = EXAM_ID_BASE + ((uint64_t)clock_wall_ms() / 1000 << EXAM_SECOND_SHIFT) +
		((exam->number & EXAM_NUMBER_MASK) << EXAM_NUMBER_SHIFT);
	exam->first_id = exam->last_id + 1;
	code = record_exam(exam);
	if (code != OUTCOME_DONE)
		return code;
	*begun = true;
	stop_at_signals();
	progress = progress_begin(ctl);
	/* Each case waits for the dealer, so show every one. */
	progress.every_ms = 0;
	exam->progress = show_case;
	exam->progress_closure = &progress;
	exam_run(exam);
	progress_end(&progress);
	return OUTCOME_DONE;
}

/* Writes the report to the file of --junit and closes it. A partial report is deleted. */
static enum outcome write_junit(struct ctl *ctl, const struct exam *exam, FILE *junit)
{
	const char *path = ctl->options[OPTION_JUNIT];

	enum outcome code = OUTCOME_DONE;

	if (!junit)
		return OUTCOME_DONE;
	exam_write_junit(exam, junit);
	if (!outfile_keep(junit)) {
		ctl_tell("failed", "cannot write %s: %s", path, strerror(errno));
		outfile_spoil(junit, path);
		code = OUTCOME_FAILED;
	}
	fclose(junit);
	return code;
}

static enum outcome report_exam(struct ctl *ctl, struct exam *exam, FILE *junit)
{
	char detail[EXAM_DETAIL_SIZE];
	enum outcome code = write_junit(ctl, exam, junit);

	if (ctl->options[OPTION_TAP])
		exam_write_tap(exam, stdout);
	else if (exam_print(ctl, exam) != OUTCOME_DONE)
		code = OUTCOME_FAILED;
	if (code != OUTCOME_DONE || !exam_detail(exam, detail))
		return code;
	ctl_tell("exam_failed", "%s", detail);
	return exam->unanswered >= EXAM_UNANSWERED_MAX ? OUTCOME_UNREACHABLE : OUTCOME_FAILED;
}

/* Reports that nothing was tested, also in the report formats, for readers of only those. */
static void report_nothing(struct ctl *ctl, struct exam *exam, FILE *junit)
{
	for (unsigned int i = 0; i < exam->count; i++)
		snprintf(exam->rows[i].why, sizeof(exam->rows[i].why), "nothing was tested");
	exam->results[EXAM_NOT_RUN] = exam->count;
	exam->has_balance = false;
	write_junit(ctl, exam, junit);
}

/* Lists the cases without running them. */
static enum outcome list_cases(struct ctl *ctl, struct exam *exam)
{
	static const struct output_column columns[] = {
		{"case", "name", OUTPUT_PLAIN},
		{"rule", "rule", OUTPUT_PLAIN},
		{"expected", "expected", OUTPUT_PLAIN},
		{NULL, NULL, OUTPUT_PLAIN},
	};
	static const struct field fields[] = {
		FIELD(FIELD_STR, exam_row, name),
		FIELD(FIELD_STR, exam_row, group),
		FIELD(FIELD_STR, exam_row, rule),
		FIELD(FIELD_STR, exam_row, expected),
		FIELD_END,
	};
	struct output_list list;

	output_list_open(&list, ctl, "cases", "cases", fields, columns);
	for (unsigned int i = 0; i < exam->count; i++)
		output_list_add(&list, &exam->rows[i]);
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome check_options(struct ctl *ctl, FILE **junit)
{
	const char *path = ctl->options[OPTION_JUNIT];

	if (ctl->options[OPTION_TAP] && ctl->json)
		return ctl_usage(ctl, "--tap and --json exclude each other");
	if (ctl->options[OPTION_DRY_RUN])
		return OUTCOME_DONE;
	if (!ctl->options[OPTION_USER])
		return ctl_usage(ctl, "--user must be given");
	/* Open the file before any money moves, so that a failure is reported in time. */
	if (path)
		*junit = fopen(path, "we");
	if (path && !*junit)
		return ctl_fail(ctl, OUTCOME_FAILED, "failed", "cannot write %s: %s", path,
			strerror(errno));
	return OUTCOME_DONE;
}

enum outcome ctl_dealer_test(struct ctl *ctl)
{
	static struct exam exam;
	FILE *junit = NULL;
	bool begun = false;
	enum outcome code = check_options(ctl, &junit);

	exam.session = &ctl->session;
	exam.interrupted = &interrupted;
	if (code != OUTCOME_DONE)
		return code;
	if (!exam_init(&exam))
		code = ctl_no_memory(ctl);
	else if (ctl->options[OPTION_DRY_RUN])
		code = list_cases(ctl, &exam);
	else
		code = do_exam(ctl, &exam, &begun);
	explicit_bzero(exam.targets, sizeof(exam.targets));
	if (begun)
		code = report_exam(ctl, &exam, junit);
	else if (exam.rows)
		report_nothing(ctl, &exam, junit);
	else if (junit)
		fclose(junit);
	http_client_free(exam.client);
	free(exam.rows);
	return code;
}

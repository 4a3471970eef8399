/*
 * dealer_test - implements `dealer test`: runs the cases of src/conformance against a dealer's
 * server.
 */
#include "cmd/ctl/dealers/dealer_test.h"

#include "admin/audit_note.h"
#include "base/clock.h"
#include "cmd/ctl/common/outfile.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

/* Runs the command of --restart-command. Returns NULL, or the reason why it failed. */
static const char *run_restart(const char *command)
{
	static char reason[160];
	char *const words[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	int status = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	/* Standard output has the report. */
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	errno = posix_spawn(&pid, "/bin/sh", &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (errno) {
		snprintf(reason, sizeof(reason), "the restart command cannot be run: %s",
			strerror(errno));
		return reason;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	snprintf(reason, sizeof(reason), "the restart command failed with status %d",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return reason;
}

static const char *restart_dealer(void *closure)
{
	struct ctl *ctl = closure;
	char answer[16] = "";

	if (ctl->options[OPTION_RESTART_COMMAND])
		return run_restart(ctl->options[OPTION_RESTART_COMMAND]);
	fprintf(stderr, "\nRestart your server now, and press Enter when it runs again. ");
	if (!fgets(answer, sizeof(answer), stdin))
		return "the restart was not confirmed";
	return NULL;
}

static bool confirm_exam(struct ctl *ctl, struct exam *exam, enum outcome *code)
{
	char question[EXTERNAL_ID_SIZE + CALLBACK_URL_SIZE + 256];

	snprintf(question, sizeof(question),
		"The credit of %s at %s will be moved for real, and given back, in %u cases: a few "
		"credits at a time, and once nearly all. Go on?",
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
	exam->last_id = exam_last_id_before(clock_wall_ms(), exam->number);
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
	if (ctl->options[OPTION_RESTART_COMMAND] || (!ctl->options[OPTION_YES] && ctl_can_ask())) {
		exam->restart = restart_dealer;
		exam->restart_closure = ctl;
	}
	exam_run(exam);
	progress_end(&progress);
	return exam_record(exam);
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

/* @stored is the outcome of storing the result. */
static enum outcome report_exam(struct ctl *ctl, struct exam *exam, FILE *junit,
	enum outcome stored)
{
	char detail[EXAM_DETAIL_SIZE], warning[EXAM_WARNING_SIZE];
	enum outcome code = write_junit(ctl, exam, junit);

	if (code == OUTCOME_DONE)
		code = stored;
	if (ctl->options[OPTION_TAP])
		exam_write_tap(exam, stdout);
	else if (exam_print(ctl, exam) != OUTCOME_DONE)
		code = OUTCOME_FAILED;
	if (exam_warning(exam, warning))
		ctl_tell(NULL, "warning: %s", warning);
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
	static const struct field fields[] = {
		FIELD(FIELD_STR, exam_row, name),
		FIELD(FIELD_STR, exam_row, group),
		FIELD(FIELD_STR, exam_row, rule),
		FIELD(FIELD_STR, exam_row, needs),
		FIELD(FIELD_STR, exam_row, expected),
		FIELD_END,
	};
	struct output_list list;

	if (!ctl->json)
		return exam_print_cases(exam);
	output_list_open(&list, ctl, "cases", "cases", fields, NULL);
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

/* Checks the names of --case. */
static enum outcome choose_cases(struct ctl *ctl, struct exam *exam)
{
	const char *names = ctl->options[OPTION_CASE];
	char name[EXAM_NAME_SIZE];

	exam->only = names;
	while (names) {
		size_t len = strcspn(names, ",");

		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name)),
			names);
		if (!exam_only_ok(exam, name))
			return ctl_usage(ctl, "there is no case %s; --dry-run prints the cases",
				name);
		names = names[len] ? names + len + 1 : NULL;
	}
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
	else if ((code = choose_cases(ctl, &exam)) == OUTCOME_DONE)
		code = do_exam(ctl, &exam, &begun);
	explicit_bzero(exam.targets, sizeof(exam.targets));
	if (begun)
		code = report_exam(ctl, &exam, junit, code);
	else if (exam.rows)
		report_nothing(ctl, &exam, junit);
	else if (junit)
		fclose(junit);
	http_client_free(exam.client);
	free(exam.rows);
	return code;
}

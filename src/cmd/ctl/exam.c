#include "cmd/ctl/exam.h"

#include "admin/audit_note.h"
#include "base/clock.h"
#include "cmd/ctl/outfile.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/ping.h"
#include "cmd/ctl/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Requests in a row to which nothing came: the dealer is gone. */
#define UNANSWERED_MAX 6

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* A case that was begun is brought to its end: it gives back what it took. */
static void take_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* A dealer that closes the connection is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
}

static void init_row(struct exam_row *row, const struct exam_group *group,
	const struct exam_case *case_)
{
	snprintf(row->group, sizeof(row->group), "%s", group->name);
	snprintf(row->name, sizeof(row->name), "%s", case_->name);
	snprintf(row->rule, sizeof(row->rule), "%s", case_->rule);
	snprintf(row->expected, sizeof(row->expected), "%s", case_->expected);
	row->result = EXAM_NOT_RUN;
}

static unsigned int count_cases(void)
{
	unsigned int count = 0;

	for (const struct exam_group *group = exam_groups; group->name; group++) {
		for (const struct exam_case *case_ = group->cases; case_->name; case_++)
			count++;
	}
	return count;
}

/* A row for every case. False: memory. */
static bool init_rows(struct exam *exam)
{
	unsigned int i = 0;

	exam->count = count_cases();
	exam->rows = exam->count ? calloc(exam->count, sizeof(*exam->rows)) : NULL;
	if (!exam->rows)
		return false;
	for (const struct exam_group *group = exam_groups; group->name; group++) {
		for (const struct exam_case *case_ = group->cases; case_->name; case_++)
			init_row(&exam->rows[i++], group, case_);
	}
	return true;
}

static const char *stop_reason(const struct exam *exam)
{
	if (interrupted)
		return "interrupted";
	if (exam->unanswered >= UNANSWERED_MAX)
		return "the dealer does not answer any more";
	return NULL;
}

static void run_cases(struct exam *exam)
{
	struct progress progress = progress_begin(exam->ctl);
	unsigned int i = 0;
	const char *stop;

	/* A case waits for the dealer. */
	progress.every_ms = 0;
	for (const struct exam_group *group = exam_groups; group->name; group++) {
		for (const struct exam_case *case_ = group->cases; case_->name; case_++, i++) {
			struct exam_row *row = &exam->rows[i];

			stop = stop_reason(exam);
			if (stop) {
				snprintf(row->why, sizeof(row->why), "%s", stop);
			} else {
				progress_show(&progress, "case %u of %u: %s", i + 1, exam->count,
					case_->name);
				exam_case_run(exam, case_, i + 1, row);
			}
			exam->results[row->result]++;
		}
	}
	progress_end(&progress);
	exam_ask(exam);
}

/* Who is put through it, with whose credit; the first inquiry, which the ledger gives leave for. */
static enum outcome prepare(struct exam *exam)
{
	struct ctl *ctl = exam->ctl;
	char balance[MONEY_TEXT_MAX], needs[MONEY_TEXT_MAX];
	struct ping ping = {.code = OUTCOME_FAILED};
	enum outcome code = ping_find(ctl, &exam->dealer, &exam->player);

	if (code == OUTCOME_DONE)
		code = ping_ask(ctl, &exam->player, &ping);
	if (code == OUTCOME_DONE && ping.code != OUTCOME_DONE)
		code = ctl_fail(ctl, ping.code, ping.error_id, "%s; nothing was tested",
			ping.error_detail);
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT && code == OUTCOME_DONE; i++) {
		exam->targets[i] = ping.target;
		snprintf(exam->targets[i].path, sizeof(exam->targets[i].path), "%s",
			dealer_callback_path(&exam->dealer, (enum callback_kind)i));
	}
	explicit_bzero(ping.target.keys, sizeof(ping.target.keys));
	if (code != OUTCOME_DONE)
		return code;
	memcpy(exam->url, ping.url, sizeof(exam->url));
	exam->balance = exam->first_balance = ping.outcome.balance;
	exam->has_balance = true;
	exam->number = ping.event;
	exam->copies = exam->dealer.max_inflight < EXAM_COPIES ? exam->dealer.max_inflight
							       : EXAM_COPIES;
	money_format(exam->balance, 2, balance);
	money_format(EXAM_NEEDS, 2, needs);
	if (exam->balance < EXAM_NEEDS)
		return ctl_fail(ctl, OUTCOME_FAILED, "insufficient_balance",
			"%s has %s, and %s are needed", exam->player.user_id, balance, needs);
	return OUTCOME_DONE;
}

static bool confirm(struct exam *exam, enum outcome *code)
{
	char question[EXTERNAL_ID_SIZE + CALLBACK_URL_SIZE + 256];

	snprintf(question, sizeof(question),
		"The credit of %s at %s will be moved for real, a few credits at a time, in %u "
		"cases. Go on?",
		exam->player.user_id, exam->url, exam->count);
	return ctl_confirm(exam->ctl, question, code);
}

/* Who did it, and with which ids, for the trail; before anything is moved. */
static enum outcome note(struct exam *exam)
{
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];

	snprintf(object, sizeof(object), "player %s/%s", exam->player.casino_id,
		exam->player.user_id);
	snprintf(detail, sizeof(detail), "first_id=%" PRIu64 " cases=%u url=%.300s",
		exam->first_id, exam->count, exam->url);
	return audit_note(&exam->ctl->session, NOTE_DEALER_TEST, object, detail);
}

static enum outcome make_client(struct exam *exam)
{
	const struct http_demands demands = {
		.public_only = true,
		.networks = exam->ctl->session.settings.callback_networks,
		.network_count = exam->ctl->session.settings.callback_network_count,
	};

	exam->client = http_client_new();
	if (!exam->client || !http_client_demand(exam->client, &demands))
		return ctl_no_memory(exam->ctl);
	return OUTCOME_DONE;
}

static enum outcome do_exam(struct exam *exam, bool *begun)
{
	enum outcome code = prepare(exam);

	if (code != OUTCOME_DONE || !confirm(exam, &code))
		return code;
	exam->last_id = EXAM_ID_BASE + ((uint64_t)clock_wall_ms() / 1000 << EXAM_SECOND_SHIFT) +
		((exam->number & EXAM_NUMBER_MASK) << EXAM_NUMBER_SHIFT);
	exam->first_id = exam->last_id + 1;
	code = note(exam);
	if (code == OUTCOME_DONE)
		code = make_client(exam);
	if (code != OUTCOME_DONE)
		return code;
	*begun = true;
	take_signals();
	run_cases(exam);
	return OUTCOME_DONE;
}

/* Writes the report to --junit's file, which is closed: a part of one is none. */
static enum outcome write_junit(const struct exam *exam, FILE *junit)
{
	const char *path = exam->ctl->options[OPTION_JUNIT];

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

static enum outcome report(struct exam *exam, FILE *junit)
{
	char detail[EXAM_DETAIL_SIZE];
	enum outcome code = write_junit(exam, junit);

	if (exam->ctl->options[OPTION_TAP])
		exam_print_tap(exam);
	else if (exam_print(exam) != OUTCOME_DONE)
		code = OUTCOME_FAILED;
	if (code != OUTCOME_DONE || !exam_detail(exam, detail))
		return code;
	ctl_tell("exam_failed", "%s", detail);
	return exam->unanswered >= UNANSWERED_MAX ? OUTCOME_UNREACHABLE : OUTCOME_FAILED;
}

/* Nothing was tested: whoever reads reports alone is told so, too. */
static void report_nothing(struct exam *exam, FILE *junit)
{
	for (unsigned int i = 0; i < exam->count; i++)
		snprintf(exam->rows[i].why, sizeof(exam->rows[i].why), "nothing was tested");
	exam->results[EXAM_NOT_RUN] = exam->count;
	exam->has_balance = false;
	write_junit(exam, junit);
}

/* Tells the cases. */
static enum outcome rehearse(struct exam *exam)
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

	output_list_open(&list, exam->ctl, "cases", "cases", fields, columns);
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
	/* Before anything is moved: what cannot be written is told in time. */
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

	exam.ctl = ctl;
	if (code != OUTCOME_DONE)
		return code;
	if (!init_rows(&exam))
		code = ctl_no_memory(ctl);
	else if (ctl->options[OPTION_DRY_RUN])
		code = rehearse(&exam);
	else
		code = do_exam(&exam, &begun);
	explicit_bzero(exam.targets, sizeof(exam.targets));
	if (begun)
		code = report(&exam, junit);
	else if (exam.rows)
		report_nothing(&exam, junit);
	else if (junit)
		fclose(junit);
	http_client_free(exam.client);
	free(exam.rows);
	return code;
}

/*
 * pages/health - what is broken, and what to do: the figures of the ledger, and the checks of doctor.
 *
 * Doctor is a job. Its newest result is kept for all operators, so that a look at the page does not
 * run it again. Only one run is under way at a time: an operator that asks for another meanwhile
 * sees that one.
 */
#include "base/clock.h"
#include "base/text.h"
#include "console/common/job.h"
#include "console/pages/pages.h"
#include "console/common/view.h"
#include "wire/body.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define RESULT_MAX    (1024 * 1024)
#define RESULT_AGE_MS INT64_C(900000) /* older results are made anew */
#define RESULT_NEW_MS                                                                              \
	INT64_C(10000) /* younger results are not made anew, even if an operator asks */

/* A run of doctor that is under way. */
struct doctor_run {
	int64_t begun_ms; /* wall clock; 0: there is none */
	char by[DESK_NAME_SIZE];
};

/* The newest result of doctor, and the run under way. */
static struct {
	pthread_mutex_t lock;
	struct buffer json; /* as `creditbridgectl doctor --json` writes it */
	int64_t made_ms;    /* wall clock; 0: there is none */
	char by[DESK_NAME_SIZE];
	struct doctor_run run;
} newest = {.lock = PTHREAD_MUTEX_INITIALIZER, .json = {.max = RESULT_MAX}};

/* A result that is shown. */
struct checks {
	struct buffer json;
	int64_t made_ms;
	char by[DESK_NAME_SIZE];
	int64_t failed, warnings, passed, not_looked_at, not_shown;
	struct bytes findings;
};

static const struct body_field checks_fields[] = {
	BODY_FIELD(BODY_INTEGER, checks, failed),
	BODY_FIELD(BODY_INTEGER, checks, warnings),
	BODY_FIELD(BODY_INTEGER, checks, passed),
	BODY_FIELD(BODY_INTEGER, checks, not_looked_at),
	BODY_FIELD(BODY_INTEGER, checks, not_shown),
	BODY_FIELD(BODY_ARRAY, checks, findings),
	BODY_FIELD_END,
};

/* A finding of doctor. */
struct check_row {
	char result[8];
	char check[64];
	char about[192];
	char found[512];
	char remedy[384];
};

static const struct body_field check_body[] = {
	BODY_FIELD(BODY_TEXT, check_row, result),
	BODY_FIELD(BODY_TEXT, check_row, check),
	BODY_FIELD(BODY_TEXT, check_row, about),
	BODY_FIELD(BODY_TEXT, check_row, found),
	BODY_FIELD(BODY_TEXT, check_row, remedy),
	BODY_FIELD_END,
};

static const struct field check_fields[] = {
	FIELD(FIELD_STR, check_row, result),
	FIELD(FIELD_STR, check_row, check),
	FIELD(FIELD_STR, check_row, about),
	FIELD(FIELD_STR, check_row, found),
	FIELD(FIELD_STR, check_row, remedy),
	FIELD_END,
};

static const struct view_column check_columns[] = {
	{"Result", "result", VIEW_STATE, NULL},
	{"Check", "check", VIEW_PLAIN, NULL},
	{"About", "about", VIEW_PLAIN, NULL},
	{"Found", "found", VIEW_PLAIN, NULL},
	{"What to do", "remedy", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column health_columns[] = {
	{"Halted", "halted", VIEW_PLAIN, NULL},
	{"Disk nearly full", "storage_low", VIEW_PLAIN, NULL},
	{"Version", "version", VIEW_PLAIN, NULL},
	{"Host of the cell", "member", VIEW_IF_ANY, NULL},
	{"Engine starts", "engine_starts", VIEW_PLAIN, NULL},
	{"Sweeper last seen", "swept_ms", VIEW_PLAIN, NULL},
	{"Last backup is complete to", "backup_ms", VIEW_PLAIN, NULL},
	{"Connections of workers", "connections", VIEW_PLAIN, NULL},
	{"Calls refused as busy", "refused_busy", VIEW_PLAIN, NULL},
	{"Dealers with held callbacks", "held_dealers", VIEW_IF_ANY, NULL},
	{"Keys to be confirmed", "unconfirmed_keys", VIEW_IF_ANY, NULL},
	VIEW_END,
};

/*
 * Takes the kept result, if it is younger than @age_ms. Otherwise begins a run, unless one is under way.
 * Returns true if this thread has begun it: run_doctor() ends it. @run is the run of another operator.
 */
static bool take_newest(const struct page *page, int64_t age_ms, struct checks *checks,
	struct doctor_run *run)
{
	int64_t old_ms;
	bool begun;

	pthread_mutex_lock(&newest.lock);
	old_ms = page->now_ms - newest.made_ms;
	if (newest.made_ms && old_ms < RESULT_AGE_MS &&
		buffer_append(&checks->json, newest.json.data, newest.json.len)) {
		checks->made_ms = newest.made_ms;
		memcpy(checks->by, newest.by, sizeof(checks->by));
	}
	*run = newest.run;
	begun = !run->begun_ms && (!checks->made_ms || old_ms >= age_ms);
	if (begun) {
		newest.run.begun_ms = clock_wall_ms();
		memcpy(newest.run.by, page->who.name, sizeof(newest.run.by));
	}
	pthread_mutex_unlock(&newest.lock);
	return begun;
}

/* Ends the run, and keeps its result if there is one. */
static void keep_newest(const struct checks *checks)
{
	pthread_mutex_lock(&newest.lock);
	newest.run.begun_ms = 0;
	if (checks->made_ms) {
		buffer_reset(&newest.json);
		newest.made_ms = 0;
		if (buffer_append(&newest.json, checks->json.data, checks->json.len)) {
			newest.made_ms = checks->made_ms;
			memcpy(newest.by, checks->by, sizeof(newest.by));
		}
	}
	pthread_mutex_unlock(&newest.lock);
}

/* Runs doctor. Returns false with the reason in @end. */
static bool run_doctor(struct page *page, struct checks *checks, struct job_end *end)
{
	struct job_request request = {.job = JOB_DOCTOR};

	buffer_reset(&checks->json);
	checks->made_ms = 0;
	/* Exit code 1 is a finding FAIL. */
	if (job_try(page, &request, &checks->json, end) && checks->json.len) {
		checks->made_ms = clock_wall_ms();
		memcpy(checks->by, page->who.name, sizeof(checks->by));
	}
	keep_newest(checks);
	return checks->made_ms;
}

static void write_findings(struct page *page, const struct checks *checks)
{
	static const char *const order[] = {"FAIL", "WARN", "SKIP", "PASS"};
	struct view view = {.fields = check_fields};
	char detail[BODY_DETAIL_MAX];
	struct bytes rest, item;
	struct check_row row;

	view_begin(&view, page, "The checks, those that need attention first", check_columns);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		rest = checks->findings;
		while (body_next_item(&rest, &item)) {
			memset(&row, 0, sizeof(row));
			if (body_parse(item.data, item.len, check_body, &row, detail) ==
					REFUSAL_NONE &&
				strcmp(row.result, order[i]) == 0)
				view_row(&view, &row);
		}
	}
	view_end(&view, "Doctor wrote no finding that can be read.");
}

/* Writes the result of doctor. */
static void write_result(struct page *page, struct checks *checks)
{
	struct html *html = &page->html;
	char detail[BODY_DETAIL_MAX];

	if (body_parse(checks->json.data, checks->json.len, checks_fields, checks, detail) !=
		REFUSAL_NONE) {
		html_element(html, "p", "error", "The result of doctor cannot be read.");
		return;
	}
	html_open(html, "p");
	html_printf(html,
		"FAIL %" PRId64 ", WARN %" PRId64 ", PASS %" PRId64 ", not looked at %" PRId64
		". Made ",
		checks->failed, checks->warnings, checks->passed, checks->not_looked_at);
	page_time(page, checks->made_ms);
	html_text(html, " for ");
	html_foreign(html, checks->by);
	html_text(html, ".");
	html_close(html);
	write_findings(page, checks);
	if (checks->not_shown) {
		html_open(html, "p");
		html_printf(html, "%" PRId64 " more findings are not shown.", checks->not_shown);
		html_close(html);
	}
	page_paragraph(page,
		"Doctor ran as the ledger's user. For what that user may not look at: sudo creditbridgectl "
		"doctor.");
}

static void write_run(struct page *page, const struct doctor_run *run)
{
	const struct page_address here = page_address(page, "/health");
	struct html *html = &page->html;

	html_open(html, "p");
	html_text(html, "Doctor has been running since ");
	page_time(page, run->begun_ms);
	html_text(html, " for ");
	html_foreign(html, run->by);
	html_printf(html, ", and takes %u s at most. ", job_infos[JOB_DOCTOR].seconds);
	page_link(page, &here, "Show its result");
	html_close(html);
}

static void write_checks(struct page *page, struct checks *checks, const struct doctor_run *run,
	const struct job_end *end)
{
	const struct page_address again = page_address(page, "/health");
	struct html *html = &page->html;

	html_open(html, "section");
	html_element(html, "h2", "", "Checks");
	if (run->begun_ms)
		write_run(page, run);
	if (checks->made_ms)
		write_result(page, checks);
	else if (!run->begun_ms)
		page_error_line(page,
			end->detail[0] ? end->detail : "Doctor failed and did not say why.");
	if (end->outcome == JOB_NOT_SERVED)
		page_paragraph(page, JOB_HOW_TO_SERVE);
	page_form(page, &again);
	page_button(page, "Run again");
	html_close(html);
	html_close(html);
}

static void write_health(struct page *page, const struct status_result *status)
{
	struct html *html = &page->html;
	const struct page_address csv = page_address(page, "/health.csv");
	char up[TEXT_DURATION_SIZE];

	html_open(html, "section");
	html_element(html, "h2", "", "Ledger");
	if (status->halted)
		page_error_line(page,
			"The ledger is halted because its disk failed: it refuses every request. Its log "
			"has the error: journalctl -u creditbridge-ledger. After the repair, on its "
			"host: creditbridgectl resume.");
	if (status->storage_low)
		page_error_line(page,
			"The disk is nearly full: the ledger refuses to write. Free or add space below "
			"state_directory.");
	text_duration(status->uptime_ms, up);
	html_open(html, "p");
	html_printf(html, "The engine is up for %s; %" PRIu64 " GiB of its disk are free.", up,
		status->disk_free_bytes >> 30);
	html_close(html);
	view_pairs(page, health_columns, status_result_fields, status);
	page_pager(page, NULL, "", &csv);
	html_close(html);
}

enum outcome page_health(struct page *page)
{
	const struct status_cmd cmd = {.unused = false};
	const struct page_address here = page_address(page, "/health");
	struct view view = {.fields = status_result_fields};
	struct checks checks = {.made_ms = 0};
	struct doctor_run run;
	struct job_end end = {.outcome = JOB_ENDED};
	struct status_result status;
	enum outcome code = session_do(&page->desk.session, COMMAND_STATUS, &cmd, &status, NULL);

	if (code != OUTCOME_DONE)
		return code;
	if (page->route->csv) {
		view_begin(&view, page, "", health_columns);
		view_row(&view, &status);
		return OUTCOME_DONE;
	}
	buffer_init(&checks.json, RESULT_MAX);
	if (take_newest(page, page->post ? RESULT_NEW_MS : RESULT_AGE_MS, &checks, &run))
		run_doctor(page, &checks, &end);
	if (page->post && (checks.made_ms || run.begun_ms)) {
		buffer_free(&checks.json);
		return page_go(page, &here);
	}
	page_begin(page, "Health");
	write_health(page, &status);
	write_checks(page, &checks, &run, &end);
	buffer_free(&checks.json);
	return page_end(page);
}

void page_health_down(struct page *page)
{
	static const char *const steps[] = {
		"systemctl status creditbridge-ledger",
		"journalctl -u creditbridge-ledger",
		"creditbridgectl doctor",
	};
	struct html *html = &page->html;

	page->code = 503;
	page_begin(page, "Health");
	html_element(html, "p", "error", "No ledger answers on desk.sock.");
	page_paragraph(page,
		"Without the ledger the console cannot confirm your session, so it shows no more. On the ledger's "
		"host, as root, in this order:");
	html_open(html, "ol");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		html_open(html, "li");
		html_element(html, "code", "", page_remedy(page, steps[i]));
		html_close(html);
	}
	html_close(html);
	page_end(page);
}

#include "console/common/job.h"

#include "base/log.h"
#include "base/text.h"
#include "console/common/route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Of a user_id, each character of which may be a quote. */
#define SHELL_WORD_SIZE (4 * EXTERNAL_ID_SIZE)
#define COMMAND_SIZE    (SHELL_WORD_SIZE + 256)

/* The pages of a job that did not run to its end. The detail is the job's. */
static const int outcome_codes[JOB_OUTCOME_COUNT] = {
	[JOB_BAD_REQUEST] = 400,
	[JOB_NO_FRONT] = 403,
	[JOB_SIGNED_OUT] = 403,
	[JOB_ROLE_NEEDED] = 403,
	[JOB_BUSY] = 503,
	[JOB_TOO_LONG] = 503,
	[JOB_TOO_LARGE] = 503,
	[JOB_NO_LEDGER] = 503,
	[JOB_FAILED] = 500,
};

/* Writes @text as one word of a shell. */
static void shell_word(const char *text, char word[SHELL_WORD_SIZE])
{
	size_t len = 0;

	if (text_is_name(text, SHELL_WORD_SIZE - 1)) {
		text_copy(word, SHELL_WORD_SIZE, text);
		return;
	}
	word[len++] = '\'';
	for (; *text && len < SHELL_WORD_SIZE - 6; text++) {
		if (*text == '\'') {
			memcpy(word + len, "'\\'", 3);
			len += 3;
		}
		word[len++] = *text;
	}
	word[len++] = '\'';
	word[len] = '\0';
}

/* Writes the command of @request, as it is typed at a shell. */
static void command_text(const struct job_request *request, char text[COMMAND_SIZE])
{
	char user[SHELL_WORD_SIZE] = "";

	if (request->user_id[0])
		shell_word(request->user_id, user);
	snprintf(text, COMMAND_SIZE, "creditbridgectl %s%s%s%s%s%s%s%s%s",
		job_infos[request->job].command, request->date[0] ? " --date=" : "", request->date,
		user[0] ? " --user=" : "", user, request->request[0] ? " " : "", request->request,
		request->casino_id[0] ? " " : "", request->casino_id);
}

static bool job_not_run(struct job_end *end, enum job_outcome outcome, const char *detail)
{
	end->outcome = outcome;
	snprintf(end->detail, sizeof(end->detail), "%s", detail);
	return false;
}

static bool job_lost(struct job_end *end)
{
	return job_not_run(end, JOB_FAILED,
		"The job ended without a complete answer: too many jobs were asked for at once, or it was "
		"killed. Repeat this in a moment. Its log: journalctl -t creditbridgectl.");
}

/* Nothing listens on jobs.sock. */
static bool job_absent(const struct page *page, const struct job_request *request, int error,
	struct job_end *end)
{
	char command[COMMAND_SIZE];

	command_text(request, command);
	log_line(error == ENOENT ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "no_jobs",
		"request_id=%s error=\"%s\"", page->request_id, strerror(error));
	end->outcome = JOB_NOT_SERVED;
	snprintf(end->detail, sizeof(end->detail),
		"The console cannot run this: jobs.sock: %s. On the ledger's host, as root, type: %s",
		error == ENOENT ? "nothing listens there" : strerror(error), command);
	return false;
}

/* Begins the job. Returns false with the end. */
static bool begin_job(struct page *page, struct job_request *request, struct job_end *end)
{
	const struct console *console = page->console;
	enum job_link_status status;
	struct frame_vouch vouch;
	int error = 0;

	if (!console->jobs_path || !console->way->vouch)
		return job_absent(page, request, ENOENT, end);
	if (!console->way->vouch(&page->desk.caller, &vouch))
		return job_not_run(end, JOB_FAILED,
			"Memory is exhausted. Repeat this in a moment.");
	memcpy(request->front, vouch.front, sizeof(request->front));
	memcpy(request->session, vouch.session, sizeof(request->session));
	text_copy(request->request_id, sizeof(request->request_id), page->request_id);
	status = job_link_begin(&page->job, console->jobs_path, request, &error);
	explicit_bzero(request->front, sizeof(request->front));
	explicit_bzero(request->session, sizeof(request->session));
	explicit_bzero(&vouch, sizeof(vouch));
	if (status == JOB_LINK_ABSENT)
		return job_absent(page, request, error, end);
	return status == JOB_LINK_DONE || job_lost(end);
}

bool job_try(struct page *page, struct job_request *request, struct buffer *out,
	struct job_end *end)
{
	struct job_part part;
	enum job_link_status status;

	memset(end, 0, sizeof(*end));
	if (!begin_job(page, request, end))
		return false;
	do {
		status = job_link_next(&page->job, &part);
		if (status == JOB_LINK_DONE && part.kind == JOB_OUTPUT)
			buffer_append(out, part.output.data, part.output.len);
	} while (status == JOB_LINK_DONE && part.kind == JOB_OUTPUT);
	job_link_close(&page->job);
	if (status != JOB_LINK_DONE || out->failed)
		return job_lost(end);
	*end = part.end;
	return end->outcome == JOB_ENDED;
}

/* Makes the page of a job that did not run to its end. */
static void show_not_run(struct page *page, const struct job_end *end)
{
	if (end->outcome != JOB_NOT_SERVED) {
		page_error(page, outcome_codes[end->outcome], end->detail, "");
		return;
	}
	buffer_reset(&page->body);
	page_begin(page, "To be typed at a shell");
	page_paragraph(page, end->detail);
	page_paragraph(page, JOB_HOW_TO_SERVE);
	page_end(page);
}

bool job_collect(struct page *page, struct job_request *request, struct buffer *out,
	struct job_end *end)
{
	if (job_try(page, request, out, end))
		return true;
	show_not_run(page, end);
	return false;
}

enum outcome job_failed(struct page *page, const struct job_end *end)
{
	static const struct {
		enum outcome outcome;
		int code;
	} codes[] = {
		{OUTCOME_FAILED, 404},
		{OUTCOME_USAGE, 400},
		{OUTCOME_UNREACHABLE, 503},
		{OUTCOME_BUSY, 503},
	};
	int code = 500;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (end->exit_code == (uint32_t)codes[i].outcome)
			code = codes[i].code;
	}
	return page_error(page, code,
		end->detail[0] ? end->detail : "The command failed and did not say why.", "");
}

enum outcome job_download(struct page *page, struct job_request *request, const char *name)
{
	struct job_part part = {.kind = JOB_END};
	bool begun = begin_job(page, request, &part.end);

	if (begun && job_link_next(&page->job, &part) != JOB_LINK_DONE) {
		part.kind = JOB_END;
		job_lost(&part.end);
	}
	if (part.kind == JOB_END) {
		job_link_close(&page->job);
		if (begun && part.end.outcome == JOB_ENDED)
			return job_failed(page, &part.end);
		show_not_run(page, &part.end);
		return OUTCOME_DONE;
	}
	page->content_type = "text/csv; charset=utf-8";
	text_copy(page->file_name, sizeof(page->file_name), name);
	buffer_reset(&page->body);
	buffer_append(&page->body, part.output.data, part.output.len);
	page->streams = true;
	return OUTCOME_DONE;
}

bool job_more(struct page *page, bool *cut)
{
	struct job_part part;

	buffer_reset(&page->body);
	if (job_link_next(&page->job, &part) != JOB_LINK_DONE)
		*cut = true;
	else if (part.kind == JOB_END)
		*cut = part.end.outcome != JOB_ENDED || part.end.exit_code != 0;
	else
		*cut = !buffer_append(&page->body, part.output.data, part.output.len);
	if (*cut)
		log_line(LOG_LEVEL_WARNING, "download_cut", "request_id=%s page=%s",
			page->request_id, page->route->path);
	return !*cut && part.kind == JOB_OUTPUT;
}

#include "test_link.h"

#include "link/job_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char hex[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static struct job_request request_of(enum job job, const char *request, const char *casino,
	const char *date)
{
	struct job_request made = {.job = job};

	strcpy(made.front, hex);
	strcpy(made.session, hex);
	strcpy(made.request_id, "console-1");
	strcpy(made.request, request);
	strcpy(made.casino_id, casino);
	strcpy(made.date, date);
	return made;
}

static enum frame_read reread(const struct job_request *request, struct job_request *again)
{
	struct buffer out;
	enum frame_read read;

	buffer_init(&out, JOB_REQUEST_MAX);
	ck_assert(job_request_put(&out, request));
	for (uint32_t len = 0; len < out.len; len++)
		ck_assert_int_eq(job_request_get((struct bytes){out.data, len}, again),
			FRAME_INCOMPLETE);
	read = job_request_get((struct bytes){out.data, (uint32_t)out.len}, again);
	buffer_free(&out);
	return read;
}

/* The longest request fits, and comes back. */
START_TEST(requests_come_back)
{
	static char longest[FRAME_REQUEST_ID_SIZE];
	struct job_request request, again;

	memset(longest, 'x', sizeof(longest) - 1);
	request = request_of(JOB_RECON, "", longest, "2026-11-26");
	strcpy(request.request_id, longest);
	ck_assert_int_eq(reread(&request, &again), FRAME_COMPLETE);
	ck_assert_int_eq(again.job, JOB_RECON);
	ck_assert_str_eq(again.front, hex);
	ck_assert_str_eq(again.session, hex);
	ck_assert_str_eq(again.casino_id, longest);
	ck_assert_str_eq(again.date, "2026-11-26");
	request = request_of(JOB_EXPLAIN, longest, "", "");
	ck_assert_int_eq(reread(&request, &again), FRAME_COMPLETE);
	ck_assert_str_eq(again.request, longest);
}
END_TEST

/* Each job takes its arguments and no others, and none that a command would take for an option. */
START_TEST(arguments_are_checked)
{
	static const struct {
		enum job job;
		const char *request, *casino, *date;
		enum frame_read read;
	} cases[] = {
		{JOB_DOCTOR, "", "", "", FRAME_COMPLETE},
		{JOB_DOCTOR, "x", "", "", FRAME_GARBAGE},
		{JOB_DOCTOR, "", "demo", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "abc", "", "", FRAME_COMPLETE},
		{JOB_EXPLAIN, "", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "-", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "--json", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "a b", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "a;id", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "$(id)", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "../x", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "a\nb", "", "", FRAME_GARBAGE},
		{JOB_EXPLAIN, "abc", "demo", "", FRAME_GARBAGE},
		{JOB_PING, "", "demo", "", FRAME_COMPLETE},
		{JOB_PING, "", "-demo", "", FRAME_GARBAGE},
		{JOB_PING, "", "", "", FRAME_GARBAGE},
		{JOB_PING, "", "demo", "2026-11-26", FRAME_GARBAGE},
		{JOB_RECON, "", "demo", "2026-11-26", FRAME_COMPLETE},
		{JOB_RECON, "", "demo", "", FRAME_GARBAGE},
		{JOB_RECON, "", "demo", "2026-11-2", FRAME_GARBAGE},
		{JOB_RECON, "", "demo", "yesterday.", FRAME_GARBAGE},
		{JOB_RECON, "", "demo", "2026-11-2x", FRAME_GARBAGE},
		{JOB_RECON, "", "", "2026-11-26", FRAME_GARBAGE},
		{JOB_BALANCE, "", "demo", "", FRAME_GARBAGE},
	};
	/* A user_id is the text of one option, so it may look like an option. */
	static const struct {
		enum job job;
		const char *user;
		enum frame_read read;
	} users[] = {
		{JOB_DOCTOR, "alice", FRAME_GARBAGE},
		{JOB_PING, "alice", FRAME_GARBAGE},
		{JOB_BALANCE, "a\nb", FRAME_GARBAGE},
		{JOB_BALANCE, "\xff", FRAME_GARBAGE},
		{JOB_BALANCE, "alice", FRAME_COMPLETE},
		{JOB_BALANCE, "--json; $(id)", FRAME_COMPLETE},
	};
	struct job_request request, again;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		request =
			request_of(cases[i].job, cases[i].request, cases[i].casino, cases[i].date);
		ck_assert_msg(reread(&request, &again) == cases[i].read, "case %zu", i);
	}
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		request =
			request_of(users[i].job, "", users[i].job == JOB_DOCTOR ? "" : "demo", "");
		strcpy(request.user_id, users[i].user);
		ck_assert_msg(reread(&request, &again) == users[i].read, "user %zu", i);
	}
	memset(request.user_id, 'x', sizeof(request.user_id) - 1);
	ck_assert_int_eq(reread(&request, &again), FRAME_COMPLETE);
	ck_assert_str_eq(again.user_id, request.user_id);
	request = request_of(JOB_DOCTOR, "", "", "");
	request.request_id[0] = '\0';
	ck_assert_int_eq(reread(&request, &again), FRAME_GARBAGE);
}
END_TEST

/* Bytes that are no request, with a request in front of some of them. */
START_TEST(garbage_is_no_request)
{
	const struct job_request request = request_of(JOB_DOCTOR, "", "", "");
	struct job_request again;
	struct buffer out;

	ck_assert_int_eq(job_request_get((struct bytes){(const uint8_t *)"GET /", 5}, &again),
		FRAME_GARBAGE);
	ck_assert_int_eq(job_request_get((struct bytes){(const uint8_t *)"CBJ1\xff\xff\xff\xff", 8},
				 &again),
		FRAME_GARBAGE);
	ck_assert_int_eq(job_request_get((struct bytes){(const uint8_t *)"CBJ1\0\0\0\1\xff", 9},
				 &again),
		FRAME_GARBAGE);
	buffer_init(&out, JOB_REQUEST_MAX);
	ck_assert(job_request_put(&out, &request));
	buffer_append(&out, "x", 1);
	ck_assert_int_eq(job_request_get((struct bytes){out.data, (uint32_t)out.len}, &again),
		FRAME_GARBAGE);
	out.data[8] = JOB_COUNT;
	ck_assert_int_eq(job_request_get((struct bytes){out.data, (uint32_t)out.len - 1}, &again),
		FRAME_GARBAGE);
	buffer_free(&out);
}
END_TEST

START_TEST(answers_come_back)
{
	static char chunk[JOB_CHUNK_MAX];
	struct job_end end = {.outcome = JOB_ENDED, .exit_code = 3};
	struct job_part part;
	struct buffer out;
	size_t size;

	memset(end.detail, 'd', sizeof(end.detail) - 1);
	buffer_init(&out, 2 * JOB_ANSWER_MAX);
	ck_assert(job_output_put(&out, chunk, sizeof(chunk)) && job_end_put(&out, &end));
	ck_assert_int_eq(job_part_get((struct bytes){out.data, 4}, &part, &size), FRAME_INCOMPLETE);
	ck_assert_int_eq(job_part_get((struct bytes){out.data, JOB_CHUNK_MAX}, &part, &size),
		FRAME_INCOMPLETE);
	ck_assert_int_eq(job_part_get((struct bytes){out.data, (uint32_t)out.len}, &part, &size),
		FRAME_COMPLETE);
	ck_assert_int_eq(part.kind, JOB_OUTPUT);
	ck_assert_uint_eq(part.output.len, JOB_CHUNK_MAX);
	buffer_consume(&out, size);
	ck_assert_int_eq(job_part_get((struct bytes){out.data, (uint32_t)out.len}, &part, &size),
		FRAME_COMPLETE);
	ck_assert_int_eq(part.kind, JOB_END);
	ck_assert_uint_eq(part.end.exit_code, 3);
	ck_assert_str_eq(part.end.detail, end.detail);
	ck_assert_uint_eq(size, out.len);
	out.data[1] = 0xff;
	ck_assert_int_eq(job_part_get((struct bytes){out.data, (uint32_t)out.len}, &part, &size),
		FRAME_GARBAGE);
	out.data[0] = 9;
	ck_assert_int_eq(job_part_get((struct bytes){out.data, 1}, &part, &size), FRAME_GARBAGE);
	buffer_free(&out);
}
END_TEST

/* Sends @len bytes as the answer of a job that then ends, and returns what the link makes of it. */
static enum job_link_status link_reads(const void *bytes, size_t len, struct job_part *part)
{
	struct job_link link;
	enum job_link_status status;
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	ck_assert_int_eq(write(ends[1], bytes, len), (ssize_t)len);
	close(ends[1]);
	job_link_init(&link);
	link.fd = ends[0];
	link.until_ms = INT64_MAX / 2;
	do {
		status = job_link_next(&link, part);
	} while (status == JOB_LINK_DONE && part->kind == JOB_OUTPUT);
	job_link_free(&link);
	return status;
}

/* An answer without its end is lost, whatever came before. */
START_TEST(answers_without_end_are_lost)
{
	const struct job_end end = {.outcome = JOB_BUSY};
	struct job_part part;
	struct buffer out;

	buffer_init(&out, JOB_ANSWER_MAX);
	ck_assert_int_eq(link_reads("", 0, &part), JOB_LINK_LOST);
	ck_assert_int_eq(link_reads("\x07", 1, &part), JOB_LINK_LOST);
	ck_assert(job_output_put(&out, "text", 4));
	ck_assert_int_eq(link_reads(out.data, out.len, &part), JOB_LINK_LOST);
	ck_assert(job_end_put(&out, &end));
	ck_assert_int_eq(link_reads(out.data, out.len - 1, &part), JOB_LINK_LOST);
	ck_assert_int_eq(link_reads(out.data, out.len, &part), JOB_LINK_DONE);
	ck_assert_int_eq(part.end.outcome, JOB_BUSY);
	buffer_free(&out);
}
END_TEST

START_TEST(no_socket_is_absent)
{
	const struct job_request request = request_of(JOB_DOCTOR, "", "", "");
	char longest[200];
	struct job_link link;
	int error = 0;

	job_link_init(&link);
	ck_assert_int_eq(job_link_begin(&link, "/nowhere/jobs.sock", &request, &error),
		JOB_LINK_ABSENT);
	ck_assert_int_eq(error, ENOENT);
	memset(longest, '/', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_int_eq(job_link_begin(&link, longest, &request, &error), JOB_LINK_ABSENT);
	ck_assert_int_eq(error, ENAMETOOLONG);
	job_link_free(&link);
}
END_TEST

Suite *jobs_suite(void)
{
	Suite *suite = suite_create("jobs");
	TCase *tcase = tcase_create("jobs");

	tcase_add_test(tcase, requests_come_back);
	tcase_add_test(tcase, arguments_are_checked);
	tcase_add_test(tcase, garbage_is_no_request);
	tcase_add_test(tcase, answers_come_back);
	tcase_add_test(tcase, answers_without_end_are_lost);
	tcase_add_test(tcase, no_socket_is_absent);
	suite_add_tcase(suite, tcase);
	return suite;
}

#include "suites.h"

#include "base/log.h"
#include "wire/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the text written to standard error since the last call. */
static const char *caught(bool begin)
{
	static char text[16384];
	static FILE *file;
	static long at;
	ssize_t len;

	if (begin) {
		file = tmpfile();
		ck_assert_ptr_nonnull(file);
		ck_assert_int_eq(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
		at = 0;
		return "";
	}
	len = pread(fileno(file), text, sizeof(text) - 1, at);
	ck_assert_int_ge(len, 0);
	text[len] = '\0';
	at += len;
	return text;
}

static const char *traced(const struct trace_of *of, const void *body, size_t len)
{
	const char *text;

	trace_body(of, (struct bytes){body, (uint32_t)len});
	text = strstr(caught(false), "level=");
	return text ? text : "";
}

START_TEST(bodies_are_shown_at_debug)
{
	const struct trace_of request = {.request_id = "r-1", .what = "request"};
	const struct trace_of callback = {.request_id = "r-1",
		.webhook_id = "betting-7",
		.what = "callback"};
	const struct trace_of swept = {.webhook_id = "betting-7", .what = "callback_answer"};

	caught(true);
	log_open("prog", false, LOG_LEVEL_INFO);
	ck_assert_str_eq(traced(&request, "{}", 2), "");
	log_open("prog", false, LOG_LEVEL_DEBUG);
	ck_assert_str_eq(traced(&request, "{\"a\": \"b\\n\"}", 12),
		"level=debug event=body request_id=r-1 of=request bytes=12 "
		"body=\"{\\\"a\\\": \\\"b\\\\n\\\"}\"\n");
	ck_assert_str_eq(traced(&callback, "x", 1),
		"level=debug event=body request_id=r-1 "
		"webhook_id=betting-7 of=callback bytes=1 body=\"x\"\n");
	ck_assert_str_eq(traced(&swept, NULL, 0),
		"level=debug event=body request_id=- "
		"webhook_id=betting-7 of=callback_answer bytes=0 body=\"\"\n");
	/* The output is one line, whatever the text contains. */
	ck_assert_str_eq(traced(&request, "a\nevent=b\" c=d\0\xff\xc3\xa4", 18),
		"level=debug event=body request_id=r-1 of=request bytes=18 "
		"body=\"a\\nevent=b\\\" c=d\\u0000?\xc3\xa4\"\n");
}
END_TEST

START_TEST(long_bodies_are_cut)
{
	const struct trace_of of =
		{.request_id = "0123456789-abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			.webhook_id = "balance-inquire-18446744073709551615",
			.what = "callback_answer"};
	static const char fills[] = {'x', '"', '\x01', '\xff'};
	char body[65536];

	caught(true);
	log_open("a-program-with-a-long-name.fcgi", false, LOG_LEVEL_DEBUG);
	for (size_t i = 0; i < sizeof(fills); i++) {
		const char *line;

		memset(body, fills[i], sizeof(body));
		line = traced(&of, body, sizeof(body));
		ck_assert_msg(strstr(line, " bytes=65536 body=\""), "%s", line);
		ck_assert_str_eq(line + strlen(line) - 2, "\"\n");
		ck_assert_uint_ge(strlen(line), 512);
		ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	}
	memset(body, 'x', sizeof(body));
	ck_assert(strstr(traced(&of, body, TRACE_BODY_MAX + 1), "bytes=1025 body="));
}
END_TEST

Suite *trace_suite(void)
{
	const TTest *const tests[] = {bodies_are_shown_at_debug, long_bodies_are_cut, NULL};

	return suite_make("trace", tests, 10);
}

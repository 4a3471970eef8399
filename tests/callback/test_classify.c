/*
 * Tests the table of the contract, "Answers of a dealer", row by row.
 */
#include "suites.h"

#include "callback/classify.h"

#include <string.h>

#define ERROR "{\"id\":\"a\",\"detail\":\"b\"}"

static struct callback_outcome classified_with(bool needs_balance, enum http_outcome http, int code,
	const char *headers, const char *body)
{
	struct callback_outcome outcome;
	struct http_answer answer;

	http_answer_init(&answer);
	answer.outcome = http;
	answer.code = code;
	answer.ms = 12;
	if (http != HTTP_ANSWERED)
		strcpy(answer.error, "what\nhappened");
	ck_assert(buffer_append_str(&answer.headers, headers));
	ck_assert(buffer_append_str(&answer.body, body));
	memset(&outcome, 0xff, sizeof(outcome));
	classify(&answer, needs_balance, &outcome);
	http_answer_free(&answer);
	ck_assert_uint_eq(outcome.ms, 12);
	ck_assert_int_eq(outcome.http_status, code);
	return outcome;
}

static struct callback_outcome classified(enum http_outcome http, int code, const char *headers,
	const char *body)
{
	return classified_with(false, http, code, headers, body);
}

START_TEST(every_status)
{
	for (int code = 0; code < 1000; code++) {
		bool later = code == 408 || code == 425 || code == 429;
		enum callback_class empty = CALLBACK_UNKNOWN, error = CALLBACK_UNKNOWN,
				    html = CALLBACK_UNKNOWN;
		struct callback_outcome outcome;

		if (code / 100 == 2) {
			empty = CALLBACK_SUCCESS;
			error = CALLBACK_REFUSED;
		} else if (code / 100 == 4 && !later) {
			empty = error = html = CALLBACK_REFUSED;
		}
		ck_assert_int_eq(classified(HTTP_ANSWERED, code, "", "").class, empty);
		ck_assert_int_eq(classified(HTTP_ANSWERED, code, "", "{}").class, empty);
		ck_assert_int_eq(classified(HTTP_ANSWERED, code, "", "<html>").class, html);
		outcome = classified(HTTP_ANSWERED, code, "", ERROR);
		ck_assert_int_eq(outcome.class, error);
		ck_assert_str_eq(outcome.dealer_error_id, error == CALLBACK_REFUSED ? "a" : "");
		ck_assert_str_eq(outcome.dealer_error_detail, error == CALLBACK_REFUSED ? "b" : "");
	}
}
END_TEST

/* Only an unsent request counts as not sent. Only a complete answer counts as an answer. */
START_TEST(every_outcome)
{
	static const struct {
		enum http_outcome http;
		enum callback_class class;
	} cases[] = {
		{HTTP_CUT, CALLBACK_UNKNOWN},
		{HTTP_TOO_LARGE, CALLBACK_UNKNOWN},
		{HTTP_NOT_SENT, CALLBACK_NOT_SENT},
		{HTTP_FENCED, CALLBACK_NOT_SENT},
		{HTTP_FAILED, CALLBACK_NOT_SENT},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct callback_outcome outcome = classified(cases[i].http, 200, "", "{}");

		ck_assert_int_eq(outcome.class, cases[i].class);
		ck_assert_str_eq(outcome.note, "what?happened");
		ck_assert_int_eq(classified(cases[i].http, 400, "", ERROR).class, cases[i].class);
	}
}
END_TEST

/* The note names a status that is not an answer to the call, and the remedy. */
START_TEST(notes_have_a_remedy)
{
	ck_assert_str_eq(classified(HTTP_ANSWERED, 501, "", "{}").note,
		"HTTP status 501: the dealer's server does not implement the call; check the URL and "
		"the callback's path");
	ck_assert_str_eq(classified(HTTP_ANSWERED, 301, "", "{}").note,
		"HTTP status 301: redirects are not followed; set the dealer's URL to where it leads");
	ck_assert_str_eq(classified(HTTP_ANSWERED, 503, "", "{}").note,
		"HTTP status 503: the dealer's web server does not reach its application; see the "
		"dealer's log");
}
END_TEST

START_TEST(packed_answers_are_not_readable)
{
	static const struct {
		const char *headers;
		enum callback_class class;
	} cases[] = {
		{"Content-Type: text/plain\nX-Content-Encoding: gzip\n", CALLBACK_SUCCESS},
		{"Content-Encoding: identity\n", CALLBACK_SUCCESS},
		{"content-encoding:\tIDENTITY\nTransfer-Encoding: chunked\n", CALLBACK_SUCCESS},
		{"Content-Encoding: gzip\n", CALLBACK_UNKNOWN},
		{"Content-Encoding: br\n", CALLBACK_UNKNOWN},
		{"Content-Encoding:\n", CALLBACK_UNKNOWN},
		{"Content-Encoding: identity\nContent-Encoding: gzip\n", CALLBACK_UNKNOWN},
		{"Transfer-Encoding: gzip, chunked\n", CALLBACK_UNKNOWN},
		{"Transfer-Encoding: chunked\nTransfer-Encoding: gzip\n", CALLBACK_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(classified(HTTP_ANSWERED, 200, cases[i].headers, "{}").class ==
				cases[i].class,
			"%s", cases[i].headers);
		/* An unread body must not be treated as empty. */
		ck_assert_int_eq(classified(HTTP_ANSWERED, 200, cases[i].headers, "").class,
			cases[i].class);
		ck_assert_int_eq(classified(HTTP_ANSWERED, 400, cases[i].headers, ERROR).class,
			CALLBACK_REFUSED);
	}
}
END_TEST

START_TEST(wrong_members_change_nothing)
{
	struct callback_outcome outcome = classified(HTTP_ANSWERED, 200, "",
		"{\"user_id\":\"alice\",\"balance\":\"x\",\"currency\":\"thb\"}");

	ck_assert_int_eq(outcome.class, CALLBACK_SUCCESS);
	ck_assert(!outcome.has_balance);
	ck_assert_str_eq(outcome.user_id, "alice");
	ck_assert_str_eq(outcome.currency, "thb");
	ck_assert_str_eq(outcome.note, "not usable in the answer: balance");
	/* A balance in a refusal is ignored. */
	outcome = classified(HTTP_ANSWERED, 400, "", "{\"balance\":1}");
	ck_assert_int_eq(outcome.class, CALLBACK_REFUSED);
	ck_assert(!outcome.has_balance);
	ck_assert_str_eq(outcome.note, "HTTP status 400 without an error body");
}
END_TEST

/* The setting success_needs_balance makes a success without a balance unreadable, nothing else. */
START_TEST(a_success_needs_its_balance)
{
	static const struct {
		int code;
		const char *body;
		enum callback_class class;
	} cases[] = {
		{200, "", CALLBACK_UNKNOWN},
		{204, "", CALLBACK_UNKNOWN},
		{200, " \n", CALLBACK_UNKNOWN},
		{200, "{}", CALLBACK_UNKNOWN},
		{200, "{\"status\":\"INSUFFICIENT_FUNDS\"}", CALLBACK_UNKNOWN},
		{200, "{\"code\":1,\"message\":\"no credit\",\"balance\":null}", CALLBACK_UNKNOWN},
		{200, "{\"balance\":\"12.5\"}", CALLBACK_UNKNOWN},
		{200, "{\"balance\":0.00001}", CALLBACK_UNKNOWN},
		{200, "{\"data\":{\"balance\":1}}", CALLBACK_UNKNOWN},
		{200, "[{\"balance\":1}]", CALLBACK_UNKNOWN},
		{200, "OK", CALLBACK_UNKNOWN},
		{200, "{\"balance\":0}", CALLBACK_SUCCESS},
		{201, "{\"balance\":12.5,\"currency\":7}", CALLBACK_SUCCESS},
		{200, ERROR, CALLBACK_REFUSED},
		{409, ERROR, CALLBACK_REFUSED},
		{409, "{}", CALLBACK_REFUSED},
		{500, "{\"balance\":1}", CALLBACK_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct callback_outcome outcome =
			classified_with(true, HTTP_ANSWERED, cases[i].code, "", cases[i].body);

		ck_assert_msg(outcome.class == cases[i].class, "%d %s: %s", cases[i].code,
			cases[i].body, callback_class_names[outcome.class]);
	}
	ck_assert_str_eq(classified_with(true, HTTP_ANSWERED, 200, "", "{}").note,
		"no usable balance in the answer: this dealer's setting success_needs_balance "
		"requires one");
	ck_assert_int_eq(classified_with(true, HTTP_NOT_SENT, 0, "", "").class, CALLBACK_NOT_SENT);
}
END_TEST

Suite *classify_suite(void)
{
	const TTest *const tests[] = {every_status, every_outcome, packed_answers_are_not_readable,
		notes_have_a_remedy, wrong_members_change_nothing, a_success_needs_its_balance,
		NULL};

	return suite_make("classify", tests, 20);
}

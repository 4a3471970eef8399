#include "suites.h"

#include "chance.h"
#include "wire/dealer_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEP16 "{\"a\":[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]}"
#define DEEP17 "{\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}"

static enum dealer_answer_shape read_text(const char *text, size_t len,
	struct callback_outcome *outcome)
{
	/* Memory of the exact size detects reads beyond the end. */
	char *copy = malloc(len ? len : 1);
	enum dealer_answer_shape shape;

	ck_assert_ptr_nonnull(copy);
	if (len)
		memcpy(copy, text, len);
	memset(outcome, 0, sizeof(*outcome));
	shape = dealer_answer_read(copy, len, outcome);
	free(copy);
	return shape;
}

static const struct {
	const char *text;
	enum dealer_answer_shape shape;
} shapes[] = {
	{"", DEALER_ANSWER_EMPTY},
	{" \t\r\n ", DEALER_ANSWER_EMPTY},
	{"\v", DEALER_ANSWER_UNREADABLE},
	{"{}", DEALER_ANSWER_OBJECT},
	{"\r\n {\"ok\":true}\n", DEALER_ANSWER_OBJECT},
	{DEEP16, DEALER_ANSWER_OBJECT},
	{DEEP17, DEALER_ANSWER_UNREADABLE},
	{"{\"n\":1e999}", DEALER_ANSWER_OBJECT},
	{"OK", DEALER_ANSWER_UNREADABLE},
	{"\"OK\"", DEALER_ANSWER_UNREADABLE},
	{"true", DEALER_ANSWER_UNREADABLE},
	{"null", DEALER_ANSWER_UNREADABLE},
	{"1", DEALER_ANSWER_UNREADABLE},
	{"[]", DEALER_ANSWER_UNREADABLE},
	{"[{}]", DEALER_ANSWER_UNREADABLE},
	{"<html>", DEALER_ANSWER_UNREADABLE},
	{"{", DEALER_ANSWER_UNREADABLE},
	{"{\"a\":1", DEALER_ANSWER_UNREADABLE},
	{"{}{}", DEALER_ANSWER_UNREADABLE},
	{"{} x", DEALER_ANSWER_UNREADABLE},
	{"{\"a\":1,\"a\":1}", DEALER_ANSWER_UNREADABLE},
	{"{\"a\":{\"b\":1,\"b\":2}}", DEALER_ANSWER_UNREADABLE},
	{"{\"a\":\"\xff\"}", DEALER_ANSWER_UNREADABLE},
	{"{\"a\":\"\\u0000\"}", DEALER_ANSWER_UNREADABLE},
	{"\xef\xbb\xbf{}", DEALER_ANSWER_UNREADABLE},
	{"{\"id\":\"x\",\"detail\":\"y\"}", DEALER_ANSWER_ERROR},
	{"{\"id\":\"\",\"detail\":\"\"}", DEALER_ANSWER_ERROR},
	{"{\"id\":\"x\",\"detail\":\"y\",\"balance\":1,\"code\":404}", DEALER_ANSWER_ERROR},
	{"{\"id\":\"x\"}", DEALER_ANSWER_OBJECT},
	{"{\"detail\":\"x\"}", DEALER_ANSWER_OBJECT},
	{"{\"id\":1,\"detail\":\"y\"}", DEALER_ANSWER_OBJECT},
	{"{\"id\":\"x\",\"detail\":null}", DEALER_ANSWER_OBJECT},
	{"{\"error\":{\"id\":\"x\",\"detail\":\"y\"}}", DEALER_ANSWER_OBJECT},
};

START_TEST(shapes_are_told_apart)
{
	struct callback_outcome outcome;
	enum dealer_answer_shape shape =
		read_text(shapes[_i].text, strlen(shapes[_i].text), &outcome);

	ck_assert_msg(shape == shapes[_i].shape, "%s: %d", shapes[_i].text, (int)shape);
	ck_assert_msg((shape == DEALER_ANSWER_UNREADABLE) == (outcome.note[0] != '\0'), "%s: %s",
		shapes[_i].text, outcome.note);
	ck_assert_int_eq(outcome.class, CALLBACK_UNKNOWN);
}
END_TEST

static const struct {
	const char *text;
	bool has_balance;
	money_t balance;
	const char *currency;
	const char *user_id;
	const char *note; /* the end of the note; NULL: none */
} members[] = {
	{"{\"user_id\":\"alice\",\"balance\":100.5,\"currency\":\"thb\"}", true, 1005000, "thb",
		"alice", NULL},
	{"{\"balance\":7}", true, 70000, "", "", NULL},
	{"{\"balance\":0}", true, 0, "", "", NULL},
	{"{\"balance\":-1.25}", true, -12500, "", "", NULL},
	{"{\"balance\":99999999999.9999}", true, MONEY_MAX, "", "", NULL},
	{"{\"balance\":0.00001}", false, 0, "", "", ": balance"},
	{"{\"balance\":0.30000000000000004}", false, 0, "", "", ": balance"},
	{"{\"balance\":100000000000}", false, 0, "", "", ": balance"},
	{"{\"balance\":1e400}", false, 0, "", "", ": balance"},
	{"{\"balance\":99999999999999999999}", false, 0, "", "", ": balance"},
	{"{\"balance\":\"100\"}", false, 0, "", "", ": balance"},
	{"{\"balance\":null}", false, 0, "", "", ": balance"},
	{"{\"currency\":\"THB\"}", false, 0, "", "", ": currency"},
	{"{\"currency\":\"t\"}", false, 0, "", "", ": currency"},
	{"{\"currency\":\"abcdefgh\"}", false, 0, "abcdefgh", "", NULL},
	{"{\"currency\":\"abcdefghi\"}", false, 0, "", "", ": currency"},
	{"{\"currency\":\"th b\"}", false, 0, "", "", ": currency"},
	{"{\"currency\":1}", false, 0, "", "", ": currency"},
	{"{\"user_id\":\"\"}", false, 0, "", "", ": user_id"},
	{"{\"user_id\":\"a\\nb\"}", false, 0, "", "", ": user_id"},
	{"{\"user_id\":7,\"balance\":[],\"currency\":{}}", false, 0, "", "",
		": user_id, balance, currency"},
	{"{\"user_id\":7,\"balance\":5,\"currency\":\"thb\"}", true, 50000, "thb", "", ": user_id"},
};

START_TEST(members_are_taken_or_dropped)
{
	struct callback_outcome outcome;
	const char *text = members[_i].text;

	ck_assert_int_eq(read_text(text, strlen(text), &outcome), DEALER_ANSWER_OBJECT);
	ck_assert_msg(outcome.has_balance == members[_i].has_balance, "%s", text);
	ck_assert_int_eq(outcome.balance, members[_i].balance);
	ck_assert_str_eq(outcome.currency, members[_i].currency);
	ck_assert_str_eq(outcome.user_id, members[_i].user_id);
	if (members[_i].note)
		ck_assert_msg(strlen(outcome.note) > strlen(members[_i].note) &&
				strcmp(outcome.note + strlen(outcome.note) -
						strlen(members[_i].note),
					members[_i].note) == 0,
			"%s: %s", text, outcome.note);
	else
		ck_assert_str_eq(outcome.note, "");
}
END_TEST

static const struct {
	const char *text;
	money_t shortfall;
} shortfalls[] = {
	{"{\"balance\":1}", 0},
	{"{\"shortfall\":0}", 0},
	{"{\"shortfall\":null}", 0},
	{"{\"shortfall\":12.5}", 125000},
	{"{\"shortfall\":-1}", -1},
	{"{\"shortfall\":0.00001}", -1},
	{"{\"shortfall\":\"1\"}", -1},
};

START_TEST(shortfalls_are_amounts)
{
	struct callback_outcome outcome;
	const char *text = shortfalls[_i].text;

	ck_assert_int_eq(read_text(text, strlen(text), &outcome), DEALER_ANSWER_OBJECT);
	ck_assert_int_eq(outcome.shortfall, shortfalls[_i].shortfall);
	ck_assert((outcome.shortfall < 0) == (outcome.note[0] != '\0'));
}
END_TEST

/*
 * A quotation of the dealer's text is cut between characters. It cannot control a terminal or
 * forge a line.
 */
START_TEST(words_are_quoted)
{
	static char text[2048];
	struct callback_outcome outcome;
	size_t len;

	snprintf(text, sizeof(text), "{\"id\":\"a\\u001b[2J\\r\\nb\\u0085\",\"detail\":\"");
	for (int i = 0; i < 200; i++)
		strcat(text, "\xc3\xa4");
	strcat(text, "\"}");
	ck_assert_int_eq(read_text(text, strlen(text), &outcome), DEALER_ANSWER_ERROR);
	ck_assert_str_eq(outcome.dealer_error_id, "a?[2J??b?");
	len = strlen(outcome.dealer_error_detail);
	ck_assert_uint_eq(len, DEALER_ERROR_TEXT_SIZE - 1);
	ck_assert_uint_eq(len % 2, 0);
	dealer_answer_quote(text, 4, "\xc3\xa4\xc3\xa4");
	ck_assert_str_eq(text, "\xc3\xa4");
	dealer_answer_quote(text, 4, "\xff\x01z");
	ck_assert_str_eq(text, "??z");
	/*
	 * Left-to-right and right-to-left marks, embeddings, overrides and isolates; not their
	 * neighbours.
	 */
	dealer_answer_quote(text, sizeof(text), "\u200d\u200e\u200f\u2010");
	ck_assert_str_eq(text, "\u200d??\u2010");
	dealer_answer_quote(text, sizeof(text), "\u2029\u202a\u202b\u202c\u202d\u202e\u202f");
	ck_assert_str_eq(text, "\u2029?????\u202f");
	dealer_answer_quote(text, sizeof(text), "\u2065\u2066\u2067\u2068\u2069\u206a");
	ck_assert_str_eq(text, "\u2065????\u206a");
	dealer_answer_quote(text, 1, "z");
	ck_assert_str_eq(text, "");
}
END_TEST

/* What is kept of an answer holds no character that steers a display, and is cut between characters. */
START_TEST(answers_are_kept)
{
	char text[16];

	dealer_answer_keep(text, sizeof(text), "a\n\r\tb", 5);
	ck_assert_str_eq(text, "a\\n\\r\\tb");
	dealer_answer_keep(text, sizeof(text), "\0\xff\x1b", 3);
	ck_assert_str_eq(text, "\\x00\\xFF\\x1B");
	dealer_answer_keep(text, sizeof(text), "\xc2\x85", 2);
	ck_assert_str_eq(text, "\\x85");
	dealer_answer_keep(text, sizeof(text), "\u202ez", 4);
	ck_assert_str_eq(text, "\\u{202E}z");
	dealer_answer_keep(text, 4, "\xc3\xa4\xc3\xa4", 4);
	ck_assert_str_eq(text, "\xc3\xa4");
	dealer_answer_keep(text, 4, "ab\n", 3);
	ck_assert_str_eq(text, "ab");
	dealer_answer_keep(text, 1, "z", 1);
	ck_assert_str_eq(text, "");
	dealer_answer_keep(text, sizeof(text), NULL, 0);
	ck_assert_str_eq(text, "");
}
END_TEST

/* Checks properties of every parsed answer, whatever its bytes. */
static void check_reading(enum dealer_answer_shape shape, const struct callback_outcome *outcome)
{
	bool object = shape == DEALER_ANSWER_OBJECT || shape == DEALER_ANSWER_ERROR;

	ck_assert_int_eq(outcome->class, CALLBACK_UNKNOWN);
	ck_assert(object || shape == DEALER_ANSWER_EMPTY || shape == DEALER_ANSWER_UNREADABLE);
	ck_assert(shape != DEALER_ANSWER_UNREADABLE || outcome->note[0]);
	ck_assert(object ||
		(!outcome->has_balance && !outcome->user_id[0] && !outcome->currency[0] &&
			!outcome->dealer_error_id[0] && !outcome->dealer_error_detail[0]));
	ck_assert(!outcome->has_balance ||
		(outcome->balance >= -MONEY_MAX && outcome->balance <= MONEY_MAX));
	ck_assert_ptr_nonnull(memchr(outcome->user_id, '\0', sizeof(outcome->user_id)));
	ck_assert_ptr_nonnull(memchr(outcome->note, '\0', sizeof(outcome->note)));
}

/* Any mutation of a good answer is parsed within its bytes and has one of the shapes. */
START_TEST(any_bytes_are_read)
{
	static const char good[] =
		"{\"id\":\"x\",\"detail\":\"y\",\"user_id\":\"alice\",\"balance\":1.5e1,\"c\":[{}]}";
	struct callback_outcome outcome;
	const unsigned int rounds = chance_rounds(20000);
	char text[sizeof(good)];
	uint64_t state = 1;

	for (unsigned int round = 0; round < rounds; round++) {
		size_t len = 1 + chance_below(&state, sizeof(good) - 1);

		memcpy(text, good, sizeof(good));
		for (uint64_t i = chance_below(&state, 4); i; i--)
			text[chance_below(&state, len)] = (char)chance_below(&state, 256);
		check_reading(read_text(text, len, &outcome), &outcome);
	}
}
END_TEST

Suite *dealer_answer_suite(void)
{
	const TTest *const tests[] = {words_are_quoted, answers_are_kept, any_bytes_are_read, NULL};
	Suite *suite = suite_make("dealer_answer", tests, 60);
	TCase *tcase = tcase_create("tables");

	tcase_add_loop_test(tcase, shapes_are_told_apart, 0,
		(int)(sizeof(shapes) / sizeof(shapes[0])));
	tcase_add_loop_test(tcase, members_are_taken_or_dropped, 0,
		(int)(sizeof(members) / sizeof(members[0])));
	tcase_add_loop_test(tcase, shortfalls_are_amounts, 0,
		(int)(sizeof(shortfalls) / sizeof(shortfalls[0])));
	suite_add_tcase(suite, tcase);
	return suite;
}

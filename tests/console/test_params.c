#include "suites.h"

#include "console/html/params.h"
#include "console/html/token.h"

#include <string.h>

static struct params params;

static bool read_text(const char *text)
{
	return params_read(&params, text, strlen(text));
}

START_TEST(pairs_are_decoded)
{
	ck_assert(read_text("id=a%2Fb+c&&user=%E2%80%AE&empty=&alone&id=second"));
	ck_assert_str_eq(params_get(&params, "id"), "a/b c");
	ck_assert_str_eq(params_get(&params, "user"), "\xe2\x80\xae");
	ck_assert_str_eq(params_get(&params, "empty"), "");
	ck_assert_str_eq(params_get(&params, "alone"), "");
	ck_assert_str_eq(params_get(&params, "none"), "");
	ck_assert_uint_eq(params.count, 5);
	ck_assert(read_text(""));
	ck_assert_uint_eq(params.count, 0);
}
END_TEST

START_TEST(what_cannot_be_read_is_refused)
{
	static const char *const cases[] = {"a=%", "a=%4", "a=%zz", "a=%00", "a=%ff", "%=1",
		"a=\xff", "a=%ed%a0%80", "a=%e2%80"};
	static char long_text[PARAMS_BYTES_MAX + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert(!read_text(cases[i]));
		ck_assert_uint_eq(params.count, 0);
	}
	memset(long_text, 'a', sizeof(long_text));
	ck_assert(params_read(&params, long_text, PARAMS_BYTES_MAX));
	ck_assert(!params_read(&params, long_text, PARAMS_BYTES_MAX + 1));
	for (unsigned int i = 0; i <= PARAMS_MAX; i++)
		memcpy(long_text + 2 * (size_t)i, "a&", 2);
	ck_assert(params_read(&params, long_text, 2 * PARAMS_MAX));
	ck_assert_uint_eq(params.count, PARAMS_MAX);
	ck_assert(!params_read(&params, long_text, 2 * PARAMS_MAX + 2));
}
END_TEST

START_TEST(one_cookie_is_found)
{
	static const struct {
		const char *header, *value;
	} cases[] = {
		{"s=abc", "abc"},
		{"a=1; s=abc; b=2", "abc"},
		{"a=1;s=abc", "abc"},
		{"ss=1; xs=2; s=abc", "abc"},
		{"", ""},
		{"s", ""},
		{"s=a b", ""},
		{"s=a\"", ""},
		{"s=abc; s=def", ""}, /* one of them is of another site */
		{"s=0123456789", ""}, /* too long */
		{"S=abc", ""},
	};
	char value[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert(cookie_get(cases[i].header, "s", value, sizeof(value)) ==
			(cases[i].value[0] != '\0'));
		ck_assert_str_eq(value, cases[i].value);
	}
}
END_TEST

START_TEST(tokens_are_of_a_session)
{
	char one[TOKEN_SIZE], two[TOKEN_SIZE];

	ck_assert(token_make("session", one));
	ck_assert(token_make("session", two));
	ck_assert_str_ne(one, two);
	ck_assert(token_check("session", one));
	ck_assert(token_check("session", two));
	ck_assert(!token_check("other", one));
	ck_assert(!token_check("", one));
	ck_assert(!token_check("session", ""));
	one[TOKEN_SIZE - 2] = one[TOKEN_SIZE - 2] == 'a' ? 'b' : 'a';
	ck_assert(!token_check("session", one));
	two[0] = 'x';
	ck_assert(!token_check("session", two));
	ck_assert(!token_make("", one));
}
END_TEST

Suite *console_params_suite(void)
{
	const TTest *const tests[] = {pairs_are_decoded, what_cannot_be_read_is_refused,
		one_cookie_is_found, tokens_are_of_a_session, NULL};

	return suite_make("params", tests, 10);
}

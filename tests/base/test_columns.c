#include "suites.h"

#include "base/columns.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void use_utf8(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

START_TEST(widths)
{
	use_utf8();
	ck_assert_uint_eq(columns_width(""), 0);
	ck_assert_uint_eq(columns_width("alice"), 5);
	ck_assert_uint_eq(columns_width("\xc3\xa4"), 1);                 /* U+00E4 */
	ck_assert_uint_eq(columns_width("\xe6\x97\xa5\xe6\x9c\xac"), 4); /* two wide characters */
	ck_assert_uint_eq(columns_width("e\xcc\x81"), 1);                /* e and U+0301 */
	ck_assert_uint_eq(columns_width("\xff"), 1);
}
END_TEST

START_TEST(shortened)
{
	static const struct {
		const char *text;
		size_t width;
		const char *shown;
	} cases[] = {
		{"alice", 5, "alice"},
		{"0123456789", 10, "0123456789"},
		{"0123456789", 9, "0123~6789"},
		{"0123456789", 4, "01~9"},
		{"0123456789", 3, "0~9"},
		/* A wide character never stands on the edge. */
		{"\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac", 6,
			"\xe6\x97\xa5~\xe6\x9c\xac"},
	};
	char to[64];

	use_utf8();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		columns_shorten(cases[i].text, cases[i].width, to, sizeof(to));
		ck_assert_str_eq(to, cases[i].shown);
	}
}
END_TEST

START_TEST(never_wider_and_never_cut_within_a_character)
{
	static const char *const parts[] = {"a", "\xc3\xa4", "\xe6\x97\xa5", "e\xcc\x81",
		"\xf0\x9f\x98\x80"};
	char text[512], to[512];

	use_utf8();
	for (size_t first = 0; first < 5; first++) {
		text[0] = '\0';
		for (size_t i = 0; i < 64; i++)
			strcat(text, parts[(first + i * i) % 5]);
		for (size_t width = 3; width < 130; width++) {
			columns_shorten(text, width, to, sizeof(to));
			ck_assert_uint_le(columns_width(to), width);
			ck_assert_uint_ge(columns_width(to) + 4, width < 80 ? width : 0);
			ck_assert_uint_ne(mbstowcs(NULL, to, 0), (size_t)-1);
		}
	}
}
END_TEST

START_TEST(folded)
{
	char to[64], small[8];

	use_utf8();
	columns_fold("one two three", 7, to, sizeof(to));
	ck_assert_str_eq(to, "one two\nthree");
	columns_fold("abcdefghij kl", 4, to, sizeof(to));
	ck_assert_str_eq(to, "abcd\nefgh\nij\nkl");
	columns_fold("short", 20, to, sizeof(to));
	ck_assert_str_eq(to, "short");
	columns_fold("", 20, to, sizeof(to));
	ck_assert_str_eq(to, "");
	columns_fold("\xe6\x97\xa5\xe6\x9c\xac", 3, to, sizeof(to));
	ck_assert_str_eq(to, "\xe6\x97\xa5\n\xe6\x9c\xac");
	columns_fold("one two three", 7, small, sizeof(small));
	ck_assert_str_eq(small, "");
	columns_fold("one two three", 3, small, sizeof(small));
	ck_assert_str_eq(small, "one\n");
}
END_TEST

Suite *columns_suite(void)
{
	const TTest *const tests[] = {widths, shortened,
		never_wider_and_never_cut_within_a_character, folded, NULL};

	return suite_make("columns", tests, 10);
}

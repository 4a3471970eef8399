#include "suites.h"

#include "base/text.h"

#include <string.h>

START_TEST(copy_keeps_the_bound)
{
	char to[4] = "xyz";

	ck_assert(text_copy(to, sizeof(to), "abc"));
	ck_assert_str_eq(to, "abc");
	ck_assert(!text_copy(to, sizeof(to), "abcd"));
	ck_assert_str_eq(to, "");
	ck_assert(text_copy_len(to, sizeof(to), "abcdef", 2));
	ck_assert_str_eq(to, "ab");
	ck_assert(text_copy_len(to, sizeof(to), NULL, 0));
	ck_assert_str_eq(to, "");
	ck_assert(!text_copy_len(to, 0, "", 0));
}
END_TEST

START_TEST(utf8)
{
	static const struct {
		const char *text;
		bool clean;
	} cases[] = {
		{"", true},
		{"alice", true},
		{"\xc3\xa4", true},         /* U+00E4 */
		{"\xe2\x82\xac", true},     /* U+20AC */
		{"\xf0\x9f\x98\x80", true}, /* U+1F600 */
		{"\xf4\x8f\xbf\xbf", true}, /* U+10FFFF */
		{"\xef\xbf\xbf", true},     /* U+FFFF */
		{"\xed\x9f\xbf", true},     /* U+D7FF */
		{"\xee\x80\x80", true},     /* U+E000 */
		{"\xc2\xa0", true},         /* U+00A0 */
		{"\x7e", true},
		{"\x01", false},
		{"a\nb", false},
		{"a\x1f", false},
		{"\x7f", false},
		{"\xc2\x80", false}, /* U+0080: control */
		{"\xc2\x9f", false}, /* U+009F: control */
		{"\x80", false},     /* not a first byte */
		{"\xc3", false},     /* truncated */
		{"\xe2\x82", false},
		{"\xf0\x9f\x98", false},
		{"\xc0\x80", false}, /* overlong encodings */
		{"\xc1\xbf", false},
		{"\xe0\x9f\xbf", false},
		{"\xf0\x8f\xbf\xbf", false},
		{"\xed\xa0\x80", false}, /* surrogates */
		{"\xed\xbf\xbf", false},
		{"\xf4\x90\x80\x80", false}, /* above U+10FFFF */
		{"\xf5\x80\x80\x80", false},
		{"\xff", false},
		{"\xc3(", false},
		{"\xe2(\xa1", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(text_is_utf8_clean(cases[i].text, strlen(cases[i].text)) ==
				cases[i].clean,
			"case %zu", i);
	ck_assert(!text_is_utf8_clean("a\0b", 3));
}
END_TEST

START_TEST(utf8_every_character)
{
	char text[4];
	uint32_t code, back;
	size_t len;
	bool good;

	for (code = 0; code <= 0x10ffff; code++) {
		if (code < 0x80) {
			text[0] = (char)code;
			len = 1;
		} else if (code < 0x800) {
			text[0] = (char)(0xc0 | code >> 6);
			len = 2;
		} else if (code < 0x10000) {
			text[0] = (char)(0xe0 | code >> 12);
			len = 3;
		} else {
			text[0] = (char)(0xf0 | code >> 18);
			len = 4;
		}
		for (size_t i = 1; i < len; i++)
			text[i] = (char)(0x80 | (code >> (6 * (len - 1 - i)) & 0x3f));
		good = code < 0xd800 || code > 0xdfff;
		back = code;
		if (text_utf8_len(text, len, &back) != (good ? len : 0) || back != code)
			ck_abort_msg("U+%04X", (unsigned int)code);
		for (size_t shorter = 0; shorter < len; shorter++) {
			if (text_utf8_len(text, shorter, &back))
				ck_abort_msg("U+%04X, cut", (unsigned int)code);
		}
	}
}
END_TEST

START_TEST(names)
{
	ck_assert(text_is_name("demo", 64));
	ck_assert(text_is_name("A-z_0.9", 7));
	ck_assert(!text_is_name("A-z_0.9", 6));
	ck_assert(!text_is_name("", 64));
	ck_assert(!text_is_name("a b", 64));
	ck_assert(!text_is_name("a/b", 64));
	ck_assert(!text_is_name("\xc3\xa4", 64));
	ck_assert(!text_is_name("a\n", 64));
}
END_TEST

START_TEST(names_by_every_byte)
{
	static const char good[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	char name[] = "a?b";

	for (int byte = 1; byte <= UINT8_MAX; byte++) {
		name[1] = (char)byte;
		ck_assert_msg(text_is_name(name, 3) == (strchr(good, byte) != NULL), "byte %d",
			byte);
		ck_assert(!text_is_name(name, 2));
	}
}
END_TEST

START_TEST(numbers)
{
	static const struct {
		uint64_t number;
		unsigned int width;
		const char *text;
	} cases[] = {
		{0, 0, "0"},
		{0, 1, "0"},
		{0, 4, "0000"},
		{7, 3, "007"},
		{1000, 3, "1000"},
		{UINT64_MAX, 1, "18446744073709551615"},
		{1, 20, "00000000000000000001"},
		{1, 21, "00000000000000000001"},
	};
	char text[TEXT_NUMBER_MAX + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		*text_number(text, cases[i].number, cases[i].width) = '\0';
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

START_TEST(base_paths)
{
	static const char *const bad[] = {"pcw", "pcw/", "//", "/pcw//", "/a//b", "//pcw", "/a\x01",
		"/\xff"};
	char base_path[8];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!text_base_path(bad[i], base_path, sizeof(base_path)), "%s", bad[i]);
	ck_assert(text_base_path("/123456", base_path, sizeof(base_path)));
	ck_assert_str_eq(base_path, "/123456");
	ck_assert(text_base_path("/123456/", base_path, sizeof(base_path)));
	ck_assert_str_eq(base_path, "/123456");
	ck_assert(!text_base_path("/1234567", base_path, sizeof(base_path)));
	ck_assert(text_base_path("/", base_path, sizeof(base_path)));
	ck_assert_str_eq(base_path, "");
	ck_assert(text_base_path("", base_path, sizeof(base_path)));
	ck_assert_str_eq(base_path, "");
}
END_TEST

/* Invisible characters are shown; visible ones stay unchanged. */
START_TEST(hidden_characters_are_shown)
{
	static const struct {
		const char *text;
		const char *shown;
	} cases[] = {
		{"ann", "ann"},
		{"", ""},
		{"\xc3\xbcn\xc3\xaf", "\xc3\xbcn\xc3\xaf"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\xe4\xb8\xad", "\xe4\xb8\xad"},
		{"ann\xe2\x80\x8b", "ann\\u200b"},
		{"\xef\xbb\xbf"
		 "ann",
			"\\ufeffann"},
		{"a\xc2\xa0"
		 "b",
			"a\\u00a0b"},
		{"a\xc2\xad"
		 "b",
			"a\\u00adb"},
		{"a\xe2\x80\xaf"
		 "b",
			"a\\u202fb"},
		{"a\xe3\x80\x80"
		 "b",
			"a\\u3000b"},
		{"\xf3\xa0\x81\x81", "\\udb40\\udc41"},
		{"a\nb", "a\\u000ab"},
		{"a\xff", "a?"},
	};
	char shown[64], small[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_uint_eq(text_show(shown, sizeof(shown), cases[i].text),
			strlen(cases[i].shown));
		ck_assert_str_eq(shown, cases[i].shown);
	}
	/* Only whole characters. */
	text_show(small, sizeof(small), "abc\xe2\x80\x8b");
	ck_assert_str_eq(small, "abc");
}
END_TEST

Suite *text_suite(void)
{
	const TTest *const tests[] = {copy_keeps_the_bound, utf8, utf8_every_character, names,
		names_by_every_byte, numbers, base_paths, hidden_characters_are_shown, NULL};

	return suite_make("text", tests, 30);
}

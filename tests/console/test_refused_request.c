#include "suites.h"

#include "console/sections/refused_request.h"

#include <string.h>

static struct buffer out;

static const char *hex_of(const void *data, uint32_t len)
{
	buffer_free(&out);
	buffer_init(&out, 64 * 1024);
	refused_request_hex(&out, (struct bytes){data, len});
	ck_assert(!out.failed && buffer_append(&out, "", 1));
	return (const char *)out.data;
}

START_TEST(bytes_are_written_in_hex)
{
	ck_assert_str_eq(hex_of("", 0), "");
	ck_assert_str_eq(hex_of("{\"a\":1}", 7),
		"00000000  7b 22 61 22 3a 31 7d                             |{\"a\":1}|\n");
	ck_assert_str_eq(hex_of("0123456789abcdef\0\xff", 18),
		"00000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  |0123456789abcdef|\n"
		"00000010  00 ff                                            |..|\n");
	buffer_free(&out);
}
END_TEST

START_TEST(a_long_body_is_cut)
{
	static char body[REFUSED_HEX_MAX + 100];
	const char *text;
	unsigned int lines = 0;

	memset(body, 'x', sizeof(body));
	text = hex_of(body, sizeof(body));
	for (; (text = strchr(text, '\n')); text++)
		lines++;
	ck_assert_uint_eq(lines, REFUSED_HEX_MAX / 16);
	buffer_free(&out);
}
END_TEST

Suite *refused_request_suite(void)
{
	Suite *suite = suite_create("refused request");
	TCase *tcase = tcase_create("refused request");

	tcase_add_test(tcase, bytes_are_written_in_hex);
	tcase_add_test(tcase, a_long_body_is_cut);
	suite_add_tcase(suite, tcase);
	return suite;
}

#include "suites.h"

#include "console/html/chart.h"

#include <string.h>

static char *drawn(const struct chart *chart, bool *wrote)
{
	static char text[65536];
	struct buffer out;
	struct html html;

	buffer_init(&out, sizeof(text) - 1);
	html_begin(&html, &out);
	*wrote = chart_write(&html, chart);
	html_end(&html);
	ck_assert(!out.failed);
	memcpy(text, out.data, out.len);
	text[out.len] = '\0';
	buffer_free(&out);
	return text;
}

START_TEST(bars_and_a_line)
{
	const sum_t bars[] = {10000, 0, 30000}, line[] = {-10000, 10000, 30000};
	const struct chart_series series[] = {{"Staked", "one", CHART_BARS, bars},
		{"Profit", "line", CHART_LINE, line}};
	const struct chart chart = {"Bets", series, 2, 3, "2026-01-01", "2026-01-03", true};
	bool wrote;
	const char *text = drawn(&chart, &wrote);

	ck_assert(wrote);
	/* From 3.00 at the top to -1.00: 0 is at 750, 1.00 at 500. A fifth of 1000 is free. */
	ck_assert_ptr_nonnull(strstr(text,
		"<rect class=\"one\" x=\"100\" y=\"500\" width=\"800\" height=\"250\"></rect>"));
	ck_assert_ptr_nonnull(strstr(text, "x=\"2100\" y=\"0\" width=\"800\" height=\"750\""));
	ck_assert_ptr_nonnull(strstr(text, "points=\"500,1000 1500,500 2500,0\""));
	ck_assert_ptr_nonnull(strstr(text, "y1=\"750\" y2=\"750\""));
	ck_assert_ptr_nonnull(strstr(text, "aria-label=\"Bets, -1.00 to 3.00\""));
	/* The empty day has no bar, and nothing needs a style attribute. */
	ck_assert_ptr_null(strstr(text, "x=\"1100\""));
	ck_assert_ptr_null(strstr(text, "style"));
}
END_TEST

START_TEST(nothing_to_draw)
{
	const sum_t zeros[] = {0, 0};
	const struct chart_series series[] = {{"Bets", "one", CHART_BARS, zeros}};
	const struct chart empty = {"Bets", series, 1, 2, "a", "b", false};
	bool wrote;

	ck_assert_ptr_null(strstr(drawn(&empty, &wrote), "svg"));
	ck_assert(!wrote);
}
END_TEST

START_TEST(the_largest_sums_fit)
{
	const sum_t bars[] = {(sum_t)1 << 100, -((sum_t)1 << 100), 1};
	const struct chart_series series[] = {{"<b>", "two", CHART_BARS, bars}};
	const struct chart chart = {"\"><i>", series, 1, 3, "a", "b", false};
	bool wrote;
	const char *text = drawn(&chart, &wrote);

	ck_assert(wrote);
	ck_assert_ptr_nonnull(strstr(text, "y=\"0\" width=\"800\" height=\"500\""));
	ck_assert_ptr_nonnull(strstr(text, "y=\"500\" width=\"800\" height=\"500\""));
	/* 1 is no height at all, and is seen all the same. */
	ck_assert_ptr_nonnull(strstr(text, "height=\"4\""));
	ck_assert_ptr_null(strstr(text, "<b>"));
	ck_assert_ptr_null(strstr(text, "<i>"));
}
END_TEST

Suite *chart_suite(void)
{
	Suite *suite = suite_create("chart");
	TCase *cases = tcase_create("chart");

	tcase_add_test(cases, bars_and_a_line);
	tcase_add_test(cases, nothing_to_draw);
	tcase_add_test(cases, the_largest_sums_fit);
	suite_add_tcase(suite, cases);
	return suite;
}

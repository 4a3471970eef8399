#include "suites.h"

#include "console/pages/routes.h"
#include "console/common/view.h"

#include <string.h>

struct sample {
	char id[EXTERNAL_ID_SIZE];
	money_t amount;
	sum_t sum;
	int64_t time_ms;
	uint32_t count;
	bool yes;
	char secret[KEY_SECRET_SIZE];
};

static const struct field sample_fields[] = {
	FIELD(FIELD_STR, sample, id),
	FIELD(FIELD_MONEY, sample, amount),
	FIELD(FIELD_SUM, sample, sum),
	FIELD(FIELD_TIME_MS, sample, time_ms),
	FIELD(FIELD_U32, sample, count),
	FIELD(FIELD_BOOL, sample, yes),
	FIELD(FIELD_SECRET, sample, secret),
	FIELD_END,
};

static const struct view_column sample_columns[] = {
	{"Id", "id", VIEW_PLAIN, NULL},
	{"Amount", "amount", VIEW_PLAIN, NULL},
	{"Time", "time_ms", VIEW_PLAIN, NULL},
	{"Secret", "secret", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const char *value_of(const char *member, const struct sample *sample, bool csv)
{
	static char text[VIEW_TEXT_MAX];
	struct page page;

	memset(&page, 0, sizeof(page));
	page.zone = zone_offset(420);
	view_value(&page, field_find(sample_fields, member), sample, csv, text);
	return text;
}

START_TEST(values)
{
	struct sample sample = {.id = "=1", .amount = -12345678900, .sum = 1234567, .count = 7};

	sample.time_ms = 1700000000000;
	strcpy(sample.secret, "0123");
	ck_assert_str_eq(value_of("amount", &sample, false), "-1,234,567.89");
	ck_assert_str_eq(value_of("amount", &sample, true), "-1234567.89");
	ck_assert_str_eq(value_of("sum", &sample, false), "123.4567");
	ck_assert_str_eq(value_of("time_ms", &sample, false), "2023-11-15 05:13:20+07");
	ck_assert_str_eq(value_of("time_ms", &sample, true), "2023-11-14T22:13:20.000Z");
	ck_assert_str_eq(value_of("count", &sample, false), "7");
	ck_assert_str_eq(value_of("yes", &sample, false), "no");
	ck_assert_str_eq(value_of("secret", &sample, false), "");
	sample.amount = 0;
	ck_assert_str_eq(value_of("amount", &sample, false), "0.00");
	sample.amount = 9990000;
	ck_assert_str_eq(value_of("amount", &sample, false), "999.00");
	sample.amount = -9990000;
	ck_assert_str_eq(value_of("amount", &sample, false), "-999.00");
	sample.amount = 10000000;
	ck_assert_str_eq(value_of("amount", &sample, false), "1,000.00");
}
END_TEST

START_TEST(csv_guards_text_only)
{
	static const struct {
		const char *text;
		bool is_number;
		const char *field;
	} cases[] = {
		{"=1+1", false, "\"'=1+1\""},
		{"+1", false, "\"'+1\""},
		{"-1", false, "\"'-1\""},
		{"@a", false, "\"'@a\""},
		{"\ta", false, "\"'\ta\""},
		{"a=1", false, "\"a=1\""},
		{"a\"b,c", false, "\"a\"\"b,c\""},
		{"", false, "\"\""},
		{"-12.50", true, "\"-12.50\""},
	};
	struct buffer out;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_init(&out, 1024);
		view_csv_field(&out, cases[i].text, cases[i].is_number);
		buffer_append(&out, "", 1);
		ck_assert_str_eq((const char *)out.data, cases[i].field);
		buffer_free(&out);
	}
}
END_TEST

START_TEST(csv_of_rows)
{
	static const struct console_route csv = {"/x.csv", ROUTE_GET, ROLE_READ, false, true, NULL};
	static struct page page;
	struct view view = {.fields = sample_fields};
	struct sample sample = {.id = "-1", .amount = -15000};

	memset(&page, 0, sizeof(page));
	page.route = &csv;
	strcpy(sample.secret, "0123");
	buffer_init(&page.body, 4096);
	view_begin(&view, &page, "x", sample_columns);
	view_row(&view, &sample);
	view_end(&view, "none");
	buffer_append(&page.body, "", 1);
	ck_assert_str_eq((const char *)page.body.data,
		"\"id\",\"amount\",\"time_ms\",\"secret\"\r\n\"'-1\",\"-1.50\",\"\",\"\"\r\n");
	buffer_free(&page.body);
}
END_TEST

Suite *console_view_suite(void)
{
	const TTest *const tests[] = {values, csv_guards_text_only, csv_of_rows, NULL};

	return suite_make("view", tests, 10);
}

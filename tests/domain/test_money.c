#include "suites.h"

#include "chance.h"
#include "domain/money.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3000000

/* Returns any amount; small ones are as likely as large ones. */
static money_t random_amount(uint64_t *state)
{
	uint64_t bits = chance_below(state, 50);
	money_t money = (money_t)(chance(state) & ((UINT64_C(2) << bits) - 1));

	if (money > MONEY_MAX)
		money -= MONEY_MAX;
	return chance(state) & 1 ? -money : money;
}

static bool same_double(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Converts an amount to every other form and back. Returns NULL if all are exact. */
static const char *round_trip(money_t money, unsigned int decimals)
{
	double x = money_to_double(money);
	char text[MONEY_TEXT_MAX], digits[64];
	money_t back;

	if (!money_from_double(x, &back) || back != money)
		return "from the double";
	money_format(money, 0, text);
	if (!money_from_text(text, &back) || back != money)
		return "from the text";
	if (!same_double(strtod(text, NULL), x))
		return "the text is not the double";
	snprintf(digits, sizeof(digits), "%.15g", x);
	if (strcmp(text, digits) != 0)
		return "the text is not the 15 digits";
	money_format(money, decimals, text);
	if (!money_from_text(text, &back) || back != money)
		return "from the text with decimals";
	if (strlen(strchr(text, '.') ? strchr(text, '.') + 1 : "") < decimals)
		return "too few decimals";
	/* The nearest doubles are not amounts. */
	back = 77;
	if (money_from_double(nextafter(x, INFINITY), &back) ||
		money_from_double(nextafter(x, -INFINITY), &back) || back != 77)
		return "a neighbour was accepted";
	if (money % 10000 == 0 && (!money_from_integer(money / 10000, &back) || back != money))
		return "from the integer";
	if (money_has_decimals(money, 4) != true ||
		money_has_decimals(money, 2) != (money % 100 == 0) ||
		money_has_decimals(money, 0) != (money % 10000 == 0))
		return "decimals";
	return NULL;
}

START_TEST(random_amounts)
{
	uint64_t state = 1;

	for (unsigned int i = chance_rounds(ROUNDS); i; i--) {
		money_t money = random_amount(&state);
		const char *wrong = round_trip(money, (unsigned int)chance_below(&state, 5));

		if (wrong)
			ck_abort_msg("%lld: %s", (long long)money, wrong);
	}
}
END_TEST

START_TEST(random_finer_amounts)
{
	uint64_t state = 2;

	/* A fifth decimal is detected while doubles are close enough together. */
	for (unsigned int i = chance_rounds(ROUNDS / 3); i; i--) {
		char text[MONEY_TEXT_MAX], finer[MONEY_TEXT_MAX + 2];
		money_t money = random_amount(&state) % INT64_C(10000000000000), back;

		money_format(money, 4, text);
		snprintf(finer, sizeof(finer), "%s%d", text, 1 + (int)chance_below(&state, 9));
		if (money_from_double(strtod(finer, NULL), &back) || money_from_text(finer, &back))
			ck_abort_msg("%s was accepted", finer);
	}
}
END_TEST

START_TEST(edges)
{
	char text[MONEY_TEXT_MAX];

	ck_assert_ptr_null(round_trip(0, 0));
	ck_assert_ptr_null(round_trip(1, 2));
	ck_assert_ptr_null(round_trip(-1, 4));
	ck_assert_ptr_null(round_trip(MONEY_MAX, 4));
	ck_assert_ptr_null(round_trip(-MONEY_MAX, 4));
	ck_assert_ptr_null(round_trip(MONEY_MAX - 1, 0));
	money_format(0, 0, text);
	ck_assert_str_eq(text, "0");
	money_format(1000, 0, text);
	ck_assert_str_eq(text, "0.1");
	money_format(-1, 0, text);
	ck_assert_str_eq(text, "-0.0001");
	money_format(1005000, 2, text);
	ck_assert_str_eq(text, "100.50");
	money_format(1000000, 2, text);
	ck_assert_str_eq(text, "100.00");
	money_format(1000001, 2, text);
	ck_assert_str_eq(text, "100.0001");
	money_format(MONEY_MAX, 0, text);
	ck_assert_str_eq(text, "99999999999.9999");
	money_format(INT64_MAX, 0, text);
	ck_assert_str_eq(text, "922337203685477.5807");
	money_format(INT64_MIN, 0, text);
	ck_assert_str_eq(text, "-922337203685477.5808");
}
END_TEST

START_TEST(doubles)
{
	static const struct {
		double x;
		bool good;
		money_t money;
	} cases[] = {
		{0.1, true, 1000},
		{0.1 + 0.2, false, 0},
		{0.3, true, 3000},
		{0.0, true, 0},
		{-0.0, false, 0},
		{1e308, false, 0},
		{-1e308, false, 0},
		{9007199254740993.0, false, 0}, /* 2^53+1 */
		{5e-324, false, 0},
		{0.0001, true, 1},
		{0.00005, false, 0},
		{0.00015, false, 0},
		{1.005, true, 10050},
		{1e11, false, 0},
		{-1e11, false, 0},
		{99999999999.9999, true, MONEY_MAX},
		{-99999999999.9999, true, -MONEY_MAX},
		{99999999999.99995, false, 0},
		{1e2, true, 1000000},
		{NAN, false, 0},
		{INFINITY, false, 0},
		{-INFINITY, false, 0},
	};
	money_t zero = 77;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		money_t money = 77;

		ck_assert_msg(money_from_double(cases[i].x, &money) == cases[i].good, "case %zu",
			i);
		ck_assert_msg(money == (cases[i].good ? cases[i].money : 77), "case %zu", i);
	}
	/* It is zero as a double. */
	ck_assert(money_from_double(strtod("1e-400", NULL), &zero));
	ck_assert_int_eq(zero, 0);
}
END_TEST

START_TEST(integers)
{
	static const struct {
		int64_t x;
		bool good;
	} cases[] = {
		{0, true},
		{1, true},
		{-1, true},
		{INT64_C(99999999999), true},
		{INT64_C(-99999999999), true},
		{INT64_C(100000000000), false},
		{INT64_C(-100000000000), false},
		{(INT64_C(1) << 53) + 1, false},
		{INT64_MAX, false},
		{INT64_MIN, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		money_t money = 77;

		ck_assert_msg(money_from_integer(cases[i].x, &money) == cases[i].good, "case %zu",
			i);
		ck_assert_msg(money == (cases[i].good ? cases[i].x * 10000 : 77), "case %zu", i);
	}
}
END_TEST

START_TEST(texts)
{
	static const struct {
		const char *text;
		bool good;
		money_t money;
	} cases[] = {
		{"0", true, 0},
		{"0.1", true, 1000},
		{"-0.1", true, -1000},
		{"12.3456", true, 123456},
		{"007", true, 70000},
		{"99999999999.9999", true, MONEY_MAX},
		{"-99999999999.9999", true, -MONEY_MAX},
		{"100000000000", false, 0},
		{"12.34567", false, 0},
		{"12.30000", false, 0},
		{"", false, 0},
		{"-", false, 0},
		{"--1", false, 0},
		{"+1", false, 0},
		{"1.", false, 0},
		{".5", false, 0},
		{"1,5", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"1e3", false, 0},
		{"0x10", false, 0},
		{"nan", false, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		money_t money = 77;

		ck_assert_msg(money_from_text(cases[i].text, &money) == cases[i].good, "case %zu",
			i);
		if (cases[i].good)
			ck_assert_msg(money == cases[i].money, "case %zu", i);
	}
}
END_TEST

START_TEST(decimals)
{
	ck_assert(money_has_decimals(12300, 2));
	ck_assert(!money_has_decimals(12340 + 5, 2));
	ck_assert(!money_has_decimals(1230, 2)); /* three decimals where two are allowed */
	ck_assert(money_has_decimals(1230, 3));
	ck_assert(money_has_decimals(-12300, 2));
	ck_assert(!money_has_decimals(-1, 3));
	ck_assert(money_has_decimals(0, 0));
	ck_assert(!money_has_decimals(0, 5));
}
END_TEST

START_TEST(sums)
{
	money_t sum = 77;

	ck_assert(money_add(1, 2, &sum));
	ck_assert_int_eq(sum, 3);
	sum = 77;
	ck_assert(!money_add(INT64_MAX, 1, &sum));
	ck_assert(!money_add(INT64_MIN, -1, &sum));
	ck_assert_int_eq(sum, 77);
	ck_assert(money_add(INT64_MAX, INT64_MIN, &sum));
	ck_assert_int_eq(sum, -1);
	/* 0.1 + 0.2 is exactly 0.3 here. */
	ck_assert(money_add(1000, 2000, &sum));
	ck_assert_int_eq(sum, 3000);
}
END_TEST

START_TEST(sums_have_no_limit)
{
	static const struct {
		const char *text;
		int64_t units;
	} cases[] = {
		{"0", 0},
		{"-0.0001", -1},
		{"922337203685477.5807", INT64_MAX},
		{"-922337203685477.5808", INT64_MIN},
	};
	static const char *const bad[] = {"", "-", ".", "1.", ".1", "1.23456", "1.2.3", "+1", "1e3",
		" 1", "1 ", "0x1", "17014118346046923173168730371588410.5728",
		"-17014118346046923173168730371588410.5729", "99999999999999999999999999999999999"};
	char text[SUM_TEXT_MAX];
	sum_t sum = 7;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sum_format(cases[i].units, 0, text);
		ck_assert_str_eq(text, cases[i].text);
		ck_assert(sum_from_text(text, &sum));
		ck_assert(sum == cases[i].units);
	}
	/* The largest and the smallest values. */
	ck_assert(sum_from_text("17014118346046923173168730371588410.5727", &sum));
	sum_format(sum, 0, text);
	ck_assert_str_eq(text, "17014118346046923173168730371588410.5727");
	ck_assert(sum_from_text("-17014118346046923173168730371588410.5728", &sum));
	sum_format(sum, 0, text);
	ck_assert_str_eq(text, "-17014118346046923173168730371588410.5728");
	sum_format((sum_t)INT64_MAX * 10000 * 1000000, 0, text);
	ck_assert_str_eq(text, "9223372036854775807000000");
	sum_format((sum_t)INT64_MIN * 1000000, 2, text);
	ck_assert_str_eq(text, "-922337203685477580800.00");
	ck_assert(sum_from_text(text, &sum));
	ck_assert(sum == (sum_t)INT64_MIN * 1000000);
	ck_assert(sum_from_text("1.2", &sum));
	ck_assert(sum == 12000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!sum_from_text(bad[i], &sum), "%s", bad[i]);
	ck_assert(sum == 12000);
}
END_TEST

Suite *money_suite(void)
{
	const TTest *const tests[] = {random_amounts, random_finer_amounts, edges, doubles,
		integers, texts, decimals, sums, sums_have_no_limit, NULL};

	return suite_make("money", tests, 600);
}

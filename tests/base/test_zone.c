#include "suites.h"

#include "base/zone.h"

#include <stdlib.h>

#define HOUR_MS INT64_C(3600000)
/* 2026-03-29 01:00 UTC, when clocks in Berlin go from 02:00 to 03:00 */
#define FORWARD_MS INT64_C(1774746000000)
/* 2026-10-25 01:00 UTC, when they go from 03:00 back to 02:00 */
#define BACK_MS INT64_C(1792890000000)

static struct zone berlin(void)
{
	struct zone zone;

	ck_assert(zone_open(&zone, "Europe/Berlin"));
	ck_assert_str_eq(zone.name, "Europe/Berlin");
	return zone;
}

static void reads(const struct zone *zone, const char *text, int64_t now_ms, bool last,
	int64_t expected_ms)
{
	int64_t time_ms = -1;

	ck_assert_msg(zone_read(zone, text, now_ms, last, &time_ms), "'%s' was refused", text);
	ck_assert_msg(time_ms == expected_ms, "'%s' is %lld, not %lld", text, (long long)time_ms,
		(long long)expected_ms);
}

static void shows(const struct zone *zone, int64_t time_ms, const char *full, const char *brief)
{
	char text[TEXT_TIME_SIZE];

	zone_time(zone, time_ms, text);
	ck_assert_str_eq(text, full);
	zone_time_short(zone, time_ms, text);
	ck_assert_str_eq(text, brief);
}

START_TEST(utc_and_offsets)
{
	struct zone zone;

	ck_assert(zone_open(&zone, "utc"));
	shows(&zone, FORWARD_MS + 5, "2026-03-29T01:00:00.005Z", "2026-03-29 01:00:00Z");
	shows(&zone, 0, "-", "-");
	shows(&zone, INT64_MAX, "9223372036854775807", "9223372036854775807");
	ck_assert(zone_open(&zone, "-03:30"));
	ck_assert_str_eq(zone.name, "-03:30");
	shows(&zone, FORWARD_MS, "2026-03-28T21:30:00.000-03:30", "2026-03-28 21:30:00-03:30");
	reads(&zone, "2026-03-28 21:30", 0, false, FORWARD_MS);
	zone = zone_offset(420);
	shows(&zone, FORWARD_MS, "2026-03-29T08:00:00.000+07:00", "2026-03-29 08:00:00+07");
	shows(&zone, -1, "1970-01-01T06:59:59.999+07:00", "1970-01-01 06:59:59+07");
	zone = zone_offset(0);
	ck_assert_int_eq(zone.kind, ZONE_UTC);
}
END_TEST

START_TEST(unknown_zones_are_refused)
{
	static const char *const names[] = {"", "Europe/Atlantis", "../../../etc/passwd",
		"/etc/localtime", "Europe", "+2", "+25:00", "+02:60", "+02:0", "CET;rm"};
	struct zone zone;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(!zone_open(&zone, names[i]), "'%s' was accepted", names[i]);
}
END_TEST

START_TEST(local_is_the_zone_of_the_environment)
{
	struct zone zone;

	setenv("TZ", ":Europe/Berlin", 1);
	ck_assert(zone_open(&zone, "local"));
	ck_assert_str_eq(zone.name, "Europe/Berlin");
	shows(&zone, FORWARD_MS, "2026-03-29T03:00:00.000+02:00", "2026-03-29 03:00:00+02");
}
END_TEST

START_TEST(a_time_that_does_not_exist)
{
	const struct zone zone = berlin();

	shows(&zone, FORWARD_MS - 1, "2026-03-29T01:59:59.999+01:00", "2026-03-29 01:59:59+01");
	shows(&zone, FORWARD_MS, "2026-03-29T03:00:00.000+02:00", "2026-03-29 03:00:00+02");
	reads(&zone, "2026-03-29 01:59:59", 0, false, FORWARD_MS - 1000);
	for (int last = 0; last < 2; last++) {
		reads(&zone, "2026-03-29 02:00", 0, last, FORWARD_MS);
		reads(&zone, "2026-03-29 02:30", 0, last, FORWARD_MS);
		reads(&zone, "2026-03-29 02:59:59", 0, last, FORWARD_MS);
	}
	reads(&zone, "2026-03-29 03:00", 0, false, FORWARD_MS);
	reads(&zone, "2026-03-29 03:01", 0, false, FORWARD_MS + 60000);
}
END_TEST

START_TEST(a_time_that_exists_twice)
{
	const struct zone zone = berlin();

	shows(&zone, BACK_MS - HOUR_MS / 2, "2026-10-25T02:30:00.000+02:00",
		"2026-10-25 02:30:00+02");
	shows(&zone, BACK_MS + HOUR_MS / 2, "2026-10-25T02:30:00.000+01:00",
		"2026-10-25 02:30:00+01");
	reads(&zone, "2026-10-25 02:30", 0, false, BACK_MS - HOUR_MS / 2);
	reads(&zone, "2026-10-25 02:30", 0, true, BACK_MS + HOUR_MS / 2);
	reads(&zone, "2026-10-25 02:30+01:00", 0, false, BACK_MS + HOUR_MS / 2);
	reads(&zone, "2026-10-25 02:30+0200", 0, true, BACK_MS - HOUR_MS / 2);
	reads(&zone, "2026-10-25 01:59", 0, true, BACK_MS - HOUR_MS - 60000);
	reads(&zone, "2026-10-25 03:00", 0, false, BACK_MS + HOUR_MS);
}
END_TEST

START_TEST(days_of_a_change_have_23_and_25_hours)
{
	const struct zone zone = berlin();
	const int64_t noon_march = FORWARD_MS + 9 * HOUR_MS, noon_october = BACK_MS + 10 * HOUR_MS;

	/* Midnight of 29 March is 2 hours before the change, in winter time. */
	reads(&zone, "today", noon_march, false, FORWARD_MS - 2 * HOUR_MS);
	reads(&zone, "yesterday", noon_march, false, FORWARD_MS - 26 * HOUR_MS);
	reads(&zone, "yesterday", noon_march + 24 * HOUR_MS, false, FORWARD_MS - 2 * HOUR_MS);
	reads(&zone, "today", noon_march + 24 * HOUR_MS, false, FORWARD_MS + 21 * HOUR_MS);
	reads(&zone, "2026-03-29", 0, false, FORWARD_MS - 2 * HOUR_MS);
	reads(&zone, "2026-03-30", 0, false, FORWARD_MS + 21 * HOUR_MS);
	/* Midnight of 25 October is 3 hours before it, in summer time. */
	reads(&zone, "today", noon_october, false, BACK_MS - 3 * HOUR_MS);
	reads(&zone, "yesterday", noon_october + 24 * HOUR_MS, false, BACK_MS - 3 * HOUR_MS);
	reads(&zone, "today", noon_october + 24 * HOUR_MS, false, BACK_MS + 22 * HOUR_MS);
	/* A duration of a day is 24 hours. */
	reads(&zone, "-1d", noon_march, false, noon_march - 24 * HOUR_MS);
	/* Just before and just after local midnight */
	reads(&zone, "yesterday", BACK_MS - 3 * HOUR_MS - 1, false, BACK_MS - 51 * HOUR_MS);
	reads(&zone, "yesterday", BACK_MS - 3 * HOUR_MS, false, BACK_MS - 27 * HOUR_MS);
}
END_TEST

START_TEST(a_midnight_that_does_not_exist)
{
	struct zone zone;

	/* In Cairo, clocks go from 00:00 to 01:00 on 2026-04-24, which is 22:00 UTC. */
	ck_assert(zone_open(&zone, "Africa/Cairo"));
	reads(&zone, "2026-04-24", 0, false, INT64_C(1776981600000));
	reads(&zone, "2026-04-24 01:00", 0, false, INT64_C(1776981600000));
}
END_TEST

START_TEST(forms_of_a_time)
{
	static const struct {
		const char *text;
		int64_t time_ms;
	} cases[] = {
		{"now", FORWARD_MS},
		{"-1h", FORWARD_MS - HOUR_MS},
		{"-90s", FORWARD_MS - 90000},
		{"-5m", FORWARD_MS - 300000},
		{"-1h30m", FORWARD_MS - HOUR_MS * 3 / 2},
		{"-2d", FORWARD_MS - 48 * HOUR_MS},
		{"-1w", FORWARD_MS - 168 * HOUR_MS},
		{"1774746000001", FORWARD_MS + 1},
		{"2026-03-29T01:00", FORWARD_MS},
		{"2026-03-29 01:00", FORWARD_MS},
		{"2026-03-29T01:00:01Z", FORWARD_MS + 1000},
		{"2026-03-29T01:00:00.5Z", FORWARD_MS + 500},
		{"2026-03-29T01:00:00.025", FORWARD_MS + 25},
		{"2026-03-29T03:00:00+02:00", FORWARD_MS},
		{"2026-03-28T20:00-05", FORWARD_MS},
	};
	static const char *const refused[] = {"", "-", "-h", "-1", "-1y", "--1h", "1h",
		"yesterday ", "2026-02-30", "2026-13-01", "2026-03-29T25:00", "2026-03-29T01:00 ",
		"2026-03-29+2", "-9999999999d", "99999999999999999999", "2026-03-29T01:00:00.",
		"tomorrow"};
	const struct zone zone = zone_offset(0);
	int64_t time_ms;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		reads(&zone, cases[i].text, FORWARD_MS, false, cases[i].time_ms);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ck_assert_msg(!zone_read(&zone, refused[i], FORWARD_MS, false, &time_ms),
			"'%s' was accepted", refused[i]);
}
END_TEST

/* Every half hour of a year is read back as it was written. */
START_TEST(what_is_written_is_read)
{
	static const char *const names[] = {"Europe/Berlin", "America/St_Johns",
		"Australia/Lord_Howe", "Asia/Bangkok", "utc", "+05:45"};
	char text[TEXT_TIME_SIZE];
	struct zone zone;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert(zone_open(&zone, names[i]));
		for (int64_t time_ms = FORWARD_MS; time_ms < FORWARD_MS + 8760 * HOUR_MS;
			time_ms += HOUR_MS / 2) {
			zone_time(&zone, time_ms, text);
			reads(&zone, text, 0, false, time_ms);
			zone_time_short(&zone, time_ms, text);
			reads(&zone, text, 0, true, time_ms);
		}
	}
}
END_TEST

Suite *zone_suite(void)
{
	const TTest *const tests[] = {utc_and_offsets, unknown_zones_are_refused,
		local_is_the_zone_of_the_environment, a_time_that_does_not_exist,
		a_time_that_exists_twice, days_of_a_change_have_23_and_25_hours,
		a_midnight_that_does_not_exist, forms_of_a_time, what_is_written_is_read, NULL};

	return suite_make("zone", tests, 30);
}

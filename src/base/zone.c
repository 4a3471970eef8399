#include "base/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DATABASE  "/usr/share/zoneinfo/"
#define DAY_S     INT64_C(86400)
#define MINUTE_S  60
#define OFFSETS_S (2 * DAY_S) /* more than any two offsets of a zone differ */

bool zone_read_offset(const char *text, int32_t *offset_min)
{
	unsigned int hours, minutes = 0;
	int used = 0, more = 0;

	if ((*text != '+' && *text != '-') || text[1] < '0' || text[1] > '9' ||
		sscanf(text + 1, "%2u%n", &hours, &used) != 1 || used != 2)
		return false;
	if (text[3] &&
		(sscanf(text + 3, text[3] == ':' ? ":%2u%n" : "%2u%n", &minutes, &more) != 1 ||
			more != 2 + (text[3] == ':') || text[3 + more]))
		return false;
	if (hours > 14 || minutes > 59)
		return false;
	*offset_min = (int32_t)(hours * 60 + minutes) * (*text == '-' ? -1 : 1);
	return true;
}

struct zone zone_offset(int32_t offset_min)
{
	struct zone zone = {.kind = offset_min ? ZONE_OFFSET : ZONE_UTC, .offset_min = offset_min};
	int32_t size = offset_min < 0 ? -offset_min : offset_min;

	if (offset_min)
		snprintf(zone.name, sizeof(zone.name), "%c%02d:%02d", offset_min < 0 ? '-' : '+',
			(int)(size / 60 % 100), (int)(size % 60));
	else
		snprintf(zone.name, sizeof(zone.name), "UTC");
	return zone;
}

/* Returns true if the host's database has the zone. The C library takes any other name for UTC. */
static bool in_database(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
	char path[sizeof(DATABASE) + ZONE_NAME_SIZE];
	struct stat status;

	if (!*name || *name == '/' || strlen(name) >= ZONE_NAME_SIZE || name[strspn(name, letters)])
		return false;
	snprintf(path, sizeof(path), DATABASE "%s", name);
	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Sets the name of this host's zone. Its clock may have none. */
static void name_local(struct zone *zone)
{
	const char *name = getenv("TZ"), *found;
	char target[256];
	ssize_t len = readlink("/etc/localtime", target, sizeof(target) - 1);

	if (name && *name == ':')
		name++;
	if (!name && len > 0) {
		target[len] = '\0';
		found = strstr(target, "zoneinfo/");
		name = found ? found + strlen("zoneinfo/") : NULL;
	}
	if (!name || !text_copy(zone->name, sizeof(zone->name), name) || !zone->name[0])
		snprintf(zone->name, sizeof(zone->name), "local time");
}

bool zone_open(struct zone *zone, const char *name)
{
	int32_t offset_min;

	*zone = zone_offset(0);
	if (strcmp(name, "utc") == 0 || strcmp(name, "UTC") == 0)
		return true;
	if (zone_read_offset(name, &offset_min)) {
		*zone = zone_offset(offset_min);
		return true;
	}
	zone->kind = ZONE_NAMED;
	if (strcmp(name, "local") == 0) {
		name_local(zone);
		if (strcmp(zone->name, "Etc/UTC") == 0 || strcmp(zone->name, "UTC") == 0)
			*zone = zone_offset(0);
	} else {
		if (!in_database(name) || setenv("TZ", name, 1) != 0)
			return false;
		snprintf(zone->name, sizeof(zone->name), "%s", name);
	}
	tzset();
	return true;
}

/* Returns the offset from UTC, in seconds, that the zone has at @time_s. */
static int64_t offset_at(const struct zone *zone, int64_t time_s)
{
	time_t time = (time_t)time_s;
	struct tm tm;

	if (zone->kind == ZONE_UTC)
		return 0;
	if (zone->kind == ZONE_OFFSET)
		return (int64_t)zone->offset_min * MINUTE_S;
	return localtime_r(&time, &tm) ? tm.tm_gmtoff : 0;
}

/* Returns @time_ms in seconds, rounded down. */
static int64_t seconds_of(int64_t time_ms)
{
	return time_ms / 1000 - (time_ms % 1000 < 0);
}

/* Writes the local date and time, without an offset. Returns false if there is none to write. */
static bool write_local(const struct zone *zone, int64_t time_ms, int64_t *offset_s,
	char text[TEXT_TIME_SIZE])
{
	if (!time_ms)
		return false;
	*offset_s = offset_at(zone, seconds_of(time_ms));
	/* Close to the ends of the calendar there is no local time. */
	if (time_ms > INT64_MAX - OFFSETS_S * 1000 || time_ms < INT64_MIN + OFFSETS_S * 1000 ||
		time_ms + *offset_s * 1000 == 0)
		return false;
	text_time(time_ms + *offset_s * 1000, text);
	return strlen(text) == strlen("2025-01-31T12:00:00.000Z") && text[23] == 'Z';
}

void zone_time(const struct zone *zone, int64_t time_ms, char text[TEXT_TIME_SIZE])
{
	int64_t offset_s, size;

	if (zone->kind == ZONE_UTC || !write_local(zone, time_ms, &offset_s, text)) {
		text_time(time_ms, text);
		return;
	}
	size = offset_s < 0 ? -offset_s : offset_s;
	snprintf(&text[23], TEXT_TIME_SIZE - 23, "%c%02d:%02d", offset_s < 0 ? '-' : '+',
		(int)(size / 3600 % 100), (int)(size / 60 % 60));
}

void zone_time_short(const struct zone *zone, int64_t time_ms, char text[TEXT_TIME_SIZE])
{
	int64_t offset_s, size;

	if (!write_local(zone, time_ms, &offset_s, text)) {
		text_time(time_ms, text);
		return;
	}
	text[10] = ' ';
	size = offset_s < 0 ? -offset_s : offset_s;
	if (zone->kind == ZONE_UTC)
		snprintf(&text[19], TEXT_TIME_SIZE - 19, "Z");
	else if (size % 3600 < 60)
		snprintf(&text[19], TEXT_TIME_SIZE - 19, "%c%02d", offset_s < 0 ? '-' : '+',
			(int)(size / 3600 % 100));
	else
		snprintf(&text[19], TEXT_TIME_SIZE - 19, "%c%02d:%02d", offset_s < 0 ? '-' : '+',
			(int)(size / 3600 % 100), (int)(size / 60 % 60));
}

/* Returns the first second at which the zone's offset is no longer that of @from_s. */
static int64_t find_change(const struct zone *zone, int64_t from_s, int64_t to_s)
{
	int64_t before = offset_at(zone, from_s), middle;

	while (to_s - from_s > 1) {
		middle = from_s + (to_s - from_s) / 2;
		if (offset_at(zone, middle) == before)
			from_s = middle;
		else
			to_s = middle;
	}
	return to_s;
}

/*
 * Returns the moment at which clocks of the zone show @local_s, which is the local date and time
 * as timegm() counts them.
 */
static int64_t moment_of(const struct zone *zone, int64_t local_s, bool last)
{
	int64_t early = local_s - offset_at(zone, local_s - DAY_S),
		late = local_s - offset_at(zone, local_s + DAY_S);
	bool early_fits = early + offset_at(zone, early) == local_s,
	     late_fits = late + offset_at(zone, late) == local_s;

	if (early_fits && late_fits)
		return (early < late) == last ? late : early;
	if (early_fits || late_fits)
		return early_fits ? early : late;
	return find_change(zone, local_s - DAY_S, local_s + DAY_S);
}

/* Reads the offset at the end of a time: nothing, Z, or +HH:MM. */
static bool read_end(const struct zone *zone, const char *end, struct zone *in)
{
	int32_t offset_min;

	*in = *zone;
	if (!*end)
		return true;
	if (strcmp(end, "Z") == 0) {
		*in = zone_offset(0);
		return true;
	}
	if (!zone_read_offset(end, &offset_min))
		return false;
	*in = zone_offset(offset_min);
	return true;
}

/* Reads ".5", ".50" or ".500" after the seconds. */
static const char *read_fraction(const char *text, int *ms)
{
	int weight = 100;

	*ms = 0;
	if (*text != '.' || text[1] < '0' || text[1] > '9')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++, weight /= 10)
		*ms += (*text - '0') * weight;
	return text;
}

static bool read_calendar(const struct zone *zone, const char *text, bool last, int64_t *time_ms)
{
	static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
		"%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = {0}, back;
		const char *end = strptime(text, forms[i], &tm);
		struct zone in;
		int ms = 0;

		if (end && i < 2)
			end = read_fraction(end, &ms);
		if (!end || !read_end(zone, end, &in))
			continue;
		back = tm;
		*time_ms = (int64_t)timegm(&back);
		/* timegm() turns 31 February into a day of March: refuse such a date. */
		if (back.tm_mday != tm.tm_mday || back.tm_sec != tm.tm_sec)
			return false;
		*time_ms = moment_of(&in, *time_ms, last) * 1000 + ms;
		return true;
	}
	return false;
}

/* Reads "-1h30m": a duration before @now_ms. */
static bool read_ago(const char *text, int64_t now_ms, int64_t *time_ms)
{
	static const struct {
		char unit;
		int64_t ms;
	} units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
	int64_t ago_ms = 0, number;
	size_t digits, i;

	if (*text++ != '-' || !*text)
		return false;
	for (; *text; text += digits + 1) {
		digits = strspn(text, "0123456789");
		if (!digits || digits > 9)
			return false;
		number = strtoll(text, NULL, 10);
		for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
			if (units[i].unit == text[digits])
				break;
		}
		if (i == sizeof(units) / sizeof(units[0]) ||
			__builtin_add_overflow(ago_ms, number * units[i].ms, &ago_ms))
			return false;
	}
	return !__builtin_sub_overflow(now_ms, ago_ms, time_ms);
}

/* Returns the local midnight that is @days days before that of today. */
static int64_t midnight_before(const struct zone *zone, int64_t now_ms, int days)
{
	int64_t now_s = seconds_of(now_ms), local_s = now_s + offset_at(zone, now_s);
	int64_t today_s = local_s - ((local_s % DAY_S) + DAY_S) % DAY_S;

	return moment_of(zone, today_s - days * DAY_S, false) * 1000;
}

bool zone_read(const struct zone *zone, const char *text, int64_t now_ms, bool last,
	int64_t *time_ms)
{
	uint64_t number;

	if (strcmp(text, "now") == 0)
		*time_ms = now_ms;
	else if (strcmp(text, "today") == 0)
		*time_ms = midnight_before(zone, now_ms, 0);
	else if (strcmp(text, "yesterday") == 0)
		*time_ms = midnight_before(zone, now_ms, 1);
	else if (text_unsigned(text, INT64_MAX, &number))
		*time_ms = (int64_t)number;
	else
		return read_ago(text, now_ms, time_ms) || read_calendar(zone, text, last, time_ms);
	return true;
}

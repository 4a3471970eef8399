/*
 * zone - times for people: prints Unix times in a time zone and reads them in it.
 *
 * A process has one named zone, which zone_open() sets for the C library. Rows of dealers use
 * fixed offsets beside it. Logs and files are always written in UTC, by text_time().
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define ZONE_NAME_SIZE 64

enum zone_kind {
	ZONE_UTC,
	ZONE_OFFSET, /* always offset_min from UTC */
	ZONE_NAMED,  /* the zone of the C library: of this host, or set by zone_open() */
};

struct zone {
	enum zone_kind kind;
	int32_t offset_min;
	char name[ZONE_NAME_SIZE]; /* for people, such as "Europe/Berlin" or "+02:00" */
};

/*
 * Opens the zone @name: "utc", "local" (the zone of this host or of TZ), an offset such as +02:00,
 * or a zone of the host's database, such as Europe/Berlin. Returns false if there is no such zone.
 */
bool zone_open(struct zone *zone, const char *name);

/* Reads "+HH:MM", "-HHMM" or "+HH", below 15 hours, into minutes. */
bool zone_read_offset(const char *text, int32_t *offset_min);

/* Returns the zone that is @offset_min minutes east of UTC. */
struct zone zone_offset(int32_t offset_min);

/*
 * Writes a Unix time as 2025-01-31T13:00:00.000+01:00, or as text_time() does in UTC. The short
 * form is 2025-01-31 13:00:00+01; in UTC it ends with Z. 0 is "-".
 */
void zone_time(const struct zone *zone, int64_t time_ms, char text[TEXT_TIME_SIZE]);
void zone_time_short(const struct zone *zone, int64_t time_ms, char text[TEXT_TIME_SIZE]);

/* What ZONE_FORMS says, for messages. */
#define ZONE_FORMS                                                                                 \
	"YYYY-MM-DD, 'YYYY-MM-DD HH:MM[:SS]', today, yesterday, now, -1h (s, m, h, d, w) or Unix " \
	"milliseconds"

/*
 * Reads a time: YYYY-MM-DD, its midnight; YYYY-MM-DD HH:MM[:SS[.mmm]], with T or a space, and with
 * or without a closing Z or +HH:MM; "now", "today", "yesterday"; "-90s", "-5m", "-1h", "-2d",
 * "-1w" before @now_ms, where a day is 24 hours; or Unix milliseconds. Texts without Z or offset
 * are in @zone. A local time that exists twice, when clocks are set back, is the first of the two,
 * or the second with @last. One that does not exist, when clocks are set forward, is the moment
 * of the change.
 */
bool zone_read(const struct zone *zone, const char *text, int64_t now_ms, bool last,
	int64_t *time_ms);

#endif

/*
 * times - the zone in which creditbridgectl prints and reads times (--tz).
 *
 * On a terminal it is the zone of this host. Elsewhere, and with --json, it is UTC, so that scripts
 * read the same on every host. With --tz=dealer each row is in the utc_offset of its dealer.
 */
#ifndef CMD_CTL_COMMON_TIMES_H
#define CMD_CTL_COMMON_TIMES_H

#include "base/zone.h"
#include "cmd/ctl/common/ctl.h"

/* Opens the zone of --tz. Refuses an unknown one as a usage error. */
enum outcome times_open(struct ctl *ctl);

/*
 * Selects the zone of the times that follow: with --tz=dealer that of the dealer which @record
 * names in its member casino_id. @record may be NULL: it names none, and its times are in UTC.
 */
void times_select(struct ctl *ctl, const struct field *table, const void *record);

/* Selects the form of the times that follow: that of a table on a terminal, or the full form. */
void times_in_table(bool on);

/* Writes a time in the selected zone and form. */
void times_text(int64_t time_ms, char text[TEXT_TIME_SIZE]);

/*
 * Reads the time of @option into *time_ms, if the option is given. @dealer: the dealer of the
 * command, whose zone --tz=dealer means; NULL: none. @last: see zone_read(). Reports a usage error.
 */
enum outcome times_read(struct ctl *ctl, enum ctl_option option, const struct dealer *dealer,
	bool last, int64_t *time_ms);

/* If times were printed in another zone than UTC, prints the zone's name on standard error. */
void times_close(struct ctl *ctl);

#endif

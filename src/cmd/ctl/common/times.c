#include "cmd/ctl/common/times.h"

#include "admin/names.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEALERS_KEPT 64

/* The utc_offset of a dealer that was asked for. */
struct dealer_zone {
	char casino_id[CASINO_ID_SIZE];
	int32_t offset_min;
};

static struct {
	struct zone zone;     /* of --tz */
	struct zone selected; /* of the times that follow */
	bool by_dealer;
	bool note;    /* the zone is to be named at the end */
	bool table;   /* the times that follow are in a table on a terminal */
	bool printed; /* a time was printed in another zone than UTC */
	struct dealer_zone dealers[DEALERS_KEPT];
	unsigned int dealer_count; /* that were kept; the oldest is replaced */
} times;

enum outcome times_open(struct ctl *ctl)
{
	const char *name = ctl->options[OPTION_TZ];
	const bool terminal = !ctl->json && isatty(STDOUT_FILENO);

	times.note = !ctl->json && (terminal || name);
	times.by_dealer = name && strcmp(name, "dealer") == 0;
	if (!name)
		name = terminal ? "local" : "utc";
	if (times.by_dealer)
		times.zone = zone_offset(0);
	else if (!zone_open(&times.zone, name))
		return ctl_usage(ctl,
			"--tz takes local, utc, dealer, an offset such as +02:00, or a zone of this "
			"host such as Europe/Berlin; not '%s'",
			name);
	times.selected = times.zone;
	return OUTCOME_DONE;
}

/* Returns the offset of a dealer. If it cannot be read, that was reported, and UTC is used. */
static int32_t dealer_offset(struct ctl *ctl, const char *casino_id)
{
	struct dealer_zone *kept;
	struct dealer dealer;

	for (unsigned int i = 0; i < times.dealer_count && i < DEALERS_KEPT; i++) {
		if (strcmp(times.dealers[i].casino_id, casino_id) == 0)
			return times.dealers[i].offset_min;
	}
	if (names_dealer(&ctl->session, casino_id, &dealer) != OUTCOME_DONE)
		dealer.utc_offset_min = 0;
	kept = &times.dealers[times.dealer_count++ % DEALERS_KEPT];
	text_copy(kept->casino_id, sizeof(kept->casino_id), casino_id);
	kept->offset_min = dealer.utc_offset_min;
	return kept->offset_min;
}

void times_select(struct ctl *ctl, const struct field *table, const void *record)
{
	const char *casino_id = NULL;

	if (!times.by_dealer)
		return;
	for (; record && table->name && !casino_id; table++) {
		if (table->type == FIELD_STR && strcmp(table->name, "casino_id") == 0)
			casino_id = (const char *)record + table->offset;
	}
	/* Tables within `show` have rows that do not repeat the dealer. */
	if (casino_id && casino_id[0])
		times.selected = zone_offset(dealer_offset(ctl, casino_id));
}

void times_in_table(bool on)
{
	times.table = on && isatty(STDOUT_FILENO);
}

void times_text(int64_t time_ms, char text[TEXT_TIME_SIZE])
{
	if (times.table)
		zone_time_short(&times.selected, time_ms, text);
	else
		zone_time(&times.selected, time_ms, text);
	times.printed |= time_ms && times.selected.kind != ZONE_UTC;
}

enum outcome times_read(struct ctl *ctl, enum ctl_option option, const struct dealer *dealer,
	bool last, int64_t *time_ms)
{
	const char *text = ctl->options[option];
	const struct zone zone =
		times.by_dealer && dealer ? zone_offset(dealer->utc_offset_min) : times.zone;

	if (!text)
		return OUTCOME_DONE;
	if (times.by_dealer && !dealer)
		return ctl_usage(ctl,
			"with --tz=dealer, a time needs the dealer whose zone it is in: --casino");
	if (zone_read(&zone, text, clock_wall_ms(), last, time_ms))
		return OUTCOME_DONE;
	return ctl_usage(ctl, "a time is " ZONE_FORMS "; not '%s'", text);
}

void times_close(struct ctl *ctl)
{
	if (ctl->json || !times.note || !times.printed)
		return;
	fflush(stdout);
	if (times.by_dealer)
		fprintf(stderr, "Times are in the utc_offset of each dealer.\n");
	else
		fprintf(stderr, "Times are in %s%s.\n", times.zone.name,
			times.zone.kind == ZONE_OFFSET ? " from UTC" : "");
}

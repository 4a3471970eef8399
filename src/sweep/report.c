#include "sweep/report.h"

#include "base/text.h"
#include "link/commands.h"
#include "wire/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DUE_TEXT_MAX (256 * 1024)

const char *const swept_names[SWEPT_COUNT] = {"sent", "delivered", "due_again", "parked", "failed",
	"late", "taken_over", "refused_busy"};

void report_init(struct report *report)
{
	memset(report, 0, sizeof(*report));
}

void report_free(struct report *report)
{
	free(report->dealers);
	report_init(report);
}

/* Returns the index of @casino_id, or where to insert it. */
static uint32_t find_dealer_line(const struct report *report, const char *casino_id)
{
	uint32_t low = 0, high = report->dealer_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(report->dealers[middle].casino_id, casino_id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(struct report *report)
{
	uint32_t room = report->dealer_room ? 2 * report->dealer_room : 16;
	struct report_dealer *dealers;

	if (report->dealer_count < report->dealer_room)
		return true;
	dealers = reallocarray(report->dealers, room, sizeof(*dealers));
	if (!dealers)
		return false;
	report->dealers = dealers;
	report->dealer_room = room;
	return true;
}

/* Returns the dealer's counters, or NULL if memory is exhausted. */
static struct report_dealer *dealer_of(struct report *report, const char *casino_id)
{
	uint32_t at = find_dealer_line(report, casino_id);
	struct report_dealer *dealer;

	if (at < report->dealer_count && strcmp(report->dealers[at].casino_id, casino_id) == 0)
		return &report->dealers[at];
	if (!make_room(report)) {
		report->failed = true;
		return NULL;
	}
	dealer = &report->dealers[at];
	memmove(dealer + 1, dealer, (report->dealer_count - at) * sizeof(*dealer));
	report->dealer_count++;
	memset(dealer, 0, sizeof(*dealer));
	text_copy(dealer->casino_id, sizeof(dealer->casino_id), casino_id);
	return dealer;
}

void report_count(struct report *report, const char *casino_id, enum swept what)
{
	struct report_dealer *dealer = dealer_of(report, casino_id);

	report->counts[what]++;
	if (dealer)
		dealer->counts[what]++;
}

/* Keeps the oldest events, in order. */
static void keep_oldest(struct report_dealer *dealer, uint64_t event)
{
	uint64_t other;

	for (unsigned int i = 0; i < REPORT_PARKED_MAX && event; i++) {
		other = dealer->oldest[i];
		if (other && other <= event)
			continue;
		dealer->oldest[i] = event;
		event = other;
	}
}

void report_state(struct report *report, const char *casino_id, enum callback_kind kind,
	uint64_t event, enum callback_state state)
{
	static const enum swept ends[CALLBACK_STATE_COUNT] = {
		[CALLBACK_DUE] = SWEPT_DUE_AGAIN,
		[CALLBACK_DELIVERED] = SWEPT_DELIVERED,
		[CALLBACK_PARKED] = SWEPT_PARKED,
		[CALLBACK_FAILED] = SWEPT_FAILED,
		/* No attempt ends in this state: another sender has continued. */
		[CALLBACK_SENDING] = SWEPT_LATE,
		[CALLBACK_HELD] = SWEPT_LATE,
		[CALLBACK_CANCELLED] = SWEPT_LATE,
	};
	struct report_dealer *dealer;

	report_count(report, casino_id, ends[state]);
	if (state != CALLBACK_PARKED)
		return;
	dealer = dealer_of(report, casino_id);
	if (!dealer)
		return;
	dealer->parked[kind]++;
	keep_oldest(dealer, event);
}

static void add_counts(struct buffer *out, const uint64_t counts[SWEPT_COUNT])
{
	for (unsigned int i = 0; i < SWEPT_COUNT; i++)
		buffer_printf(out, "\"%s\":%" PRIu64 ",", swept_names[i], counts[i]);
}

bool report_json(const struct report *report, struct buffer *out)
{
	buffer_append_str(out, "{");
	add_counts(out, report->counts);
	buffer_printf(out, "\"waiting\":%" PRIu64 ",\"dealers\":[", report->waiting);
	for (uint32_t i = 0; i < report->dealer_count; i++) {
		buffer_append_str(out, i ? ",{" : "{");
		add_counts(out, report->dealers[i].counts);
		buffer_append_str(out, "\"casino_id\":");
		render_string(out, report->dealers[i].casino_id);
		buffer_append_str(out, "}");
	}
	return buffer_append_str(out, "]}") && !out->failed;
}

void report_text(const struct report *report, FILE *out)
{
	const uint64_t *counts = report->counts;

	fprintf(out,
		"%" PRIu64 " sent, %" PRIu64 " taken over: %" PRIu64 " delivered, %" PRIu64
		" due again, %" PRIu64 " parked, %" PRIu64 " failed",
		counts[SWEPT_SENT], counts[SWEPT_TAKEN_OVER], counts[SWEPT_DELIVERED],
		counts[SWEPT_DUE_AGAIN], counts[SWEPT_PARKED], counts[SWEPT_FAILED]);
	if (counts[SWEPT_LATE])
		fprintf(out, ", %" PRIu64 " late", counts[SWEPT_LATE]);
	fprintf(out, "; %" PRIu64 " waiting\n", report->waiting);
}

static void dealer_parked(const struct report_dealer *dealer, FILE *out)
{
	const char *before = "";

	fprintf(out, "casino %s: parked ", dealer->casino_id);
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		if (!dealer->parked[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, dealer->parked[i], callback_kind_names[i]);
		before = ", ";
	}
	fputs(" (events", out);
	for (unsigned int i = 0; i < REPORT_PARKED_MAX && dealer->oldest[i]; i++)
		fprintf(out, " %" PRIu64, dealer->oldest[i]);
	fprintf(out, "%s); see: creditbridgectl callback list --casino %s --state parked\n",
		dealer->counts[SWEPT_PARKED] > REPORT_PARKED_MAX ? " ..." : "", dealer->casino_id);
}

void report_parked(const struct report *report, FILE *out)
{
	for (uint32_t i = 0; i < report->dealer_count; i++) {
		if (report->dealers[i].counts[SWEPT_PARKED])
			dealer_parked(&report->dealers[i], out);
	}
}

bool report_print_due(const struct due_entry *due, uint32_t count, uint64_t waiting, bool json,
	FILE *out)
{
	char id[CALLBACK_EVENT_ID_SIZE];
	struct buffer text;
	bool fits;

	buffer_init(&text, DUE_TEXT_MAX);
	if (json)
		buffer_printf(&text, "{\"waiting\":%" PRIu64 ",\"callbacks\":[", waiting);
	for (uint32_t i = 0; i < count; i++) {
		const struct due_entry *entry = &due[i];

		if (json) {
			buffer_append_str(&text, i ? "," : "");
			render_record(&text, due_entry_fields, entry);
			continue;
		}
		callback_event_id(entry->kind, entry->event, id);
		buffer_printf(&text, "%s %s casino %s, overdue by %" PRIu64 ".%03" PRIu64 " s\n",
			entry->takeover ? "take over" : "send", id, entry->casino_id,
			entry->overdue_ms / 1000, entry->overdue_ms % 1000);
	}
	if (json)
		buffer_append_str(&text, "]}\n");
	else
		buffer_printf(&text, "%" PRIu32 " to do now, %" PRIu64 " waiting\n", count,
			waiting);
	fits = !text.failed;
	if (fits)
		fwrite(text.data, 1, text.len, out);
	buffer_free(&text);
	return fits;
}

#include "doctor/standing.h"

#include "admin/cell_text.h"

#include <inttypes.h>
#include <stdio.h>

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   (60 * MINUTE_MS)
/* As in the alerts of contrib/prometheus. */
#define OVERDUE_MS    (5 * MINUTE_MS)
#define BACKUP_OLD_MS (26 * HOUR_MS)

const char *const standing_level_names[STANDING_LEVEL_COUNT] = {"ok", "attention", "failure"};

const struct field standing_fields[] = {
	FIELD_NAMED(standing_finding, level, standing_level_names, STANDING_LEVEL_COUNT),
	FIELD(FIELD_STR, standing_finding, found),
	FIELD(FIELD_STR, standing_finding, remedy),
	FIELD_END,
};

/* Writes the finding to @found. Returns false if the cause does not hold. */
typedef bool judge(const struct standing_facts *facts, char *found, size_t size);

static bool say_count(char *found, size_t size, uint64_t count, const char *what)
{
	if (count)
		snprintf(found, size, "%" PRIu64 " %s", count, what);
	return count > 0;
}

static bool is_halted(const struct standing_facts *facts, char *found, size_t size)
{
	snprintf(found, size, "the disk failed and the ledger is halted: every call is refused");
	return facts->status->halted;
}

static bool is_low(const struct standing_facts *facts, char *found, size_t size)
{
	snprintf(found, size,
		"free space is below the low-water mark: calls that write are refused");
	return facts->status->storage_low;
}

static bool is_unswept(const struct standing_facts *facts, char *found, size_t size)
{
	const struct status_result *status = facts->status;
	int64_t since_ms = facts->now_ms - status->swept_ms;

	if (!status->swept_ms) {
		snprintf(found, size, "the sweeper has not run since the ledger was started");
		return status->uptime_ms > (uint64_t)facts->sweep_overdue_ms;
	}
	snprintf(found, size, "the sweeper last ran %" PRId64 " s ago: results and refunds wait",
		since_ms / 1000);
	return since_ms > facts->sweep_overdue_ms;
}

static bool is_overdue(const struct standing_facts *facts, char *found, size_t size)
{
	snprintf(found, size, "a result or refund has been due for %" PRIu64 " s",
		facts->queue->overdue_ms / 1000);
	return facts->queue->overdue_ms > OVERDUE_MS;
}

static bool has_parked(const struct standing_facts *facts, char *found, size_t size)
{
	return say_count(found, size, facts->queue->parked,
		"results or refunds were not delivered and are parked");
}

static bool has_held(const struct standing_facts *facts, char *found, size_t size)
{
	return say_count(found, size, facts->status->held_dealers,
		"dealers get no callbacks until they are released");
}

static bool has_unconfirmed(const struct standing_facts *facts, char *found, size_t size)
{
	return say_count(found, size, facts->status->unconfirmed_keys,
		"dealers or game servers have keys that a restore brought back");
}

static bool has_shared(const struct standing_facts *facts, char *found, size_t size)
{
	return say_count(found, size, facts->shared_keys,
		"keys belong to two dealers or game servers");
}

static bool has_no_url(const struct standing_facts *facts, char *found, size_t size)
{
	return say_count(found, size, facts->dealers_without_url,
		"seamless dealers have no URL: their players' bets are refused");
}

/* Without a dealer there is nothing to save. */
static bool is_backup_old(const struct standing_facts *facts, char *found, size_t size)
{
	int64_t since_ms = facts->now_ms - facts->status->backup_ms;

	if (facts->status->backup_ms)
		snprintf(found, size, "the last backup is %" PRId64 " hours old",
			since_ms / HOUR_MS);
	else
		snprintf(found, size, "no backup was made of this data");
	return facts->status->dealers && since_ms > BACKUP_OLD_MS;
}

/* From the worst to the least. */
static const struct {
	enum standing_level level;
	judge *judge;
	const char *remedy;
} causes[] = {
	{STANDING_FAILURE, is_halted, "check or replace the disk, then creditbridgectl resume"},
	{STANDING_FAILURE, is_low, "make room on the ledger's disk"},
	{STANDING_FAILURE, is_unswept,
		"creditbridgectl sweep; then look at creditbridge-sweep.timer or cron"},
	{STANDING_ATTENTION, is_overdue, "creditbridgectl callback list --state due"},
	{STANDING_ATTENTION, has_parked, "creditbridgectl callback list --state parked"},
	{STANDING_ATTENTION, has_held, "creditbridgectl reconcile, then creditbridgectl release"},
	{STANDING_ATTENTION, has_unconfirmed, "creditbridgectl dealer key-confirm"},
	{STANDING_ATTENTION, has_shared, "creditbridgectl dealer key-add, key-use and key-retire"},
	{STANDING_ATTENTION, has_no_url, "creditbridgectl dealer set CASINO --url URL"},
	{STANDING_ATTENTION, is_backup_old, "creditbridgectl backup DIR"},
};
_Static_assert(sizeof(causes) / sizeof(causes[0]) <= STANDING_MAX, "a finding for each cause");

unsigned int standing_judge(const struct standing_facts *facts,
	struct standing_finding findings[STANDING_MAX])
{
	unsigned int count = 0;

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		struct standing_finding *finding = &findings[count];

		/* A halted ledger has no rows, so the other figures say nothing. */
		if (facts->status->halted && i)
			break;
		if (!causes[i].judge(facts, finding->found, sizeof(finding->found)))
			continue;
		finding->level = causes[i].level;
		cell_text_write(facts->cell, causes[i].remedy, finding->remedy,
			sizeof(finding->remedy));
		count++;
	}
	return count;
}

#include "metrics/activity.h"

#include "base/check.h"

#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define SPAN_MS   (ACTIVITY_SPAN_MINUTES * MINUTE_MS)
/* The most between two samples, which are a second apart while the ledger serves. */
#define GAP_MS (2 * MINUTE_MS)

/* Operations that are no calls of dealers and game servers. */
static const bool is_probe[OPERATION_COUNT] = {
	[OPERATION_HEALTHZ] = true,
	[OPERATION_READYZ] = true,
	[OPERATION_METRICS] = true,
	[OPERATION_DOCTOR] = true,
};
/* What an accepted call of an operation counts as; ACTIVITY_CALLS: nothing more. */
static const enum activity_count accepted_as[OPERATION_COUNT] = {
	[OPERATION_TRANSFER_IN] = ACTIVITY_TRANSFERS,
	[OPERATION_TRANSFER_OUT] = ACTIVITY_TRANSFERS,
	[OPERATION_BETS] = ACTIVITY_BETS,
};

static int64_t minute_of(int64_t boot_ms)
{
	return boot_ms / MINUTE_MS + 1;
}

/* Returns what an answer counts as besides a call; ACTIVITY_CALLS: nothing more. */
static enum activity_count kind_of(unsigned int operation, unsigned int refusal)
{
	const int code = refusal_info((enum refusal)refusal)->code;

	if (refusal == REFUSAL_NONE)
		return accepted_as[operation];
	if (code >= 500)
		return ACTIVITY_FAILED;
	return code >= 400 ? ACTIVITY_REFUSED : ACTIVITY_CALLS;
}

static void add_up(const struct counters *counters, uint64_t sums[ACTIVITY_COUNT])
{
	memset(sums, 0, ACTIVITY_COUNT * sizeof(*sums));
	for (unsigned int operation = 0; operation < OPERATION_COUNT; operation++) {
		for (unsigned int refusal = 0; refusal < REFUSAL_COUNT && !is_probe[operation];
			refusal++) {
			const uint64_t count = counters->requests[operation][refusal];
			const enum activity_count kind = kind_of(operation, refusal);

			sums[ACTIVITY_CALLS] += count;
			if (kind != ACTIVITY_CALLS)
				sums[kind] += count;
		}
	}
}

/* Workers can write any counts: the sum stays at its maximum. */
static void add_count(uint32_t *to, uint64_t more)
{
	*to = more > UINT32_MAX - *to ? UINT32_MAX : *to + (uint32_t)more;
}

/* Returns the first minute that is known and within the last 24 hours. */
static int64_t first_minute(const struct activity *activity, int64_t boot_ms)
{
	const int64_t begun = minute_of(activity->since_ms);
	const int64_t oldest = minute_of(boot_ms) - ACTIVITY_MINUTES + 1;

	return begun > oldest ? begun : oldest;
}

/* Returns the boot time at which minute @number begins to be known. */
static int64_t begin_of(const struct activity *activity, int64_t number)
{
	const int64_t begin_ms = (number - 1) * MINUTE_MS;

	return begin_ms > activity->since_ms ? begin_ms : activity->since_ms;
}

static struct activity_minute *minute_at(struct activity *activity, int64_t number)
{
	struct activity_minute *minute = &activity->minutes[number % ACTIVITY_MINUTES];

	if (minute->number != number)
		*minute = (struct activity_minute){.number = number};
	return minute;
}

/* Returns how much of minute @number is between @begin_ms and @end_ms. */
static uint32_t part_of(int64_t number, int64_t begin_ms, int64_t end_ms)
{
	const int64_t from_ms = (number - 1) * MINUTE_MS, to_ms = number * MINUTE_MS;

	begin_ms = begin_ms > from_ms ? begin_ms : from_ms;
	end_ms = end_ms < to_ms ? end_ms : to_ms;
	return end_ms > begin_ms ? (uint32_t)(end_ms - begin_ms) : 0;
}

static void mark_unknown(struct activity *activity, int64_t boot_ms)
{
	const int64_t before = minute_of(activity->taken_ms);
	const int64_t oldest = first_minute(activity, boot_ms);

	for (int64_t number = before > oldest ? before : oldest; number <= minute_of(boot_ms);
		number++)
		minute_at(activity, number)->unknown_ms +=
			part_of(number, activity->taken_ms, boot_ms);
}

void activity_take(struct activity *activity, const struct counters *counters, int64_t boot_ms)
{
	const bool gap = activity->sampled && boot_ms - activity->taken_ms > GAP_MS;
	struct activity_minute *minute = minute_at(activity, minute_of(boot_ms));
	uint64_t sums[ACTIVITY_COUNT];

	add_up(counters, sums);
	for (unsigned int i = 0; i < ACTIVITY_COUNT && activity->sampled && !gap; i++)
		add_count(&minute->counts[i],
			sums[i] < activity->seen[i] ? sums[i] : sums[i] - activity->seen[i]);
	memcpy(activity->seen, sums, sizeof(sums));
	if (gap)
		mark_unknown(activity, boot_ms);
	if (!activity->sampled)
		activity->since_ms = boot_ms;
	activity->taken_ms = boot_ms;
	activity->sampled = true;
}

int64_t activity_since(const struct activity *activity, const struct moment *now)
{
	if (!activity->sampled)
		return 0;
	return begin_of(activity, first_minute(activity, now->boot_ms)) + now->wall_ms -
		now->boot_ms;
}

/*
 * Returns how much of minute @number, from @begin_ms to @end_ms, is known. The time since the last sample is,
 * unless that was too long ago.
 */
static uint64_t known_of(const struct activity *activity, int64_t number, int64_t begin_ms,
	int64_t end_ms, int64_t boot_ms)
{
	const struct activity_minute *minute = &activity->minutes[number % ACTIVITY_MINUTES];
	uint64_t known_ms = end_ms > begin_ms ? (uint64_t)(end_ms - begin_ms) : 0;
	uint64_t unknown_ms = minute->number == number ? minute->unknown_ms : 0;

	if (boot_ms - activity->taken_ms > GAP_MS)
		unknown_ms += part_of(number, activity->taken_ms, boot_ms);
	return known_ms > unknown_ms ? known_ms - unknown_ms : 0;
}

static void add_minute(const struct activity *activity, int64_t number, struct activity_span *span)
{
	const struct activity_minute *minute = &activity->minutes[number % ACTIVITY_MINUTES];

	if (minute->number != number)
		return;
	span->calls += minute->counts[ACTIVITY_CALLS];
	span->refused += minute->counts[ACTIVITY_REFUSED];
	span->failed += minute->counts[ACTIVITY_FAILED];
	span->transfers += minute->counts[ACTIVITY_TRANSFERS];
	span->bets += minute->counts[ACTIVITY_BETS];
}

uint32_t activity_spans(const struct activity *activity, const struct moment *now,
	struct activity_span spans[ACTIVITY_SPANS_MAX])
{
	const int64_t last = minute_of(now->boot_ms);
	uint32_t count = 0;

	if (!activity->sampled)
		return 0;
	for (int64_t number = first_minute(activity, now->boot_ms); number <= last; number++) {
		const int64_t begin_ms = begin_of(activity, number);
		const int64_t end_ms = number == last ? now->boot_ms : number * MINUTE_MS;
		const int64_t wall_ms = begin_ms + now->wall_ms - now->boot_ms;
		const int64_t span_ms = wall_ms - wall_ms % SPAN_MS;

		if (!count || spans[count - 1].begin_ms != span_ms) {
			CHECK(count < ACTIVITY_SPANS_MAX);
			spans[count++] = (struct activity_span){.begin_ms = span_ms};
		}
		spans[count - 1].known_ms +=
			known_of(activity, number, begin_ms, end_ms, now->boot_ms);
		add_minute(activity, number, &spans[count - 1]);
	}
	return count;
}

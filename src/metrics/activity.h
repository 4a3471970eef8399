/*
 * activity - how many calls the workers answered in each minute of the last 24 hours.
 *
 * It is memory of one size without pointers, so the ledger's supervisor can share it with its engines. A
 * sample adds what the workers' counters grew by since the sample before. An engine that is killed within a
 * sample loses it, or counts it twice.
 *
 * No sample is taken while the host stands by or the counters' file cannot be read. After more than two
 * minutes without one, the calls since then are left out, because their minute is unknown.
 *
 * Minutes are those since the boot: no call moves if the wall clock is set.
 */
#ifndef METRICS_ACTIVITY_H
#define METRICS_ACTIVITY_H

#include "base/clock.h"
#include "link/metrics_commands.h"
#include "metrics/counters.h"

#define ACTIVITY_MINUTES 1440
/* Minutes of a span of the answer, which begins at such a multiple of the wall clock. */
#define ACTIVITY_SPAN_MINUTES 15
/* 24 hours rarely begin with a span. */
#define ACTIVITY_SPANS_MAX (ACTIVITY_MINUTES / ACTIVITY_SPAN_MINUTES + 1)

enum activity_count {
	ACTIVITY_CALLS,     /* all but probes: /healthz, /readyz, /metrics, and those of doctor */
	ACTIVITY_REFUSED,   /* of them answered 4xx */
	ACTIVITY_FAILED,    /* of them answered 5xx */
	ACTIVITY_TRANSFERS, /* of them transfers that were accepted */
	ACTIVITY_BETS,      /* of them bets that were accepted */
	ACTIVITY_COUNT
};

struct activity {
	bool sampled;
	int64_t since_ms;              /* boot time of the first sample */
	int64_t taken_ms;              /* boot time of the last sample */
	uint64_t seen[ACTIVITY_COUNT]; /* what the counters had at the last sample */
	struct activity_minute {
		int64_t number; /* 1: the first minute since the boot */
		uint32_t counts[ACTIVITY_COUNT];
		uint32_t unknown_ms; /* the part of it without samples */
	} minutes[ACTIVITY_MINUTES]; /* at number % ACTIVITY_MINUTES */
};

/*
 * Takes a sample at @boot_ms. The first one only begins. Counters below those of the sample before are
 * those of a new file.
 */
void activity_take(struct activity *activity, const struct counters *counters, int64_t boot_ms);

/*
 * Returns the wall-clock time since which calls are known, but for times without samples, at most 24 hours ago;
 * 0: no sample yet.
 */
int64_t activity_since(const struct activity *activity, const struct moment *now);

/*
 * Writes the spans of the last 24 hours, the oldest first. Returns their number. Their known_ms leaves out the
 * times without samples.
 */
uint32_t activity_spans(const struct activity *activity, const struct moment *now,
	struct activity_span spans[ACTIVITY_SPANS_MAX]);

#endif

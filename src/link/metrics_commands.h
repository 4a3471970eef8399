/* metrics_commands - the ledger's state and counters, for /metrics, /readyz and creditbridgectl. */
#ifndef LINK_METRICS_COMMANDS_H
#define LINK_METRICS_COMMANDS_H

#include "base/histogram.h"
#include "domain/callback.h"
#include "link/admin_commands.h"

struct callback_count {
	uint64_t count;
};
/* A dealer that has or had callbacks, in the order of casino_id. */
struct dealer_metrics {
	char casino_id[CASINO_ID_SIZE];
	uint64_t due; /* now or later */
	uint64_t sending;
	uint64_t held;
	uint64_t parked;
	uint64_t overdue_ms; /* age of the oldest due callback */
	enum breaker breaker;
	uint32_t inflight;
	/* Ended attempts by kind and class; see dealer_attempts(). */
	struct callback_count ended[CALLBACK_KIND_COUNT * CALLBACK_CLASS_COUNT];
};

/*
 * The ledger's metrics, in any state, also halted. Dealers are listed in pages: ask again with
 * @after = @last while @more is set. A page may be empty; later pages contain only dealers. Counts
 * of attempts and histograms last as long as creditbridge-ledger, across restarts of its engine.
 * Those in @status last as long as the engine.
 */
struct metrics_cmd {
	bool without_dealers;
	char after[CASINO_ID_SIZE]; /* "": from the first */
};
struct metrics_result {
	struct verdict verdict;
	struct status_result status;
	bool swept; /* the sweeper has requested due callbacks since the ledger started, ... */
	uint64_t swept_ms_ago;    /* ... this long ago for the last time */
	struct histogram batches; /* commands in a batch, by histogram_sizes */
	struct histogram commits; /* by histogram_durations_us */
	/* likewise, for attempts whose sender reported the outcome */
	struct histogram attempts[CALLBACK_KIND_COUNT];
	bool more;
	char last[CASINO_ID_SIZE];
	uint32_t count;
	struct bytes dealers; /* packed dealer_metrics */
};

extern const struct field callback_count_fields[];
extern const struct field dealer_metrics_fields[];

/* Returns the counter of attempts of @kind that ended with this class. */
static inline uint64_t *dealer_attempts(struct dealer_metrics *dealer, enum callback_kind kind,
	enum callback_class class)
{
	return &dealer->ended[kind * CALLBACK_CLASS_COUNT + class].count;
}

#endif

/*
 * metrics_commands - how the ledger is doing, for /metrics, /readyz and creditbridgectl.
 */
#ifndef LINK_METRICS_COMMANDS_H
#define LINK_METRICS_COMMANDS_H

#include "base/histogram.h"
#include "domain/callback.h"
#include "link/admin_commands.h"

struct callback_count {
	uint64_t count;
};
/* A dealer for whom there are or were callbacks, in the order of casino_id. */
struct dealer_metrics {
	char casino_id[CASINO_ID_SIZE];
	uint64_t due; /* now or later */
	uint64_t sending;
	uint64_t held;
	uint64_t parked;
	uint64_t overdue_ms; /* how long the one that waits longest has been due */
	enum breaker breaker;
	uint32_t inflight;
	/* Attempts that ended, by kind and class: see dealer_attempts(). */
	struct callback_count ended[CALLBACK_KIND_COUNT * CALLBACK_CLASS_COUNT];
};

/*
 * The ledger's figures, of any state of it, also halted. Dealers come by pages: ask again with
 * @after = @last while @more. A page may hold none; pages behind the first hold nothing else.
 * Counts of attempts and the histograms live as long as creditbridge-ledger, over the deaths of its
 * engine; those in @status as long as the engine.
 */
struct metrics_cmd {
	bool without_dealers;
	char after[CASINO_ID_SIZE]; /* "": from the first */
};
struct metrics_result {
	struct verdict verdict;
	struct status_result status;
	bool swept;           /* the sweeper has asked for what is due since the ledger started, ... */
	uint64_t swept_ms_ago; /* ... so long ago the last time */
	struct histogram batches;  /* commands in one, by histogram_sizes */
	struct histogram commits;  /* by histogram_durations_us */
	struct histogram attempts[CALLBACK_KIND_COUNT]; /* likewise: those whose sender told the end */
	bool more;
	char last[CASINO_ID_SIZE];
	uint32_t count;
	struct bytes dealers; /* packed dealer_metrics */
};

extern const struct field callback_count_fields[];
extern const struct field dealer_metrics_fields[];

/* How many attempts of @kind ended so. */
static inline uint64_t *dealer_attempts(struct dealer_metrics *dealer, enum callback_kind kind,
	enum callback_class class)
{
	return &dealer->ended[kind * CALLBACK_CLASS_COUNT + class].count;
}

#endif

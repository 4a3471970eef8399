/*
 * collect - all that is known of how the service is doing, in one piece: what the workers counted
 * and the ledger's figures with all its dealers.
 */
#ifndef METRICS_COLLECT_H
#define METRICS_COLLECT_H

#include "link/commands.h"
#include "metrics/counters.h"

struct collection {
	bool counted;             /* the workers' counters were read */
	struct counters counters;
	bool answered;            /* the ledger told its figures */
	struct metrics_result ledger;
	struct dealer_metrics *dealers; /* in the order of casino_id */
	uint32_t dealer_count;
};

/* Asks the ledger METRICS. False: it cannot be asked. */
typedef bool collect_ask(void *context, const struct metrics_cmd *cmd,
	struct metrics_result *result);

/*
 * Fills @collection, which is to be freed in any case. What cannot be had is left out. False: no
 * memory, or an answer of the ledger that cannot be; the ledger is left out then.
 */
bool collection_make(struct collection *collection, const char *counters_path, collect_ask *ask,
	void *context);
void collection_free(struct collection *collection);

/* The sums over all dealers, in a dealer without a name; overdue_ms is the longest. */
void collection_sum(const struct collection *collection, struct dealer_metrics *sum);

#endif

/*
 * collect - all metrics of the service: the workers' counters and the ledger's metrics with all its
 * dealers.
 */
#ifndef METRICS_COLLECT_H
#define METRICS_COLLECT_H

#include "link/commands.h"
#include "metrics/counters.h"

struct collection {
	bool counted; /* the workers' counters were read */
	struct counters counters;
	struct dealer_counts *by_dealer; /* in no order */
	uint32_t by_dealer_count;
	bool answered; /* the ledger returned its metrics */
	struct metrics_result ledger;
	struct dealer_metrics *dealers; /* in the order of casino_id */
	uint32_t dealer_count;
};

/* Sends METRICS to the ledger. Returns false if that fails. */
typedef bool collect_ask(void *context, const struct metrics_cmd *cmd,
	struct metrics_result *result);

/*
 * Fills @collection, which the caller must free in any case. Unavailable parts are left out.
 * Returns false if memory is exhausted or the ledger's answer is invalid; the ledger's part is then
 * left out.
 */
bool collection_make(struct collection *collection, const char *counters_path, collect_ask *ask,
	void *context);
void collection_free(struct collection *collection);

/* Sets @sum to the sums over all dealers, without a name; overdue_ms is the maximum. */
void collection_sum(const struct collection *collection, struct dealer_metrics *sum);

#endif

/*
 * permits - per dealer: how many callbacks may be on their way at once, and the breaker (api.md, B).
 *
 * In memory: a restart of the ledger forgets both. A permit is taken before a callback is sent and
 * given back with what came of it; one that is not given back counts as unknown once its lease is
 * over, so that a killed worker cannot hold a dealer's permits.
 *
 * Times are boot time in milliseconds.
 */
#ifndef LEDGER_OUTBOX_PERMITS_H
#define LEDGER_OUTBOX_PERMITS_H

#include "domain/callback.h"
#include "ledger/rows/life.h"

#define FLOW_WINDOW_MS    (5 * 60 * 1000) /* outcomes that the breaker looks at */
#define FLOW_BUCKETS      30
#define FLOW_CALLS_MIN    10
#define FLOW_BAD_PERCENT  70
#define FLOW_OPEN_MS      30000 /* open so long, then one call is let through; a setting */
#define FLOW_UNDO_MAX     256   /* permits that one batch takes */
#define FLOW_PERMITS_MAX  1000  /* most that max_inflight can be */

struct flow_dealer;
struct flow {
	struct flow_dealer **dealers; /* by hash of casino_id; made when first asked for */
	int64_t open_ms;
	uint32_t held_count; /* dealers whose limit is 0 */
	/* Permits taken since flow_mark(). */
	struct flow_taken {
		struct flow_dealer *dealer;
		uint64_t id;
	} taken[FLOW_UNDO_MAX];
	uint32_t taken_count;
	/* Events of balance inquiries, which are kept nowhere; and as they were at flow_mark(). */
	struct life_block inquiries, inquiries_marked;
};

/* False: no memory. */
bool flow_init(struct flow *flow);
void flow_free(struct flow *flow);

/*
 * What a dealer's max_inflight is, for flow_has_room(), which is asked where there is no row at
 * hand; 0 while its callbacks are held (hold.h). Called for rows that were saved: flow_take() may run
 * in the batch that changes the row.
 */
void flow_limit(struct flow *flow, const char *casino_id, uint32_t max_inflight);

/*
 * A batch begins; flow_undo() takes back the permits and the events of inquiries that it took,
 * because it could not be saved and is run again or refused.
 */
void flow_mark(struct flow *flow);
void flow_undo(struct flow *flow);

/* True: a permit could be taken now, with @already more than are held. */
bool flow_has_room(struct flow *flow, const char *casino_id, uint32_t already, int64_t now_ms);

/*
 * Takes a permit called @id (the event) until @until_ms; @max_inflight is the dealer's row's. Taking
 * one that is held is nothing and succeeds: a batch may be run again. False: max_inflight are held,
 * or the breaker is open.
 */
bool flow_take(struct flow *flow, const char *casino_id, uint64_t id, uint32_t max_inflight,
	int64_t now_ms, int64_t until_ms);

/*
 * Gives a permit back. One that is not held (any more) is nothing: it was counted before. Returns
 * whether it was held.
 */
bool flow_give(struct flow *flow, const char *casino_id, uint64_t id, enum callback_class class,
	int64_t now_ms);

/* For status and metrics. */
enum breaker flow_breaker(struct flow *flow, const char *casino_id, int64_t now_ms);
uint32_t flow_inflight(struct flow *flow, const char *casino_id, int64_t now_ms);

#endif

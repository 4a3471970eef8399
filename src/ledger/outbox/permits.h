/*
 * permits - limits the callbacks under way for each dealer, and keeps its breaker (api.md, B).
 *
 * Both are in memory; a restart of the ledger resets them. The ledger takes a permit before a
 * callback is sent and returns it with the outcome. If a permit is not returned before its lease
 * expires, the outcome counts as unknown. A killed worker therefore cannot block a dealer.
 *
 * Times are boot time in milliseconds.
 */
#ifndef LEDGER_OUTBOX_PERMITS_H
#define LEDGER_OUTBOX_PERMITS_H

#include "domain/callback.h"
#include "ledger/rows/life.h"

#define FLOW_WINDOW_MS    (5 * 60 * 1000) /* the window of outcomes that the breaker considers */
#define FLOW_BUCKETS      30
#define FLOW_CALLS_MIN    10
#define FLOW_BAD_PERCENT  70
#define FLOW_OPEN_MS      30000 /* open time, then one call is allowed; a setting */
#define FLOW_UNDO_MAX     256   /* permits that one batch may take */
#define FLOW_PERMITS_MAX  1000  /* most that max_inflight can be */

struct flow_dealer;
struct flow {
	struct flow_dealer **dealers; /* by hash of casino_id; created on first use */
	int64_t open_ms;
	uint32_t held_count; /* dealers whose limit is 0 */
	/* Permits taken since flow_mark(). */
	struct flow_taken {
		struct flow_dealer *dealer;
		uint64_t id;
	} taken[FLOW_UNDO_MAX];
	uint32_t taken_count;
	/* Event ids of balance inquiries, which have no rows; and their state at flow_mark(). */
	struct life_block inquiries, inquiries_marked;
};

/* Returns false if memory is exhausted. */
bool flow_init(struct flow *flow);
void flow_free(struct flow *flow);

/*
 * Sets the max_inflight of a dealer for flow_has_room(), whose callers have no row; 0 while its
 * callbacks are held (hold.h). Call it only for saved rows: flow_take() may run in the batch that
 * changes the row.
 */
void flow_limit(struct flow *flow, const char *casino_id, uint32_t max_inflight);

/*
 * flow_mark() begins a batch. flow_undo() returns the permits and event ids that the batch took,
 * because the batch could not be saved and is rerun or refused.
 */
void flow_mark(struct flow *flow);
void flow_undo(struct flow *flow);

/* Returns true if a permit is free, with @already more than are taken. */
bool flow_has_room(struct flow *flow, const char *casino_id, uint32_t already, int64_t now_ms);

/*
 * Takes the permit @id (the event) until @until_ms. @max_inflight is from the row of the dealer.
 * Succeeds without effect if it is already taken, because a batch may be rerun. Returns false if
 * max_inflight permits are taken or the breaker is open.
 */
bool flow_take(struct flow *flow, const char *casino_id, uint64_t id, uint32_t max_inflight,
	int64_t now_ms, int64_t until_ms);

/*
 * Returns the permit and counts the outcome. Has no effect if the permit is not taken: its outcome
 * was counted before. Returns true if it was taken.
 */
bool flow_give(struct flow *flow, const char *casino_id, uint64_t id, enum callback_class class,
	int64_t now_ms);

/* For status and metrics. */
enum breaker flow_breaker(struct flow *flow, const char *casino_id, int64_t now_ms);
uint32_t flow_inflight(struct flow *flow, const char *casino_id, int64_t now_ms);

#endif

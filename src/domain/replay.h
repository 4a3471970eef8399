/*
 * replay - which parked callbacks a replay sends again, and what became of them (struct replay).
 *
 * Pure. The ledger does the steps (ledger/replay.h).
 */
#ifndef DOMAIN_REPLAY_H
#define DOMAIN_REPLAY_H

#include "base/buffer.h"
#include "domain/records.h"

#define REPLAY_CALLBACKS_MAX 10000 /* that one replay sends */
#define REPLAY_MARKED_MAX    64    /* events that it can be given one by one */
#define REPLAY_EVENT_BYTES   8     /* of each of them (struct replay, events) */

/* Read and write events that were given one by one. */
uint32_t replay_event_count(const struct bytes *events);
uint64_t replay_event_at(const struct bytes *events, uint32_t at);
bool replay_event_add(struct buffer *out, uint64_t event);
/* Returns true if there are at most REPLAY_MARKED_MAX, from 1 to 2^53-1, in rising order. */
bool replay_events_ok(const struct bytes *events);

enum replay_fit {
	REPLAY_FITS,        /* it is sent again */
	REPLAY_FITS_NOT,    /* the filter does not select it, or it is neither parked nor held */
	REPLAY_IS_HELD,     /* the filter selects it, and it waits until it is released */
	REPLAY_IS_ADJUSTED, /* the filter selects it, and an adjustment stands for it */
	REPLAY_IS_LATER, /* the filter selects it, and it was parked later than filter.parked_to_ms */
	REPLAY_FIT_COUNT
};
/* Returns what a replay with the filter, and with the @events if there are any, does with @callback. */
enum replay_fit replay_fits(const struct replay_filter *filter, const struct bytes *events,
	const struct callback *callback);

/* Returns how many callbacks were made due and have not been sent yet. */
uint64_t replay_on_its_way(const struct replay *replay);

/* Counts a callback that the replay made due and that has the state @state now, neither due nor sending. */
void replay_count_end(struct replay *replay, enum callback_state state);

#endif

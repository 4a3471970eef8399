/*
 * replay_commands - replays of parked callbacks: what one would send, its start, its stop, and its steps
 * (domain/replay.h, ledger/replay.h).
 */
#ifndef LINK_REPLAY_COMMANDS_H
#define LINK_REPLAY_COMMANDS_H

#include "domain/callback.h"
#include "domain/replay.h"
#include "link/verdict.h"

/* The parked and held callbacks that one REPLAY_PREVIEW looks at. */
#define REPLAY_LOOK_MAX 320
/* Callbacks of one step. */
#define REPLAY_STEP_MAX 16

/*
 * Counts the callbacks that a replay with @filter and @events would send, from the newest to the oldest.
 * It ends at a bound: repeat it with @below = first_event of the result while more is set, and add up the
 * results. Refusals: dealer_not_found, bad_request with a detail.
 */
struct replay_preview_cmd {
	/* last_event 0: the newest one; parked_to_ms 0: now; first_event is ignored */
	struct replay_filter filter;
	struct bytes events;
	uint64_t below; /* only events below; 0: all up to last_event */
	uint32_t most;  /* stop after so many that are sent; 0: REPLAY_LOOK_MAX */
};
/* Callbacks of one kind, and the sum of what they ask the dealer to move. */
struct replay_sum {
	uint64_t count;
	sum_t amount; /* below 0: corrections take more back than they pay */
};
struct replay_preview_result {
	struct verdict verdict;
	/* of the filter: those given, or those that 0 stood for */
	uint64_t last_event;
	int64_t parked_to_ms;
	uint64_t first_event; /* events from this one on were looked at; 1 or more */
	int64_t looked_to_ms; /* when the oldest of them was made; 0: none was looked at */
	bool more;            /* older ones were not looked at */
	struct replay_sum sums[CALLBACK_KIND_COUNT]; /* what is sent */
	int64_t oldest_ms;                           /* when the oldest of them was made; 0: none */
	int64_t newest_ms;                           /* when the newest of them was made; 0: none */
	struct bytes found; /* their events, the newest first (domain/replay.h) */
	uint64_t held;      /* not sent: held */
	uint64_t adjusted;  /* not sent: an adjustment stands for it */
	/* not sent: parked later than parked_to_ms, by a clock that was ahead if that is now */
	uint64_t parked_later;
	bool has_url;        /* of the dealer: callbacks have an address */
	bool dealer_is_held; /* no callback of the dealer is sent until `release` */
	enum breaker breaker;
	uint32_t rate; /* callbacks a second that a replay makes due (the setting replay_rate) */
};

/*
 * Starts a replay. A command that is sent twice starts it once. Refusals: dealer_not_found; bad_request
 * with a detail; not_allowed_now if REPLAYS_RUNNING_MAX run (ledger/rows/replays.h).
 */
struct replay_start_cmd {
	struct operator operator;
	struct replay_filter filter; /* as replays_preview() froze it (admin/callbacks/replays.h) */
	struct bytes events;
	uint64_t expected;     /* callbacks that the preview counted: 1 to REPLAY_CALLBACKS_MAX */
	uint64_t parked_later; /* as the preview counted them, for the row of the replay */
};
struct replay_start_result {
	struct verdict verdict;
	uint64_t id;
};

/*
 * Stops a replay that runs. Callbacks that it made due are sent all the same. One that has ended stays as
 * it is. Refusals: callback_not_found with a detail.
 */
struct replay_stop_cmd {
	struct operator operator;
	uint64_t id;
};
struct replay_stop_result {
	struct verdict verdict;
	enum replay_state state;
	uint64_t made_due;
	uint64_t on_its_way; /* made due and not sent yet */
};

/*
 * The ledger's own command; no socket carries it. Makes those of @events due that the replay selects, and
 * moves its next_event from @from to @to. Changes nothing if the replay does not run or next_event is not
 * @from.
 */
struct replay_step_cmd {
	uint64_t id;
	uint64_t from;
	uint64_t to;
	bool ends;  /* no callback is left: the replay is done */
	bool fails; /* a row cannot be read: the replay has failed; @events is empty, @to is @from */
	struct bytes events;
};
struct replay_step_result {
	struct verdict verdict;
	uint32_t made_due;
};

extern const struct field replay_sum_fields[];

#endif

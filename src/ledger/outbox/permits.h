/*
 * permits - limits the callbacks under way for each dealer, and keeps its breaker (contract,
 * "Breaker").
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

#define PERMITS_WINDOW_MS   (5 * 60 * 1000) /* the window of outcomes that the breaker considers */
#define PERMITS_BUCKETS     30
#define PERMITS_CALLS_MIN   10
#define PERMITS_BAD_PERCENT 70
#define PERMITS_OPEN_MS     30000 /* open time, then one call is allowed; a setting */
#define PERMITS_UNDO_MAX    256   /* permits that one batch may take */
#define PERMITS_MAX         1000  /* most that max_inflight can be */

struct permits_dealer;
struct permits {
	struct permits_dealer **dealers; /* by hash of casino_id; created on first use */
	int64_t open_ms;
	uint32_t held_count; /* dealers whose limit is 0 */
	/* Permits taken since permits_mark(). */
	struct permits_taken {
		struct permits_dealer *dealer;
		uint64_t id;
	} taken[PERMITS_UNDO_MAX];
	uint32_t taken_count;
	/* Event ids of balance inquiries, which have no rows; and their state at permits_mark(). */
	struct life_block inquiries, inquiries_marked;
};

/* Returns false if memory is exhausted. */
bool permits_init(struct permits *permits);
void permits_free(struct permits *permits);

/*
 * Sets the max_inflight of a dealer for permits_has_room(), whose callers have no row; 0 while its
 * callbacks are held (hold.h). Call it only for saved rows: permits_take() may run in the batch
 * that changes the row.
 */
void permits_limit(struct permits *permits, const char *casino_id, uint32_t max_inflight);

/* While @paused no permit of the dealer is free, as while it is moved to another cell. Call it only for saved rows. */
void permits_pause(struct permits *permits, const char *casino_id, bool paused);

/*
 * permits_mark() begins a batch. permits_undo() returns the permits and event ids that the batch
 * took, because the batch could not be saved and is rerun or refused.
 */
void permits_mark(struct permits *permits);
void permits_undo(struct permits *permits);

/* Returns true if a permit is free, with @already more than are taken. */
bool permits_has_room(struct permits *permits, const char *casino_id, uint32_t already,
	int64_t now_ms);

/*
 * Takes the permit @id (the event) until @until_ms. @max_inflight is from the row of the dealer.
 * Succeeds without effect if it is already taken, because a batch may be rerun. Returns false if
 * max_inflight permits are taken or the breaker is open.
 */
bool permits_take(struct permits *permits, const char *casino_id, uint64_t id,
	uint32_t max_inflight, int64_t now_ms, int64_t until_ms);

/*
 * Returns the permit and counts the outcome. Has no effect if the permit is not taken: its outcome
 * was counted before. Returns true if it was taken.
 */
bool permits_give(struct permits *permits, const char *casino_id, uint64_t id,
	enum callback_class class, int64_t now_ms);

/*
 * Gives back the permit of a call that says nothing about the dealer: the breaker does not count it, and if it was
 * the test call, the next call is. Returns as permits_give().
 */
bool permits_give_uncounted(struct permits *permits, const char *casino_id, uint64_t id,
	int64_t now_ms);

/* Openings of a breaker that are remembered, the newest ones. */
#define PERMITS_OPENINGS 16

/* From when a breaker opened until it was closed. */
struct permits_opening {
	int64_t opened_ms;
	int64_t closed_ms; /* 0: it is not closed yet */
	uint32_t tests;    /* test calls that failed meanwhile */
};

/* What is remembered of a dealer's breaker. */
struct permits_history {
	enum breaker breaker;
	int64_t next_ms; /* of an open breaker: when it admits a test call; otherwise 0 */
	uint32_t opened; /* how often it opened */
	struct permits_opening openings[PERMITS_OPENINGS]; /* the newest first */
	uint32_t count;                                    /* of @openings */
	/* the last call whose outcome counted against the dealer; bad_ms 0: none */
	int64_t bad_ms;
	uint64_t bad_id;
	enum callback_class bad_class;
};

/* Creates no entry for @casino_id: the history of an unknown dealer is empty. */
void permits_history(struct permits *permits, const char *casino_id, int64_t now_ms,
	struct permits_history *history);

/* For status and metrics. */
enum breaker permits_breaker(struct permits *permits, const char *casino_id, int64_t now_ms);
/* How long ago the breaker opened, test calls that failed since then included; 0: it is closed. */
uint64_t permits_breaker_ms(struct permits *permits, const char *casino_id, int64_t now_ms);
uint32_t permits_inflight(struct permits *permits, const char *casino_id, int64_t now_ms);

#endif

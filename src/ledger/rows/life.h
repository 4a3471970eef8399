/*
 * life - the lives of an installation, and the ids that each one gives out (api.md, What an operator
 * may change).
 *
 * An id of a transaction or an event must never name two things, also after the data went back in
 * time. So each life of an installation (init, restore, import) begins above every id that an earlier
 * life can have given out, without trusting the data: at the microseconds since 2020 by the wall
 * clock. Ids then count up in steps of LIFE_STRIDE, so that up to 62,500 ids a second on average stay
 * below the clock. They stay below 2^53 until the year 2305.
 *
 * Each start of the engine goes on above the clock as well. That covers copies that nothing can
 * detect, such as a disk image that was set back.
 *
 * Data of a version before lives has no counter LIFE_STRIDE_COUNTER. Its ids count up by one, and go
 * on so until the installation's next life.
 */
#ifndef LEDGER_ROWS_LIFE_H
#define LEDGER_ROWS_LIFE_H

#include "base/status.h"
#include "store/store.h"
#include "store/ws.h"

#define LIFE_TRANSACTIONS   "transaction_id"
#define LIFE_EVENTS         "event"
#define LIFE_STRIDE_COUNTER "id_stride"

/* Ids of a life are multiples of it. The other remainders are reserved for further ledgers. */
#define LIFE_STRIDE 16

#define LIFE_EPOCH_MS     INT64_C(1577836800000) /* 2020-01-01 UTC */
#define LIFE_CLOCK_MAX_MS INT64_C(7258118400000) /* 2200-01-01 UTC: a later clock is wrong */
/*
 * The most that the clock may be slower than the newest row. Clocks of two hosts differ, and
 * clocks are set.
 */
#define LIFE_BEHIND_MAX_MS (INT64_C(10) * 60 * 1000)

/* The data that a new life follows. */
struct life_past {
	uint64_t transaction_id; /* the last one that the data knows; 0: none */
	uint64_t event;          /* likewise */
	int64_t newest_ms;       /* the newest time of a row; 0: there is none */
};

/* The smallest id that a life or an engine which begins at @wall_ms gives out; 0: no clock before 2020. */
uint64_t life_floor(int64_t wall_ms);

/* The first id of a life that begins at @wall_ms after @past; 0: it would be beyond 2^53 - 1. */
uint64_t life_first_id(const struct life_past *past, int64_t wall_ms);

/*
 * Whether @wall_ms can be trusted with the first id. STATUS_CONFIG, with a sentence that names the
 * remedy in @why: the clock is before 2020, beyond 2200, or more than LIFE_BEHIND_MAX_MS before
 * @newest_ms.
 */
enum status life_check_clock(int64_t wall_ms, int64_t newest_ms, char *why, size_t why_size);

/* Finds the newest time of a transaction, a callback or an entry of the audit. 0: there is none. */
enum status life_newest(struct store *store, int64_t *newest_ms);

/* Declares what life_begin() and life_is_new() need. */
void life_want(struct ws *ws);

/* Returns true if the data belongs to no life and has not used an id. */
bool life_is_new(struct ws *ws);

/* What became of the ids when a life began. */
struct life_begun {
	uint64_t first_id;  /* of transactions and events alike */
	uint64_t raised_by; /* from the last transaction id to the first one; 0: there was none */
};

/*
 * Begins a life in @ws, of data whose newest row is of @newest_ms. Returns false and changes
 * nothing if no ids are left. Call life_check_clock() first.
 */
bool life_begin(struct ws *ws, int64_t wall_ms, int64_t newest_ms, struct life_begun *begun);

/*
 * Begins the first life of data that life_is_new(), in a transaction of its own; does nothing to
 * other data. STATUS_CONFIG: the clock; STATUS_FULL, STATUS_IO, STATUS_NOMEM. With a sentence in @why.
 */
enum status life_begin_first(struct store *store, int64_t wall_ms, char *why, size_t why_size);

/* Declares the counter of ids @name (LIFE_TRANSACTIONS, LIFE_EVENTS). */
void life_want_id(struct ws *ws, const char *name);

/* Returns the id that life_take_id() will return next; 0 if none is left. */
uint64_t life_peek_id(struct ws *ws, const char *name);

/* Returns the next id and marks it as used; 0 if none is left. */
uint64_t life_take_id(struct ws *ws, const char *name);

/*
 * Ids that one write of the counter reserved, and that are given out without a further write. It is
 * kept in memory: what is left when the engine ends is never given out. Zeroed: it is empty. A batch
 * that is run again or refused needs the block back as it was before, since its reservation was not
 * saved.
 */
#define LIFE_BLOCK_IDS 256
struct life_block {
	uint64_t next;   /* the id that is given out next */
	uint64_t count;  /* ids that are left */
	uint64_t stride; /* between two of them */
};

/*
 * Returns the id that life_block_take() will return next; 0 if none is left. Needs life_want_id().
 */
uint64_t life_block_peek(struct ws *ws, const char *name, const struct life_block *block);

/*
 * Returns an id of the block. If the block is empty, first reserves @ids (0: LIFE_BLOCK_IDS), or
 * as many as are left. Returns 0 if none is left.
 */
uint64_t life_block_take(struct ws *ws, const char *name, uint64_t ids, struct life_block *block);

#endif

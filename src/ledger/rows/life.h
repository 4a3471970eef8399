/*
 * life - the lives of an installation and the ids of each one (contract,
 * "Lives of an installation").
 *
 * An id of a transaction or an event must never name two things, even after the data went back in
 * time. Therefore each life of an installation (init, restore, import) begins above every id that
 * an earlier life can have used. It does not trust the data. Its first id is the number of
 * microseconds since 2020 by the wall clock. Ids then increase in steps of LIFE_STRIDE, so that up
 * to 62,500 ids a second on average stay below the clock. They stay below 2^53 until the year
 * 2305.
 *
 * Two hosts that restore the same backup, or begin at the same moment, use the same numbers of
 * microseconds. Therefore an id also contains the number of the ledger (the setting ledger_number):
 * it is the remainder of the id by LIFE_STRIDE. Lives of different numbers share no id, however long
 * both go on. The life keeps the number in LIFE_NUMBER_COUNTER.
 *
 * Each start of the engine also continues above the clock. That covers copies that nothing can
 * detect, such as a disk image that was set back.
 *
 * Data of a version before lives has no counter LIFE_STRIDE_COUNTER. Its ids increase by one until
 * the next life of the installation.
 */
#ifndef LEDGER_ROWS_LIFE_H
#define LEDGER_ROWS_LIFE_H

#include "base/status.h"
#include "store/store.h"
#include "store/ws.h"

#define LIFE_TRANSACTIONS   "transaction_id"
#define LIFE_EVENTS         "event"
#define LIFE_STRIDE_COUNTER "id_stride"
#define LIFE_NUMBER_COUNTER "id_number" /* absent: 0 */

/* The distance between two ids of a life, and the count of numbers of ledgers. */
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

/*
 * Returns the smallest id of a life or an engine of ledger 0 that begins at @wall_ms; 0 if the clock
 * is before 2020.
 */
uint64_t life_floor(int64_t wall_ms);

/*
 * Returns the first id of a life of ledger @number that begins at @wall_ms after @past; 0 if it
 * exceeded 2^53 - 1.
 */
uint64_t life_first_id(const struct life_past *past, int64_t wall_ms, uint32_t number);

/*
 * Checks that @wall_ms can be trusted with the first id. Returns STATUS_CONFIG, with the remedy in
 * @why, if the clock is before 2020, after 2200, or more than LIFE_BEHIND_MAX_MS before
 * @newest_ms.
 */
enum status life_check_clock(int64_t wall_ms, int64_t newest_ms, char *why, size_t why_size);

/*
 * Finds the newest time of a transaction, a callback or an entry of the audit; 0 if there is none.
 */
enum status life_newest(struct store *store, int64_t *newest_ms);

/* Declares what life_begin() and life_is_new() need. */
void life_want(struct ws *ws);

/* Returns true if the data belongs to no life and has not used an id. */
bool life_is_new(struct ws *ws);

/* How a life begins. */
struct life_begin {
	int64_t wall_ms;
	int64_t newest_ms; /* of the data's rows; 0: there is none */
	uint32_t number;   /* of the ledger, below LIFE_STRIDE */
};

/* The ids of a life that began. */
struct life_begun {
	uint64_t first_id;  /* of transactions and events alike */
	uint64_t raised_by; /* from the last transaction id to the first one; 0: there was none */
};

/*
 * Begins a life in @ws. Returns false and changes nothing if no ids are left. Call
 * life_check_clock() first.
 */
bool life_begin(struct ws *ws, const struct life_begin *begin, struct life_begun *begun);

/*
 * Begins the first life, of ledger @number, of data that life_is_new(), in a separate transaction. Does nothing to
 * other data. Returns STATUS_CONFIG for a wrong clock, STATUS_FULL, STATUS_IO or STATUS_NOMEM,
 * with a reason in @why.
 */
enum status life_begin_first(struct store *store, int64_t wall_ms, uint32_t number, char *why,
	size_t why_size);

/* Raises the counter of ids @name, which must be declared, so that no id up to @id is given out. */
void life_raise(struct ws *ws, const char *name, uint64_t id);

/* Declares the counter of ids @name (LIFE_TRANSACTIONS, LIFE_EVENTS). */
void life_want_id(struct ws *ws, const char *name);

/* Returns the id that life_take_id() will return next; 0 if none is left. */
uint64_t life_peek_id(struct ws *ws, const char *name);

/* Returns the next id and marks it as used; 0 if none is left. */
uint64_t life_take_id(struct ws *ws, const char *name);

/*
 * Ids that one write of the counter reserved. They are used without a further write. The block is
 * in memory: ids left when the engine ends are never used. Zeroed: empty. If a batch is rerun or
 * refused, the block must be reset to its previous value, because the reservation was not saved.
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

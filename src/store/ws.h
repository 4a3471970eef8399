/*
 * ws - the working set: the rows that a batch of commands reads and writes.
 *
 * Commands declare the rows they need (ws_want), the store loads them all at once, the commands
 * then work on them in memory (ws_get, ws_put, ws_append), and the store saves what was changed in
 * one transaction. Rows are the structs of domain/records.h; a row is named by a struct of its kind
 * whose key members are filled.
 *
 * Reading or putting a row that was not declared is a bug of the command: it marks the working set
 * faulty (ws_faulty), the batch is not saved and its commands are run one by one, so that the
 * bug harms its own command only. The same happens when memory is exhausted.
 */
#ifndef STORE_WS_H
#define STORE_WS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/field.h"
#include "domain/records.h"

#include <stdbool.h>

enum ws_state {
	WS_WANTED, /* declared, to be loaded */
	WS_ABSENT, /* loaded: there is no such row */
	WS_LOADED, /* loaded, or written by a command */
};

struct ws_row {
	enum record record;
	enum ws_state state;
	bool stored;   /* it was in the store when it was loaded */
	bool dirty;    /* a command wrote or dropped it: to be saved */
	bool appended; /* it must not exist in the store yet */
	bool dropped;  /* to be deleted */
	bool supposed; /* WS_ABSENT without having been looked for */
	uint32_t hash;
	uint32_t key_len;
	uint8_t *key; /* packed */
	void *data;   /* the struct */
	struct bytes apart; /* for the store: what of the stored row it keeps in a row of its own */
	struct ws_row *next_in_bucket;
	struct ws_row *next; /* in the order of declaration */
};

#define WS_BUCKETS 4096

struct ws {
	struct ws_row *buckets[WS_BUCKETS];
	struct ws_row *first;
	struct ws_row *last;
	struct ws_row *first_wanted; /* none before it is WS_WANTED */
	struct arena arena;          /* memory of the rows */
	struct moment now;           /* of the batch: some rows are named by its day */
	uint64_t id_stride; /* between two ids that are given out; 0 is 1 (ledger/rows/life.h) */
	uint64_t id_floor;  /* the smallest id that may be given out */
	struct buffer key;           /* of the call under way */
	uint64_t reads;              /* ws_get() and ws_loaded(), since ws_init() */
	size_t loaded;               /* bytes of the rows that were loaded, with what they point to */
	bool supposed;               /* some row is */
	bool supposing;              /* ws_want_new() supposes; the caller's to set */
	bool dirty;                  /* some row is */
	bool fault;
	char fault_text[96]; /* which row, for the log */
};

void ws_init(struct ws *ws);
void ws_free(struct ws *ws);
/* One of its own memory; NULL: there is none. To be ended by ws_delete(), which takes NULL, too. */
struct ws *ws_new(void);
void ws_delete(struct ws *ws);
/* Forgets all rows, keeps the memory. */
void ws_reset(struct ws *ws);

/* Declares a row. Declaring it twice is nothing. */
void ws_want(struct ws *ws, enum record record, const void *key_row);

/*
 * Declares a row that is most likely not there. When @ws is supposing it counts as WS_ABSENT without
 * being looked for: writing it is an append then, which save() finds out, and for the rest there is
 * ws_check().
 */
void ws_want_new(struct ws *ws, enum record record, const void *key_row);

/* Wants the supposed rows that are not to be written, to be loaded now. False: there are none. */
bool ws_check(struct ws *ws);

/* After that: whether none of them was there. */
bool ws_supposed_right(const struct ws *ws);

/* The row, or NULL: there is none. Valid until ws_reset; do not change it in place. */
const void *ws_get(struct ws *ws, enum record record, const void *key_row);

/* True: the row was declared and loaded, be it there or not. Never a fault. */
bool ws_loaded(struct ws *ws, enum record record, const void *key_row);

/* Writes a declared row, new or not. @row is copied, with what its bytes members point to. */
void ws_put(struct ws *ws, enum record record, const void *row);

/* Writes a row that must be new; it need not be declared. @row is copied. */
void ws_append(struct ws *ws, enum record record, const void *row);

/* Marks the working set faulty: the rows contradict each other, and @why says how. */
void ws_fail(struct ws *ws, const char *why);

static inline bool ws_faulty(const struct ws *ws)
{
	return ws->fault;
}

/* Deletes a declared row. Deleting what is not there is nothing. */
void ws_drop(struct ws *ws, enum record record, const void *key_row);

/* For stores: whether rows wait to be loaded, and the row's state after loading. */
bool ws_pending(const struct ws *ws);
void ws_row_absent(struct ws_row *row);
/* The struct to be filled by the store; its key members are set. NULL: no memory. */
void *ws_row_fill(struct ws *ws, struct ws_row *row);
/*
 * The struct is filled: the row counts as loaded. Copies what its bytes members point to. A row that
 * is not record_sane() makes the working set faulty.
 */
void ws_row_loaded(struct ws *ws, struct ws_row *row);

#endif

/*
 * ws - the working set: the rows that a batch of commands reads and writes.
 *
 * Commands declare the rows they need (ws_want). The store loads all of them at once. The commands
 * work on them in memory (ws_get, ws_put, ws_append). The store then saves the changed rows in one
 * transaction. Rows are the structs of domain/records.h. A struct of the same kind names a row by
 * its key members.
 *
 * If a command reads or puts a row that was not declared, this is a bug of the command. It marks
 * the working set faulty (ws_faulty). The ledger does not save the batch but runs its commands one
 * by one, so that the bug affects only its own command. The same happens when memory is exhausted.
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
	bool stored;         /* the store had the row when it was loaded */
	bool dirty;          /* a command wrote or dropped it: the store saves it */
	bool appended;       /* it must not exist in the store yet */
	bool dropped;        /* to be deleted */
	bool supposed;       /* WS_ABSENT by assumption: not looked up */
	bool without_object; /* no command of the batch needs the object of the row */
	uint32_t
		left_out; /* bytes of the object that the store did not load; 0: nothing left out */
	uint32_t hash;
	uint32_t key_len;
	uint8_t *key;       /* packed */
	void *data;         /* the struct */
	const void *before; /* the struct as it was loaded, if a command changed it (ws->keeps) */
	struct bytes apart; /* for the store: the part of the row that it stores separately */
	struct ws_row *next_in_bucket;
	struct ws_row *next; /* in the order of declaration */
};

#define WS_BUCKETS 4096

struct ws {
	struct ws_row *buckets[WS_BUCKETS];
	struct ws_row *first;
	struct ws_row *last;
	struct ws_row *first_wanted; /* no earlier row is WS_WANTED */
	struct arena arena;          /* memory of the rows */
	struct moment now;           /* of the batch: some rows are named by its day */
	uint32_t keeps;              /* 1 << enum record: the kinds whose rows keep @before */
	uint64_t id_stride;          /* between two ids; 0 means 1 (ledger/rows/life.h) */
	uint64_t id_floor;           /* the smallest id that may be given out, less id_number */
	uint64_t id_number;          /* remainder of each id by id_stride */
	struct buffer key;           /* of the call under way */
	uint64_t reads;              /* ws_get() and ws_loaded(), since ws_init() */
	size_t loaded;  /* bytes of the rows that were loaded, with what they point to */
	bool supposed;  /* some row is */
	bool supposing; /* ws_want_new() assumes absence; set by the caller */
	bool dirty;     /* some row is */
	bool fault;
	char fault_text[96]; /* names the row, for the log */
};

_Static_assert(RECORD_COUNT <= 32, "ws->keeps has a bit for each kind");

void ws_init(struct ws *ws);
void ws_free(struct ws *ws);
/* Allocates a working set; NULL if memory is exhausted. ws_delete() frees it and accepts NULL. */
struct ws *ws_new(void);
void ws_delete(struct ws *ws);
/* Removes all rows but keeps the memory for reuse. */
void ws_reset(struct ws *ws);

/* Declares a row. A second declaration has no effect. */
void ws_want(struct ws *ws, enum record record, const void *key_row);

/*
 * Declares a row whose object the command does not need. The object is a large member that the
 * store keeps separately: the user_bet of a bet. The store may leave the object out, unless another
 * command of the batch declares the row by ws_want(). The row then has an empty object. Writing the
 * row leaves the stored object as it is. It is a fault to write another object, or to drop the row.
 */
void ws_want_without_object(struct ws *ws, enum record record, const void *key_row);

/*
 * Declares a row that most likely does not exist. While @ws->supposing is set, the row counts as
 * WS_ABSENT and is not looked up. Writing it is then an append, and save() detects an existing
 * row. ws_check() covers the rows that are not written.
 */
void ws_want_new(struct ws *ws, enum record record, const void *key_row);

/* Marks the assumed rows that no command writes for loading. Returns false if there are none. */
bool ws_check(struct ws *ws);

/* After ws_check() and loading: returns true if none of these rows existed. */
bool ws_supposed_right(const struct ws *ws);

/*
 * Returns the row, or NULL if it does not exist. Valid until ws_reset(). The caller must not
 * change it.
 */
const void *ws_get(struct ws *ws, enum record record, const void *key_row);

/* Returns true if the row was declared and loaded, whether or not it exists. Never a fault. */
bool ws_loaded(struct ws *ws, enum record record, const void *key_row);

/* Writes a declared row, new or not. Copies @row and the data of its bytes members. */
void ws_put(struct ws *ws, enum record record, const void *row);

/* Writes a row that must be new; it need not be declared. Copies @row. */
void ws_append(struct ws *ws, enum record record, const void *row);

/* Marks the working set faulty: the rows contradict each other, and @why says how. */
void ws_fail(struct ws *ws, const char *why);

static inline bool ws_faulty(const struct ws *ws)
{
	return ws->fault;
}

/* Deletes a declared row. Deleting a row that does not exist has no effect. */
void ws_drop(struct ws *ws, enum record record, const void *key_row);

/*
 * For stores, in save(): CHECK what must hold of a working set that is saved, and of each of its
 * dirty rows. Only loaded rows are saved, an appended row was not stored, and a dropped row was.
 */
void ws_check_save(const struct ws *ws);
void ws_row_check_save(const struct ws_row *row);

/* For stores: ws_pending() returns true if rows wait to be loaded; the others set the result. */
bool ws_pending(const struct ws *ws);
void ws_row_absent(struct ws_row *row);
/* Returns the struct that the store fills; its key members are set. NULL if memory is exhausted. */
void *ws_row_fill(struct ws *ws, struct ws_row *row);
/*
 * Marks a filled struct as loaded and copies the data of its bytes members. A row that is not
 * record_sane() makes the working set faulty.
 */
void ws_row_loaded(struct ws *ws, struct ws_row *row);

#endif

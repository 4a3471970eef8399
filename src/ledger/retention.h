/*
 * retention - deletes bodies that are no longer needed (contract, "What an operator may change").
 *
 * It deletes the bodies, attempts and answers of delivered callbacks, the answers to callbacks that failed
 * or were cancelled, and the data of game servers about settled bets, once they are older than
 * retention_days. It never deletes transactions, keys,
 * states or totals.
 *
 * Transactions are ordered by time and name every bet. A pass visits them from the oldest on, a
 * few in each step. A bet that has not ended, or ended recently, is visited again in a later pass.
 * The next pass begins with the first of these; the counter "retention" stores its position.
 *
 * Rows created while the clock was more than a day fast are kept until their timestamp has passed.
 * They do not delay the deletion of other rows.
 *
 * The wall clock decides what is deleted for good. After a reboot it may be wrong until it is set.
 * Therefore a pause follows each start and each change of the clock.
 */
#ifndef LEDGER_RETENTION_H
#define LEDGER_RETENTION_H

#include "base/clock.h"
#include "domain/records.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * After a pass, retention rests for this many times the duration of its steps. While one bet never
 * ends, each pass reads all later transactions again.
 */
#define RETENTION_REST_FACTOR 20
/*
 * A larger shift between the wall clock and the boot clock since the last step means that the wall
 * clock was set.
 */
#define RETENTION_CLOCK_MS 60000
/* A bet is visited a day late, so that its callbacks have ended. */
#define RETENTION_SLACK_MS (24 * 60 * 60 * 1000)
/* The pause after a page of a list was read. */
#define RETENTION_READER_MS 10000

struct moves;
struct store;
struct ws;

struct retention {
	struct store *store;     /* not owned; NULL: the ledger is halted, and no step runs */
	struct ws *ws;           /* not owned; of the ledger, between two batches */
	const bool *storage_low; /* not owned; no step runs while it is true */
	/* not owned; rows of dealers that are being moved wait for a later pass. NULL: none is */
	const struct moves *moves;
	uint32_t days;    /* younger rows are kept; 0: all are */
	int64_t pause_ms; /* before the first pass, and between two; also after one that failed */
	bool begun;       /* a pass is under way ... */
	int64_t spent_ns; /* ... whose steps took this long so far */
	bool clock_seen;  /* ... of which this is the wall clock's distance to the boot's: */
	int64_t clock_ms;
	uint64_t at;           /* of the pass: the last transaction looked at */
	uint64_t again;        /* of the pass: the first to be looked at again; 0: none */
	int64_t rest_until_ms; /* boot time: no step before */
	int64_t stepped_ms;    /* boot time of the last step */
	uint64_t dropped;      /* bodies, since the start */
};

enum retention_step {
	RETENTION_REST, /* nothing to do now */
	RETENTION_MORE, /* something was done, or looked at */
	RETENTION_LOST, /* as RUN_LOST: the outcome of a save is unknown */
};

/* Initialises @retention with 0 days. The caller keeps the arguments, which must outlive it. */
void retention_init(struct retention *retention, struct store *store, struct ws *ws,
	const bool *storage_low);

/*
 * For the event loop. retention_wait_ms() returns how long the loop may wait for work, at most
 * @most. retention_use_time() runs a step if the wait brought no work, and one step each second if
 * the loop is never idle. Returns false if the outcome of a save is unknown.
 */
int retention_wait_ms(const struct retention *retention, int64_t boot_ms, int most);
bool retention_use_time(struct retention *retention, bool idle, const struct moment *now);

/*
 * Pauses deletion for some time because a table is read page by page, so that `check` finds each
 * body it expects. Tables that retention never changes do not count. `status` reads only those, so
 * a monitor may call it repeatedly.
 */
void retention_read(struct retention *retention, enum record record, int64_t boot_ms);

/* Runs one step in one transaction of bounded size. Must not run while a batch is under way. */
enum retention_step retention_step(struct retention *retention, const struct moment *now);

#endif

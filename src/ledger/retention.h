/*
 * retention - drops the bodies that nobody needs any more (api.md, What an operator may change):
 * bodies and attempts of delivered callbacks, and what game servers told of settled bets, once they
 * are older than retention_days. Never movements, keys, states or sums.
 *
 * The transactions, which are in the order of time and name every bet, are walked from the oldest
 * on, a few at a step. What has not ended by then, or ended lately, is looked at again in a later
 * pass, which begins with the first such one; counter "retention" remembers where that is. What was
 * made while the clock was more than a day ahead is kept until that time, and holds up nothing else.
 *
 * The wall clock decides what is dropped for ever, and may be wrong after a reboot until it is set: so
 * a start, and a clock that was set, are followed by a pause.
 */
#ifndef LEDGER_RETENTION_H
#define LEDGER_RETENTION_H

#include "base/clock.h"
#include "domain/records.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A pass is followed by so many times the time that its steps took: behind one bet that never ends all
 * is read by each.
 */
#define RETENTION_REST_FACTOR 20
/* The wall clock was set when it moved by more than this against the boot's since the last step. */
#define RETENTION_CLOCK_MS 60000
/* A bet is looked at a day late, so that what follows it has ended. */
#define RETENTION_SLACK_MS (24 * 60 * 60 * 1000)
/* After a page of a list. */
#define RETENTION_READER_MS 10000

struct ledger;

struct retention {
	uint32_t days;       /* what is younger is kept; 0: everything is */
	int64_t pause_ms;    /* before the first pass, and between two; also after one that failed */
	bool begun;          /* a pass is under way ... */
	int64_t spent_ns;    /* ... whose steps took so long by now */
	bool clock_seen;     /* ... of which this is the wall clock's distance to the boot's: */
	int64_t clock_ms;
	uint64_t at;         /* of the pass: the last transaction looked at */
	uint64_t again;      /* of the pass: the first to be looked at again; 0: none */
	int64_t rest_until_ms; /* boot time: no step before */
	int64_t stepped_ms;    /* boot time of the last step */
	uint64_t dropped;    /* bodies, since the start */
};

enum retention_step {
	RETENTION_REST,  /* nothing to do now */
	RETENTION_MORE,  /* something was done, or looked at */
	RETENTION_LOST,  /* as RUN_LOST: the outcome of a save is unknown */
};

/*
 * For the loop: how long it may wait for something to do, @most or less; and what it does in its
 * spare time: a step when it waited in vain, and one each second when it is never idle. False: the
 * outcome of a save is unknown.
 */
int retention_wait_ms(const struct ledger *ledger, int64_t boot_ms, int most);
bool retention_use_time(struct ledger *ledger, bool idle, const struct moment *now);

/*
 * A table is read page by page: nothing is dropped for some time, so that `check` sees a body where one
 * is wanted. Tables of which nothing is dropped do not count: `status`, which a monitor may call again
 * and again, reads only those.
 */
void retention_read(struct ledger *ledger, enum record record, int64_t boot_ms);

/* Does one step, in one transaction of bounded size. Not while a batch is under way. */
enum retention_step retention_step(struct ledger *ledger, const struct moment *now);

#endif

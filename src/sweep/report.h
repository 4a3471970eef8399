/* report - the results of a sweeper run by dealer: for people, as JSON, and for cron's mail. */
#ifndef SWEEP_REPORT_H
#define SWEEP_REPORT_H

#include "base/buffer.h"
#include "link/commands.h"

#include <stdio.h>

/*
 * The counters. A sent attempt ends as delivered, due again, parked, failed or late; so does one
 * taken over.
 */
enum swept {
	SWEPT_SENT, /* attempts begun by this run, whether or not a byte was sent */
	SWEPT_DELIVERED,
	SWEPT_DUE_AGAIN,
	SWEPT_PARKED,
	SWEPT_FAILED, /* bettings not accepted, now being refunded */
	/* the attempt had been ended and continued by another; the result changed nothing */
	SWEPT_LATE,
	SWEPT_TAKEN_OVER,   /* attempts of lost senders, ended for them */
	SWEPT_REFUSED_BUSY, /* claims withheld by max_inflight or the breaker */
	SWEPT_COUNT
};
/* Their names in the JSON. */
extern const char *const swept_names[SWEPT_COUNT];

/* Limit of a dealer's parked events that are named, the oldest. */
#define REPORT_PARKED_MAX 5

struct report_dealer {
	char casino_id[CASINO_ID_SIZE];
	uint64_t counts[SWEPT_COUNT];
	uint64_t parked[CALLBACK_KIND_COUNT]; /* by kind; their sum is counts[SWEPT_PARKED] */
	uint64_t oldest[REPORT_PARKED_MAX];   /* events, ascending; 0: no more */
};

struct report {
	uint64_t counts[SWEPT_COUNT];
	uint64_t waiting; /* callbacks due now or later, or being sent, at the last request */
	struct report_dealer *dealers; /* in the order of casino_id */
	uint32_t dealer_count;
	uint32_t dealer_room;
	bool failed; /* memory was exhausted: @dealers is incomplete */
};

void report_init(struct report *report);
void report_free(struct report *report);

void report_count(struct report *report, const char *casino_id, enum swept what);

/* Counts a callback in @state after its attempt was ended or taken over. */
void report_state(struct report *report, const char *casino_id, enum callback_kind kind,
	uint64_t event, enum callback_state state);

/*
 * Appends one object: a member for each of swept_names, "waiting", and "dealers", an array of
 * objects with casino_id and a member for each of swept_names. Returns false if memory is
 * exhausted.
 */
bool report_json(const struct report *report, struct buffer *out);

/* Writes one line for a person. */
void report_text(const struct report *report, FILE *out);

/* Writes one line for each dealer with parked callbacks, for cron's mail. */
void report_parked(const struct report *report, FILE *out);

/*
 * Prints the callbacks that can be claimed now, one line each, or as one object with "waiting" and
 * "callbacks". Returns false if memory is exhausted.
 */
bool report_print_due(const struct due_entry *due, uint32_t count, uint64_t waiting, bool json,
	FILE *out);

#endif

/*
 * event - the rows of an event: the callback, its body, its attempts, and when it is due.
 *
 * They are a reading, as in proof/round.h: if it has a fault, it is repeated. A fault counts only
 * if the callback's row did not change. Events up to proof->point.event existed when the proof
 * began and are permanent. Later ones are left to a later check. A number without rows belongs to a
 * balance inquiry.
 */
#ifndef PROOF_EVENT_H
#define PROOF_EVENT_H

#include "proof/round.h"
#include "domain/callback.h"

struct event_reading {
	struct proof *proof;
	uint64_t event;
	bool there; /* the callback exists */
	bool body;
	bool due;
	struct callback callback;
	struct due due_row;
	uint32_t attempts;         /* number of the last one seen */
	bool under_way;            /* the last one seen has not ended */
	bool answered;             /* an answer was seen */
	bool ended;                /* one has */
	enum callback_class class; /* of the last that ended */
	uint32_t http_status;
	struct row_hash link;
	struct proof_faults faults;
};

void proof_event_begin(struct event_reading *reading, struct proof *proof, uint64_t event);
/* Pass the callback first, if it exists, then the attempts in order. */
void proof_event_callback(struct event_reading *reading, const struct callback *callback);
void proof_event_body(struct event_reading *reading, const struct callback_body *body);
void proof_event_attempt(struct event_reading *reading, const struct attempt *attempt);
/* After the attempts. */
void proof_event_answer(struct event_reading *reading, const struct answer *answer);
void proof_event_due(struct event_reading *reading, const struct due *due);
void proof_event_end(struct event_reading *reading);
/* Counts the reading. */
void proof_event_take(const struct event_reading *reading);

/*
 * Returns the fault of the adjustment that stands for @callback, NULL if there is none. @entry is the
 * transaction that it names; NULL if that does not exist.
 */
const char *proof_event_adjusted(const struct callback *callback, const struct transaction *entry);

/* Returns true for the callbacks that report a round, or its correction. */
bool proof_is_result(enum callback_kind kind);

/* A callback that reports a result has more attempts only if operators or the dealer repeated it. */
#define PROOF_RESULT_ATTEMPTS 3

#endif

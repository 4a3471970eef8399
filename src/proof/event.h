/*
 * event - the rows of an event: the callback, its body, its attempts, and when it is due.
 *
 * A reading, as in proof/round.h: one with a fault is made anew before it is believed, and believed
 * only while the callback's row does not change. Events up to proof->point.event were there when
 * the proof began and are there for good; later ones are left to a later check. A number without
 * rows was a balance inquiry.
 */
#ifndef PROOF_EVENT_H
#define PROOF_EVENT_H

#include "proof/round.h"
#include "domain/callback.h"

struct event_reading {
	struct proof *proof;
	uint64_t event;
	bool there; /* the callback is */
	bool body;
	bool due;
	struct callback callback;
	struct due due_row;
	uint32_t attempts; /* number of the last one seen */
	bool under_way;    /* the last one seen has not ended */
	bool ended;        /* one has */
	enum callback_class class; /* of the last that ended */
	uint32_t http_status;
	struct row_hash link;
	struct proof_faults faults;
};

void proof_event_begin(struct event_reading *reading, struct proof *proof, uint64_t event);
/* The callback comes first, if there is one; the attempts in their order. */
void proof_event_callback(struct event_reading *reading, const struct callback *callback);
void proof_event_body(struct event_reading *reading, const struct callback_body *body);
void proof_event_attempt(struct event_reading *reading, const struct attempt *attempt);
void proof_event_due(struct event_reading *reading, const struct due *due);
void proof_event_end(struct event_reading *reading);
/* Counts the reading. */
void proof_event_take(const struct event_reading *reading);

/* A betting-result that was sent more often than that was sent so by operators: see the audit. */
#define PROOF_RESULT_ATTEMPTS 3

#endif

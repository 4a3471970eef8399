/*
 * outbox - the ledger's part of callbacks (contract, "Group B: callbacks" and "States").
 *
 * It keeps their rows, decides which worker may send them, and applies their outcomes. The rows of
 * a callback change in one batch, together with the bet or round that they belong to. The state
 * transitions are in domain/delivery.h; permits.h keeps the permits, schedule.h the leases.
 */
#ifndef LEDGER_OUTBOX_OUTBOX_H
#define LEDGER_OUTBOX_OUTBOX_H

#include "ledger/rows/context.h"

/*
 * The most bytes of JSON objects that the body of a callback may embed. The whole body then stays
 * within the limit of 64 KiB for either direction (contract, "Body").
 */
#define OUTBOX_OBJECTS_MAX (62 * 1024)

/* Describes in @verdict, a payload_too_large, that the objects exceed this limit. */
void outbox_too_large(struct verdict *verdict);

/* How the ledger treats callbacks. Tests shorten these settings. */
struct outbox_options {
	struct retry_policy retry;
	int64_t lease_ms;
	int64_t owner_patience_ms; /* time after the lease until a hanging sender counts as gone */
	int64_t breaker_open_ms;
	bool keep_answers;    /* answers of attempts that were no success */
	uint64_t inquiry_ids; /* event ids reserved by one write for inquiries; 0: LIFE_BLOCK_IDS */
};
void outbox_options_defaults(struct outbox_options *options);

/* Declares the rows that outbox_open() needs. */
void outbox_want_new(struct ws *ws);

/* The subject of an event. */
struct outbox_subject {
	const struct dealer *dealer;
	const char *player_id;
	const char *game_id;
	uint32_t bet_number; /* 0: of the round */
	uint32_t revision;   /* of the correction; 0: none */
};

/*
 * Creates an event that is due in @delay_ms, renders its body from @body (wire/callback_body.h)
 * and writes its rows. Returns its number. Returns 0 and writes nothing if memory or the ids are
 * exhausted.
 */
uint64_t outbox_open(struct ws *ws, const struct apply_context *context, enum callback_kind kind,
	const struct outbox_subject *subject, int64_t delay_ms, const void *body);

/*
 * Creates the B4 of @bet, due in @delay_ms, and sets its refund_event. Holds it if hold_result() is
 * true for the bet. Returns false if memory or the ids are exhausted.
 */
bool outbox_open_refund(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct round *round, struct bet *bet, int64_t delay_ms);

/*
 * Takes a permit for the event that outbox_open() creates next. If the dealer accepts no call, no
 * id is used. Returns false if max_inflight calls are under way or the breaker is open.
 */
bool outbox_admit_next(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer);

/*
 * Begins an attempt of a due event for @sender: counts it durably and fills @grant. Returns false
 * and changes nothing if the dealer accepts no call now or the event is not due.
 */
bool outbox_begin(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	uint64_t event, uint64_t sender, struct callback_grant *grant);

/*
 * Fills @grant again for a sender that did not receive it. Returns false if the attempt under way
 * does not belong to @sender.
 */
bool outbox_grant_again(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, uint64_t event, uint64_t sender, struct callback_grant *grant);

/*
 * Grants a B1, an event without rows. Returns false if the dealer accepts no call now or memory is
 * exhausted.
 */
bool outbox_inquire(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	const struct player *player, struct callback_grant *grant);

/*
 * Declares the rows of an event. This takes several passes, because its callback names the others.
 * Returns false if rows are still to be loaded or there is no such event.
 */
bool outbox_want(struct ws *ws, uint64_t event);
/* Like outbox_want(), with the body. For commands that may grant the event. */
bool outbox_want_grant(struct ws *ws, uint64_t event);

/* Finds the rows of the event. Returns false if there is no such event. */
bool outbox_find(struct ws *ws, uint64_t event, struct delivery *delivery);

/* Returns the correction that the callback reports; NULL if it reports none. */
const struct correction *outbox_correction(struct ws *ws, const struct callback *callback);

/* Writes the rows that a step changed. @begun: the attempt is new. */
void outbox_write(struct ws *ws, const struct delivery *delivery, bool begun);

/*
 * Changes the success of a betting-correction to unknown, as for an answer that cannot be read, if
 * its shortfall is below 0, above the decrease, or has more decimals than the dealer (contract,
 * "Corrections"). How much such a dealer has taken is not known.
 */
void outbox_check_answer(struct ws *ws, const struct delivery *delivery,
	struct callback_outcome *outcome);

/*
 * Ends the attempt with @outcome, writes the rows, applies the consequences and returns the
 * permit. A betting accepts, rejects or refunds its bet; a refund marks its bet refunded. Returns
 * false and changes nothing if the attempt had ended before.
 */
bool outbox_end(struct ws *ws, const struct apply_context *context, struct delivery *delivery,
	uint32_t attempt, const struct callback_outcome *outcome);

/*
 * Returns true if the event is due. A row of this boot states the time itself, because this batch
 * may have changed it. For a row of an earlier boot the schedule computed the time at the start.
 */
bool outbox_is_due(const struct apply_context *context, const struct delivery *delivery);

/* Returns true if the sender is gone, so that the event may be taken over. */
bool outbox_is_left(const struct apply_context *context, const struct delivery *delivery);

/*
 * Holds the callback of the new @event if hold_result() is true for @transaction_id. Returns false
 * if it is not held but due.
 */
bool outbox_hold(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	uint64_t event, uint64_t transaction_id);

/*
 * outbox_want_age() declares the row that shows whether a round began before a restore of the
 * dealer. outbox_hold_old() then holds the callback of the new @event, because the dealer may have
 * received it before the restore under another id. Returns false if it is not held but due.
 */
void outbox_want_age(struct ws *ws, const struct dealer *dealer, const struct round *round);
bool outbox_hold_old(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct round *round, uint64_t event);

/* Like delivery_operate(), and applies the consequences of a cancel. */
const char *outbox_operate(struct ws *ws, const struct apply_context *context,
	struct delivery *delivery, enum callback_action action, const char *by);

#endif

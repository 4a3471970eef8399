/*
 * outbox - the ledger's side of callbacks: their rows, who may send them, and what follows from
 * their end (api.md, B; Bet states and callback states).
 *
 * A callback's rows change together, with the bet or round that they belong to, in one batch. The
 * steps themselves are domain/delivery.h; permits are kept by permits.h, leases by schedule.h.
 */
#ifndef LEDGER_OUTBOX_OUTBOX_H
#define LEDGER_OUTBOX_OUTBOX_H

#include "ledger/rows/context.h"

/*
 * Bytes of the JSON objects that a callback's body may embed, so that all of it stays within the 64
 * KiB that a body may have in either direction (api.md, Common rules).
 */
#define OUTBOX_OBJECTS_MAX (62 * 1024)

/* Tells in @verdict, a payload_too_large, that they have more. */
void outbox_too_large(struct verdict *verdict);

/* How the service treats callbacks: settings that tests shorten. */
struct outbox_options {
	struct retry_policy retry;
	int64_t lease_ms;
	int64_t owner_patience_ms; /* after the lease, until a sender that hangs counts as gone */
	int64_t breaker_open_ms;
	uint64_t inquiry_ids; /* events of balance inquiries that one write reserves; 0: LIFE_BLOCK_IDS */
};
void outbox_options_defaults(struct outbox_options *options);

/* Declares what making an event needs. */
void outbox_want_new(struct ws *ws);

/* Whose event it is. */
struct outbox_subject {
	const struct dealer *dealer;
	const char *player_id;
	const char *game_id;
	uint32_t bet_number; /* 0: of the round */
};

/*
 * Makes an event, due in @delay_ms, with the body rendered from @body (wire/callback_body.h), and
 * writes its rows. Returns its number; 0: no memory or no id is left, and nothing was written.
 */
uint64_t outbox_open(struct ws *ws, const struct apply_context *context, enum callback_kind kind,
	const struct outbox_subject *subject, int64_t delay_ms, const void *body);

/*
 * Takes a permit for the event that outbox_open() will make next, so that a dealer who takes no
 * call consumes nothing. False: max_inflight are under way, or the breaker is open.
 */
bool outbox_admit_next(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer);

/*
 * Begins an attempt of an event that is due, for @sender: counts it durably and fills @grant. False:
 * the dealer takes no call now, or it is not due; nothing was changed.
 */
bool outbox_begin(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	uint64_t event, uint64_t sender, struct callback_grant *grant);

/*
 * Fills @grant again for the one who got it before and did not hear: the attempt under way is
 * @sender's. False: it is not.
 */
bool outbox_grant_again(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, uint64_t event, uint64_t sender, struct callback_grant *grant);

/* A B1: an event without rows. False: the dealer takes no call now, or no memory. */
bool outbox_inquire(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct player *player, struct callback_grant *grant);

/*
 * Declares the rows of an event: by passes, as its callback names the others. False: some are still
 * to be loaded, or there is no such event.
 */
bool outbox_want(struct ws *ws, uint64_t event);
/* The same and its body: for whom a grant may be made. */
bool outbox_want_grant(struct ws *ws, uint64_t event);

/* The event's rows. False: there is no such event. */
bool outbox_find(struct ws *ws, uint64_t event, struct delivery *delivery);

/* Writes the rows that a step changed; @begun: the attempt is new. */
void outbox_write(struct ws *ws, const struct delivery *delivery, bool begun);

/*
 * The attempt ended with @outcome: writes the rows and what follows: a betting's bet is accepted,
 * rejected or refunded, a refund's bet is refunded. The permit is given back. False: the attempt
 * ended before; nothing was changed.
 */
bool outbox_end(struct ws *ws, const struct apply_context *context, struct delivery *delivery,
	uint32_t attempt, const struct callback_outcome *outcome);

/*
 * Whether its time has come: of a row of this boot by the row, which this batch may have changed, of an
 * earlier one as the schedule reckoned at the start.
 */
bool outbox_is_due(const struct apply_context *context, const struct delivery *delivery);

/* Whether the one who sends it is gone, so that it may be taken over. */
bool outbox_is_left(const struct apply_context *context, const struct delivery *delivery);

/*
 * Holds the callback of @event, which was opened now, where hold_result() says so of
 * @transaction_id. False: it is due.
 */
bool outbox_hold(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	uint64_t event, uint64_t transaction_id);

/* As delivery_operate(), and what follows from a cancel. */
const char *outbox_operate(struct ws *ws, const struct apply_context *context,
	struct delivery *delivery, enum callback_action action, const char *by);

#endif

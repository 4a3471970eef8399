/*
 * delivery - the transitions of a callback (api.md, Bet states and callback states; B).
 *
 *     due -> sending -> delivered            held, cancelled: by the operator
 *      ^        |-> due (again) | parked     failed: a betting that was not accepted
 *
 * Pure. Each step is a compare-and-set: it names the state, and where an attempt ends its number,
 * and changes nothing when another was faster. Whoever keeps the rows writes them together.
 */
#ifndef DOMAIN_DELIVERY_H
#define DOMAIN_DELIVERY_H

#include "base/clock.h"
#include "domain/callback.h"
#include "domain/retry.h"

/* The rows of one event that move together. */
struct delivery {
	struct callback callback;
	struct attempt attempt; /* the last one; nothing while callback.attempts is 0 */
	struct due due;
	bool scheduled; /* false: @due is to be deleted, or is not there */
};

/* What an operator can do to a callback; see delivery_operate(). */
enum callback_action {
	CALLBACK_RETRY,   /* due now; one that was parked gets one more attempt */
	CALLBACK_HOLD,    /* due or parked: nothing is sent until it is released */
	CALLBACK_RELEASE, /* held: due now, or parked if its attempts are used up */
	CALLBACK_CANCEL,  /* settled outside: never sent again */
	CALLBACK_ACTION_COUNT
};
extern const char *const callback_action_names[CALLBACK_ACTION_COUNT];

/* A new event, due in @delay_ms. Its player, game and bet are the caller's to fill in. */
void delivery_open(struct delivery *delivery, enum callback_kind kind, uint64_t event,
	const char *casino_id, const struct moment *now, int64_t delay_ms);

/*
 * When the row is due on this boot's clock: within one boot by boottime, after a reboot by wall
 * time (api.md, Bet states).
 */
int64_t due_boot_ms(const struct due *due, const struct moment *now);

/* How an attempt is begun. */
struct delivery_lease {
	int64_t lease_ms;
	uint64_t sender; /* random: so that a repeated command knows its own attempt */
	uint64_t owner;  /* the sender's link */
};

/*
 * due -> sending: counts the attempt. To be durable before its first byte leaves. False: it is not
 * due.
 */
bool delivery_begin(struct delivery *delivery, const struct moment *now,
	const struct delivery_lease *lease);

/* What an attempt's end is judged by. */
struct delivery_terms {
	struct retry_policy retry;
	const char *unknown_bet_ids; /* the dealer's */
};

/*
 * sending -> delivered, due, parked, or failed for a betting: attempt number @attempt ended so. Also
 * how an attempt is taken over whose sender is gone: its outcome is then unknown. False: that
 * attempt ended before; nothing was changed.
 */
bool delivery_end(struct delivery *delivery, uint32_t attempt,
	const struct callback_outcome *outcome, const struct delivery_terms *terms,
	const struct moment *now);

/*
 * An operator's step; @by is kept when it cancels. NULL, or why it cannot be done now; nothing was
 * changed then.
 */
const char *delivery_operate(struct delivery *delivery, enum callback_action action, const char *by,
	const struct delivery_terms *terms, const struct moment *now);

/* True: nothing is sent any more, whatever an operator does. */
bool callback_has_ended(enum callback_state state);

/*
 * PENDING -> ACCEPTED, REJECTED or REFUNDING, by what came of the betting (api.md, B, the table of
 * answers). A balance that is not of @user_id in @currency is dropped. False: the bet is not
 * pending; nothing was changed.
 */
bool bet_conclude(struct bet *bet, const struct callback_outcome *outcome, const char *user_id,
	const char *currency, int64_t now_ms);

/*
 * True: by error id @id the dealer says that it does not know the bet: bet_not_found,
 * transaction_not_found, or one of @unknown_bet_ids, which are separated by commas.
 */
bool bet_is_unknown(const char *id, const char *unknown_bet_ids);

#endif

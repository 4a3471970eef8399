/*
 * delivery - the transitions of a callback (contract, "States" and "Attempts").
 *
 *     due -> sending -> delivered            held, cancelled: by the operator
 *      ^        |-> due (again) | parked     failed: a betting that was not accepted
 *
 * Pure. Each step is a compare-and-set of the state, and of the attempt's number if an attempt
 * ends. It changes nothing if another step was faster. The caller stores the rows together.
 */
#ifndef DOMAIN_DELIVERY_H
#define DOMAIN_DELIVERY_H

#include "base/clock.h"
#include "domain/callback.h"
#include "domain/retry.h"

/* The rows of one event that move together. */
struct delivery {
	struct callback callback;
	struct attempt attempt; /* the last attempt; unset while callback.attempts is 0 */
	struct due due;
	bool scheduled; /* false: @due must be deleted, or does not exist */
};

/* Operator actions on a callback; see delivery_operate(). */
enum callback_action {
	CALLBACK_RETRY,   /* due now; a parked callback gets one more attempt */
	CALLBACK_HOLD,    /* due or parked: nothing is sent until it is released */
	CALLBACK_RELEASE, /* held: due now, or parked if its attempts are used up */
	CALLBACK_CANCEL,  /* settled elsewhere: never sent again */
	CALLBACK_ACTION_COUNT
};
extern const char *const callback_action_names[CALLBACK_ACTION_COUNT];

/* Makes a new event, due in @delay_ms. The caller fills in its player, game and bet. */
void delivery_open(struct delivery *delivery, enum callback_kind kind, uint64_t event,
	const char *casino_id, const struct moment *now, int64_t delay_ms);

/*
 * Returns when the row is due on the clock of this boot. Within one boot the boot time decides,
 * after a reboot the wall time (contract, "Leases").
 */
int64_t due_boot_ms(const struct due *due, const struct moment *now);

/* Properties of an attempt at its begin. */
struct delivery_lease {
	int64_t lease_ms;
	uint64_t sender; /* random; identifies the attempt in a repeated command */
	uint64_t owner;  /* the sender's link */
};

/*
 * due -> sending. Counts the attempt. The caller must commit it before the first byte is sent.
 * Returns false if the callback is not due.
 */
bool delivery_begin(struct delivery *delivery, const struct moment *now,
	const struct delivery_lease *lease);

/* Rules that decide the state after an attempt. */
struct delivery_terms {
	struct retry_policy retry;
	const char *unknown_bet_ids; /* the dealer's */
	const char *duplicate_ids;   /* the dealer's */
	bool bet_accepted; /* of a refund: the dealer accepted the bet, which was cancelled */
};

/*
 * sending -> delivered, due, parked, or failed (betting only). Records the outcome of attempt
 * number @attempt. A refusal that shows that the dealer has nothing to do is a delivery: it does not
 * know the bet of a refund, or it knows the callback from an earlier attempt whose outcome stayed
 * unknown. A bet that the dealer accepted cannot be unknown to it. Also used to take over an attempt
 * whose sender is lost; its outcome is then unknown. Returns false if that attempt ended before;
 * nothing is then changed.
 */
bool delivery_end(struct delivery *delivery, uint32_t attempt,
	const struct callback_outcome *outcome, const struct delivery_terms *terms,
	const struct moment *now);

/*
 * Performs an operator's action. A cancelled callback stores @by. Returns NULL, or the reason why
 * the action is not possible now; nothing is then changed.
 */
const char *delivery_operate(struct delivery *delivery, enum callback_action action, const char *by,
	const struct delivery_terms *terms, const struct moment *now);

/* Returns true if the callback is never sent again, whatever an operator does. */
bool callback_has_ended(enum callback_state state);

/*
 * PENDING -> ACCEPTED, REJECTED or REFUNDING, by the outcome of the betting callback (contract,
 * "Answers of a dealer"). Ignores a balance that is not for @user_id in @currency. Returns false if
 * the bet is not pending; nothing is then changed.
 */
bool bet_conclude(struct bet *bet, const struct callback_outcome *outcome, const char *user_id,
	const char *currency, int64_t now_ms);

/*
 * Returns true if the error id @id means that the dealer does not know the bet: bet_not_found,
 * transaction_not_found, or one of the comma-separated @unknown_bet_ids.
 */
bool bet_is_unknown(const char *id, const char *unknown_bet_ids);

/*
 * Returns true if the error id @id, in the answer to a callback of @kind, means that the dealer
 * performed an earlier attempt: it is one of the comma-separated @duplicate_ids, and the outcome of
 * an earlier attempt stayed unknown (@maybe_performed). If all of them were refused or not sent, the
 * dealer cannot have performed one, so the id means something else. A betting is never repeated.
 */
bool callback_is_known(enum callback_kind kind, bool maybe_performed, const char *id,
	const char *duplicate_ids);

/* Returns false if an id of @duplicate_ids also means that the dealer does not know the bet. */
bool duplicate_ids_valid(const char *duplicate_ids, const char *unknown_bet_ids);

#endif

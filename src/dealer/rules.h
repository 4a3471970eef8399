/*
 * rules - how a dealer processes a callback (specification, "Group B: callbacks to the dealer";
 * contract, "Group B: callbacks"). Copy this part to your dealer.
 *
 * Pure: the caller loads the two rows that a call names and applies the rule. It commits the
 * changes in one transaction before it answers. Calls are applied one at a time.
 *
 * Every transaction_id has one row, whichever callback carries it. So one id moves credit once, and
 * the same callback may arrive any number of times, late, and in any order:
 *
 *   transaction is  betting            betting-result          betting-refund
 *                                      (win, refund)
 *   NONE            debit, now BET     credit, now PAID        nothing, now TOMBSTONE: {}
 *   BET             ok, no debit       transaction_conflict    credit, now REFUNDED
 *   REFUNDED        bet_refunded       transaction_conflict    ok, no credit
 *   TOMBSTONE       bet_refunded       transaction_conflict    ok, nothing: {}
 *   PAID            transaction_       ok, no credit           transaction_conflict
 *                   conflict
 *   REFUSED         insufficient_      transaction_conflict    ok, nothing
 *                   balance
 *
 * A betting-correction of NONE debits what the balance has, and is then CORRECTED. Its repetition is
 * ok and moves nothing. The answer says how much could not be taken (shortfall). Any other callback
 * with that id, and a betting-correction with an id of another kind, is a transaction_conflict.
 *
 * "ok" requires equal content (user_id, game_id, amount, result). A known id with other content is
 * a transaction_conflict. A refused call changes nothing, with one exception: a bet above the
 * balance stays REFUSED. The platform has dropped that bet. If its bytes are replayed later, when
 * there is credit, they must not be accepted.
 *
 * A result has its own id and names no bets. It includes only bets that the platform accepted, and
 * a betting-refund is sent only for other bets. So a refund does not depend on the state of the
 * round: a bet whose answer was lost is correctly refunded after the round's result.
 *
 * A loss has transaction_id 0 and moves nothing. A dealer that counts losses detects repetitions by
 * webhook-id.
 */
#ifndef DEALER_RULES_H
#define DEALER_RULES_H

#include "domain/callback.h"

#include <stdbool.h>
#include <stdint.h>

/* The outcome of a round; none if the call is no result. */
enum dealer_outcome {
	OUTCOME_NONE,
	OUTCOME_WIN,
	OUTCOME_LOSS,
	OUTCOME_REFUND,
	DEALER_OUTCOME_COUNT
};
extern const char *const dealer_outcome_names[DEALER_OUTCOME_COUNT];

enum dealer_state {
	TRANSACTION_NONE,
	TRANSACTION_BET,
	TRANSACTION_REFUNDED,
	TRANSACTION_TOMBSTONE, /* the refund arrived before its bet, which must be refused */
	TRANSACTION_PAID,
	TRANSACTION_REFUSED, /* the bet was above the balance */
	TRANSACTION_CORRECTED,
	DEALER_STATE_COUNT,
};
extern const char *const dealer_state_names[DEALER_STATE_COUNT];

/* The answer of a dealer: success, or the id of an error body with its HTTP status. */
enum dealer_answer {
	ANSWER_OK,
	ANSWER_BAD_REQUEST,
	ANSWER_INVALID_AMOUNT,
	ANSWER_INVALID_SIGNATURE,
	ANSWER_INSUFFICIENT_BALANCE,
	ANSWER_NOT_FOUND,
	ANSWER_METHOD_NOT_ALLOWED,
	ANSWER_TRANSACTION_CONFLICT,
	ANSWER_BET_REFUNDED,
	ANSWER_BALANCE_LIMIT,
	ANSWER_PAYLOAD_TOO_LARGE,
	ANSWER_INTERNAL_ERROR,
	DEALER_ANSWER_COUNT,
};
struct dealer_answer_info {
	const char *id;
	int code;
	const char *detail;
};
extern const struct dealer_answer_info dealer_answers[DEALER_ANSWER_COUNT];

/* A callback whose body was read. */
struct dealer_call {
	enum callback_kind kind;
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint64_t transaction_id; /* 0: a loss, or a balance-inquire */
	uint64_t timestamp;
	money_t bet_amount;
	money_t payout_amount;          /* of a result */
	money_t previous_payout_amount; /* of a correction */
	enum dealer_outcome result;
};

struct dealer_user {
	char user_id[EXTERNAL_ID_SIZE];
	money_t balance;
	money_t granted; /* credit granted outside callbacks */
};

struct dealer_transaction {
	uint64_t transaction_id;
	enum dealer_state state;
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	money_t amount; /* stake, payout, or what a correction took */
	enum dealer_outcome result;
};

/* The rows that a call names: as loaded, then as changed. */
struct dealer_rows {
	struct dealer_user user; /* a new user has the opening balance */
	bool user_is_new;
	bool user_changed;                     /* to be written */
	struct dealer_transaction transaction; /* TRANSACTION_NONE: no row exists */
	bool transaction_changed;
	money_t shortfall; /* what a correction could not take */
};

/* Returns the content of @call as its transaction stores it, without a state. */
struct dealer_transaction rules_content(const struct dealer_call *call);

/* Applies @call to @rows. Unless it returns ANSWER_OK, nothing may be written. */
enum dealer_answer rules_apply(const struct dealer_call *call, struct dealer_rows *rows);

#endif

/*
 * wager - the rules of bets and rounds (contract, "Settlement" and "Bet states").
 *
 * Pure. Every transition of a bet goes through bet_move(), which knows the legal ones.
 */
#ifndef DOMAIN_WAGER_H
#define DOMAIN_WAGER_H

#include "domain/records.h"

/* Returns true if a bet may change from @from to @to. */
bool bet_may_move(enum bet_state from, enum bet_state to);

/*
 * Changes the state of the bet. Returns false if this is not allowed from its present state;
 * nothing is then changed.
 */
bool bet_move(struct bet *bet, enum bet_state to, int64_t now_ms);

/* Returns true if the state is final. */
bool bet_has_ended(enum bet_state state);

/*
 * Returns the answer to the bet's caller, now and for repeated calls, by the bet's present state
 * (contract, "Repeated bets"). REFUSAL_NONE means accepted.
 */
enum refusal bet_refusal(const struct bet *bet);
/* The detail text of REFUSAL_DEALER_TIMEOUT once the bet is BET_REFUNDED. */
#define BET_REFUNDED_DETAIL "the dealer did not answer; the bet was refunded"

/*
 * Decides whether @client_id may place a new bet in @round (NULL: the game is new). The caller
 * checks the player and the dealer first. Returns REFUSAL_GAME_NOT_FOUND for the round of another
 * client, and ALREADY_SETTLED. Returns ROUND_FULL if the bets, or their user_bet with @objects_len
 * bytes more, reach the limit. Returns BALANCE_LIMIT if the stakes with @bet_amount would exceed
 * what a refund can pay back.
 */
enum refusal round_decide_bet(const struct round *round, const char *client_id, money_t bet_amount,
	uint32_t objects_len);

/* Returns true if a bet in this state is part of its round (contract, "Rounds"). */
bool bet_is_part(enum bet_state state);

/* The sums of a round. */
struct settlement {
	enum round_result result;
	money_t bet_amount;      /* accepted stakes without additions */
	money_t addition_amount; /* accepted additions */
	money_t payout_amount;
	money_t win_amount;
	uint32_t bets; /* accepted */
};

/*
 * Adds a bet of the round to the sums. An accepted bet counts. A PENDING bet blocks
 * (REFUSAL_BET_IN_PROGRESS). Bets in other states are not part of the round. Returns
 * REFUSAL_BALANCE_LIMIT if a sum does not fit.
 */
enum refusal settlement_add(struct settlement *settlement, const struct bet *bet);

/*
 * Completes the sums; @asked is the payout that the game server gives. A loss pays nothing. A
 * refund pays exactly the stakes (@asked is 0 or that amount). A win pays 0 or more. Returns
 * REFUSAL_BET_NOT_FOUND if no bet is accepted, and REFUSAL_INVALID_AMOUNT if the payout does not
 * fit the result.
 */
enum refusal settlement_close(struct settlement *settlement, enum round_result result,
	money_t asked);

/*
 * Returns the payout that the B3 of a correction reports: its increase less an earlier shortfall.
 * 0 if the correction does not increase the payout.
 */
money_t correction_paid(const struct correction *correction);

/* The status of a game in A5 (contract, "Status of a game"). */
enum game_status {
	GAME_NOT_FOUND, /* only rejected bets, or none */
	GAME_PENDING,
	GAME_REFUNDED,
	GAME_SETTLED,
	GAME_STATUS_COUNT
};
extern const char *const game_status_names[GAME_STATUS_COUNT];

/*
 * Returns the status of @round; @bets holds the number of its bets in each state. Pending while any
 * is PENDING or ACCEPTED. Refunded if the result is a refund, or if all bets except rejected ones
 * are refunded or being refunded. Otherwise settled.
 */
enum game_status round_status(const struct round *round, const uint32_t bets[BET_STATE_COUNT]);

#endif

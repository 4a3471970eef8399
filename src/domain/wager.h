/*
 * wager - the rules of bets and rounds (api.md, C and Bet states).
 *
 * Pure. Every transition of a bet goes through bet_move(), which knows the legal ones.
 */
#ifndef DOMAIN_WAGER_H
#define DOMAIN_WAGER_H

#include "domain/records.h"

/* True: a bet may go from @from to @to. */
bool bet_may_move(enum bet_state from, enum bet_state to);

/* Moves the bet. False: not from this state; nothing was changed. */
bool bet_move(struct bet *bet, enum bet_state to, int64_t now_ms);

/* True: no further transition will come. */
bool bet_has_ended(enum bet_state state);

/*
 * How whoever placed the bet is answered, now and when the call is repeated: by its present state
 * (api.md C 1). REFUSAL_NONE: accepted.
 */
enum refusal bet_refusal(const struct bet *bet);
/* The words of REFUSAL_DEALER_TIMEOUT once the bet is BET_REFUNDED. */
#define BET_REFUNDED_DETAIL "the dealer did not answer; the bet was refunded"

/*
 * Whether a new bet may be placed in @round (NULL: the game is new) by @client_id. The player's and
 * dealer's checks come before. REFUSAL_GAME_NOT_FOUND (another client's round), ALREADY_SETTLED,
 * ROUND_FULL (by its bets, or with @objects_len bytes more by their user_bet), BALANCE_LIMIT: with
 * @bet_amount more would be staked than a refund could pay back.
 */
enum refusal round_decide_bet(const struct round *round, const char *client_id,
	money_t bet_amount, uint32_t objects_len);

/* True: the bet is part of its round (api.md C 3). */
bool bet_is_part(enum bet_state state);


/* What a round came to. */
struct settlement {
	enum round_result result;
	money_t bet_amount;      /* accepted stakes without additions */
	money_t addition_amount; /* accepted additions */
	money_t payout_amount;
	money_t win_amount;
	uint32_t bets; /* accepted */
};

/*
 * Adds a bet of the round to the sums: accepted ones count, PENDING ones block
 * (REFUSAL_BET_IN_PROGRESS), others are no part of the round. REFUSAL_BALANCE_LIMIT: a sum does not
 * fit.
 */
enum refusal settlement_add(struct settlement *settlement, const struct bet *bet);

/*
 * Completes the sums: @asked is the payout the game server gives. A loss pays nothing, a refund
 * exactly what was staked (asked as 0 or as that amount), a win anything from 0. REFUSAL_BET_NOT_FOUND: no accepted bet;
 * REFUSAL_INVALID_AMOUNT: the payout does not fit the result.
 */
enum refusal settlement_close(struct settlement *settlement, enum round_result result,
	money_t asked);

/* What A5 tells of a game (api.md A 5). */
enum game_status {
	GAME_NOT_FOUND, /* there were only rejected bets, or none */
	GAME_PENDING,
	GAME_REFUNDED,
	GAME_SETTLED,
	GAME_STATUS_COUNT
};
extern const char *const game_status_names[GAME_STATUS_COUNT];

/*
 * How @round stands, of whose bets so many are in each state: pending while any is PENDING or
 * ACCEPTED; refunded when the result is a refund, or when all bets, rejected ones aside, are
 * refunded or being refunded; else settled.
 */
enum game_status round_status(const struct round *round, const uint32_t bets[BET_STATE_COUNT]);

#endif

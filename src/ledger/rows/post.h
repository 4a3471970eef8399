/*
 * post - writing one movement of credit with everything that belongs to it.
 *
 * The player, its dealer's sums and the transaction row change together or not at all;
 * the request key is written by whoever knows what was asked.
 */
#ifndef LEDGER_ROWS_POST_H
#define LEDGER_ROWS_POST_H

#include "domain/movement.h"
#include "ledger/rows/context.h"

/* Declares the rows that book_move() works on. */
void book_want(struct ws *ws, const char *casino_id, const char *user_id);

/*
 * Moves @movement->amount on @player, which is written; @movement's transaction_id is given here.
 * Refusals: those of movement_apply(), and service_unavailable when transaction ids are used up.
 */
enum refusal book_move(struct ws *ws, struct movement *movement, struct player *player,
	struct transaction *entry);

/*
 * Gives out a transaction id for a bet, or a result (@bet_number 0), that moves no credit here, and
 * writes its row. 0: they are used up.
 */
uint64_t book_transaction(struct ws *ws, const struct player *player, const char *game_id,
	uint32_t bet_number, int64_t now_ms);

/* Gives a refusal for want of a transaction id its detail; nothing to any other. */
void book_describe(struct ws *ws, struct verdict *verdict);

/* Counts bets and callbacks of the dealer that came open, or ended (struct total, open_bets). */
void book_open_bets(struct ws *ws, const char *casino_id, int32_t change);

/* Counts the dealer's callbacks that are parked or held: one went from @was to @is. */
void book_callback_state(struct ws *ws, const char *casino_id, enum callback_state was,
	enum callback_state is);

#endif

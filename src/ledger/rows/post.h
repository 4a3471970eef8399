/*
 * post - writes one movement of credit with all its rows.
 *
 * The player, the totals of its dealer and the transaction row change together or not at all. The
 * command that knows the request writes the request key.
 */
#ifndef LEDGER_ROWS_POST_H
#define LEDGER_ROWS_POST_H

#include "domain/movement.h"
#include "ledger/rows/context.h"

/* Declares the rows that post_move() changes. */
void post_want(struct ws *ws, const char *casino_id, const char *user_id);

/*
 * Applies @movement->amount to @player, writes the rows, and assigns the transaction_id of
 * @movement. Refuses as movement_apply(), and with service_unavailable if transaction ids are
 * exhausted.
 */
enum refusal post_move(struct ws *ws, struct movement *movement, struct player *player,
	struct transaction *entry);

/*
 * Assigns a transaction id to a bet, result or correction (@kind) that moves no credit here, and
 * writes its row. @number is that of the bet, 0 of a result, the revision of a correction. Returns
 * 0 if the ids are exhausted.
 */
uint64_t post_transaction(struct ws *ws, const struct player *player, enum entry_kind kind,
	const char *game_id, uint32_t number, int64_t now_ms);

/* Adds the detail to a refusal for lack of a transaction id. Other refusals stay unchanged. */
void post_describe(struct ws *ws, struct verdict *verdict);

/* Adds @change to the open bets and callbacks of the dealer (struct total, open_bets). */
void post_open_bets(struct ws *ws, const char *casino_id, int32_t change);

/* Adds @change to what corrections of the dealer's rounds could not debit. */
void post_shortfall(struct ws *ws, const char *casino_id, money_t change);

/* A change of the sums of a dealer's seamless-wallet players (struct total). */
struct seamless_change {
	money_t staked;
	money_t paid;
	money_t refunded;
	money_t owed_payouts;
	money_t owed_refunds;
	int with_balance;    /* 1: a betting was answered with the balance */
	int without_balance; /* 1: without it */
};

/* Adds @change to the sums of the dealer. */
void post_seamless(struct ws *ws, const char *casino_id, const struct seamless_change *change);

/*
 * Updates the counts of parked and held callbacks of the dealer for one that changed from @was to
 * @is.
 */
void post_callback_state(struct ws *ws, const char *casino_id, enum callback_state was,
	enum callback_state is);

#endif

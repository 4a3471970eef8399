/*
 * feed_item - a transaction of a dealer with its present state (contract, "Feed" and "History").
 *
 * It is computed from the transaction's row and from the rows of its bet, round and callback. No
 * row stores it.
 */
#ifndef DOMAIN_FEED_ITEM_H
#define DOMAIN_FEED_ITEM_H

#include "domain/callback.h"

#define FEED_STATE_SIZE 16
/* Transactions that one command looks at. */
#define FEED_ROWS_MAX 256
/* Items of one answer over HTTP. */
#define FEED_ITEMS_MAX 1000

/* The subject of a transaction, which decides the members of an item. */
enum feed_subject {
	FEED_MOVEMENT, /* credit of a player, without a game */
	FEED_BET,
	FEED_ROUND,      /* the result of a round */
	FEED_CORRECTION, /* of a settled round */
	FEED_SUBJECT_COUNT
};

/* Returns the subject of the transactions of @kind. */
enum feed_subject feed_subject_of(enum entry_kind kind);

struct feed_item {
	uint64_t transaction_id;
	char casino_id[CASINO_ID_SIZE];
	enum entry_kind kind;
	int64_t time_ms;
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	/*
	 * "done" of a movement; the state of a bet; of a result the state of its callback, or "done"
	 * if it has none.
	 */
	char state[FEED_STATE_SIZE];
	/* of a transaction that moved credit here */
	bool moved;
	money_t amount; /* signed change of the balance */
	money_t before_balance;
	money_t current_balance;
	char request_transaction_id[EXTERNAL_ID_SIZE]; /* the dealer's own reference; "": none */
	/* of a bet and of a result */
	char game_id[EXTERNAL_ID_SIZE];
	money_t bet_amount;
	/* of a bet */
	bool addition;
	/* of a result */
	enum round_result result;
	money_t addition_amount;
	money_t win_amount;
	money_t payout_amount;
	/* of a correction, which also has result and payout_amount */
	uint32_t revision;
	money_t previous_payout_amount;
	money_t shortfall;
	uint64_t event; /* of its callback; 0: none */
	enum callback_kind callback_kind;
	uint32_t attempts;
};
extern const struct field feed_item_fields[];

/* An item begins with the members that its transaction's row has. */
void feed_item_begin(struct feed_item *item, const struct transaction *entry, const char *user_id);
/*
 * Add what the rows of the bet, or of the round or correction and its callback (NULL: none), have
 * now.
 */
void feed_item_bet(struct feed_item *item, const struct bet *bet);
void feed_item_round(struct feed_item *item, const struct round *round,
	const struct callback *callback);
void feed_item_correction(struct feed_item *item, const struct correction *correction,
	const struct callback *callback);

#endif

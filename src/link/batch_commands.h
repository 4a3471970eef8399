/*
 * batch_commands - the command that settles many rounds at once (contract, "Results of a live
 * round").
 */
#ifndef LINK_BATCH_COMMANDS_H
#define LINK_BATCH_COMMANDS_H

#include "link/edge_commands.h"

/* Limit of the bets of all rounds that the items of a batch name: other commands wait for them. */
#define BATCH_BETS_MAX 16384

/* One result of a batch, as in struct round_settle_cmd. */
struct settle_item {
	struct player_ref player;
	char game_id[EXTERNAL_ID_SIZE];
	enum round_result result; /* not RESULT_NONE */
	money_t payout_amount;
	char remark[REMARK_SIZE];
	struct bytes user_bet; /* JSON objects as text; empty: none */
	struct bytes game_result;
	struct bytes user_bet_result;
};

/*
 * The answer to one item. The callback of a settled round is due, held, or in a transfer wallet
 * delivered; no attempt has begun.
 */
struct settle_answer {
	struct verdict verdict;
	uint64_t transaction_id; /* 0 for a loss */
	money_t bet_amount;
	money_t addition_amount;
	money_t win_amount;
	money_t payout_amount;
	enum callback_state callback_state;
};

/*
 * C results/batch: settles the rounds of all items in one commit, each as if it were the only one,
 * and leaves their callbacks to the sweeper. The idempotency key is (client_id,
 * request_transaction_id). A repetition with the same digest gets the stored answers; items with a
 * retryable error are tried again. With another digest, or after another kind of request:
 * transaction_conflict.
 */
struct settle_batch_cmd {
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char request_id[BATCH_REQUEST_ID_SIZE]; /* of the HTTP request */
	char digest[DIGEST_TEXT_SIZE];
	uint32_t count;     /* of items, 1 to BATCH_RESULTS_MAX */
	struct bytes items; /* struct settle_item, packed */
};
struct settle_batch_result {
	struct verdict verdict;
	char request_id[BATCH_REQUEST_ID_SIZE]; /* of the first call */
	uint32_t count;
	struct bytes answers; /* struct settle_answer, packed */
};

extern const struct field settle_item_fields[];
extern const struct field settle_answer_fields[];

#endif

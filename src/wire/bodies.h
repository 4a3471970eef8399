/*
 * bodies - the members of each operation's JSON body, and the tables by which body_parse() fills them.
 *
 * Strings are "" and numbers 0 where an optional member is absent.
 */
#ifndef WIRE_BODIES_H
#define WIRE_BODIES_H

#include "domain/money.h"
#include "domain/records.h"
#include "wire/body.h"

/* The body of A1 and A2. A2 has an amount or @all. */
struct transfer_body {
	bool has_amount; /* of A2 */
	money_t amount;
	bool all; /* of A2: the whole balance; false when absent */
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};

/* The body of transfer-inquire. */
struct transfer_inquire_body {
	char request_transaction_id[EXTERNAL_ID_SIZE];
	int64_t request_timestamp;
	bool seal; /* false when absent */
};

/* The body of A3. */
struct balance_body {
	char user_id[EXTERNAL_ID_SIZE];
	int64_t request_timestamp;
};

/* The body of A4. */
enum { INCLUDE_BET_SUMMARY = 1 << 0 };
struct stat_body {
	char user_id[EXTERNAL_ID_SIZE];
	uint32_t include_data; /* INCLUDE_...; 0 when absent */
	int64_t request_timestamp;
};

/* The body of A5. */
struct inquire_body {
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
};

/* The body of the feed. */
struct feed_body {
	int64_t after; /* 0: from the first transaction */
	int64_t limit;
	int64_t wait_ms; /* 0 when absent */
	int64_t request_timestamp;
};

/* The body of the history of a player. */
struct history_body {
	char user_id[EXTERNAL_ID_SIZE];
	int64_t after; /* 0 when absent: from the newest transaction */
	int64_t limit;
	int64_t request_timestamp;
};

/* The bodies of a dealer's own callbacks. */
struct callbacks_body {
	char state[CASINO_ID_SIZE]; /* "parked" or "due" */
	int64_t after;              /* 0 when absent: from the newest */
	int64_t limit;
};
struct resend_body {
	char webhook_id[CASINO_ID_SIZE];
};

/*
 * How group C names a player: by player_id, or by casino_id and user_id. If all three are given,
 * they must name the same player; otherwise the answer is user_not_found.
 */
struct player_body {
	char player_id[EXTERNAL_ID_SIZE]; /* "": not given */
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};
/* The rows of the member `player` of @struct_. */
#define BODY_PLAYER(struct_)                                                                       \
	BODY_OPTIONAL("player_id", BODY_ID, struct_, player.player_id),                            \
		BODY_OPTIONAL("casino_id", BODY_NAME, struct_, player.casino_id),                  \
		BODY_OPTIONAL("user_id", BODY_ID, struct_, player.user_id)

/* The body of C balance. */
struct player_balance_body {
	struct player_body player;
};

/* The body of C players. */
struct register_body {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};

/* The body of C bets. */
struct bet_request_body {
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_body player;
	char game_id[EXTERNAL_ID_SIZE];
	money_t bet_amount;
	char remark[REMARK_SIZE]; /* "" when absent */
	struct bytes user_bet;    /* none when absent: the dealer is sent {} */
	bool addition;            /* false when absent */
};

/* The body of C results. */
struct result_request_body {
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_body player;
	char game_id[EXTERNAL_ID_SIZE];
	enum round_result result;
	bool has_payout; /* a win needs one; a loss pays 0, a refund what was staked */
	money_t payout_amount;
	char remark[REMARK_SIZE];
	struct bytes user_bet; /* none when absent: not sent */
	struct bytes game_result;
	struct bytes user_bet_result;
};

/*
 * The body of C results/batch, and of one of its items: a result without request_transaction_id.
 * Each item is a struct result_request_body.
 */
struct batch_request_body {
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct bytes results; /* the text of an array */
};

/* The body of C bets/cancel. */
struct cancel_request_body {
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_body player;
	char game_id[EXTERNAL_ID_SIZE];
	char bet_request_transaction_id[EXTERNAL_ID_SIZE];
	char reason[REASON_SIZE];
};

/* The body of C corrections. */
struct correction_request_body {
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_body player;
	char game_id[EXTERNAL_ID_SIZE];
	int64_t revision;
	enum round_result result;
	bool has_payout; /* as of C results */
	money_t payout_amount;
	char reason[REASON_SIZE];
	struct bytes game_result; /* none when absent: unchanged */
	struct bytes user_bet_result;
	bool allow_shortfall; /* false when absent */
};

union any_body {
	struct transfer_body transfer;
	struct transfer_inquire_body transfer_inquire;
	struct balance_body balance;
	struct stat_body stat;
	struct inquire_body inquire;
	struct feed_body feed;
	struct history_body history;
	struct callbacks_body callbacks;
	struct resend_body resend;
	struct player_balance_body player_balance;
	struct register_body enrolment;
	struct bet_request_body bet;
	struct result_request_body result;
	struct batch_request_body batch;
	struct cancel_request_body cancel;
	struct correction_request_body correction;
};

/* One table for each operation with a body (wire/operations.def). */
extern const struct body_field transfer_body_fields[];
extern const struct body_field transfer_out_body_fields[];
extern const struct body_field transfer_inquire_body_fields[];
extern const struct body_field balance_body_fields[];
extern const struct body_field stat_body_fields[];
extern const struct body_field inquire_body_fields[];
extern const struct body_field feed_body_fields[];
extern const struct body_field history_body_fields[];
extern const struct body_field callbacks_body_fields[];
extern const struct body_field resend_body_fields[];
extern const struct body_field player_balance_body_fields[];
extern const struct body_field register_body_fields[];
extern const struct body_field bet_request_body_fields[];
extern const struct body_field result_request_body_fields[];
extern const struct body_field result_item_body_fields[];
extern const struct body_field batch_request_body_fields[];
extern const struct body_field cancel_request_body_fields[];
extern const struct body_field correction_request_body_fields[];

#endif

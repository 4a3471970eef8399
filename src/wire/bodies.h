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

/* The body of A1 and A2. */
struct transfer_body {
	money_t amount;
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
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

union any_body {
	struct transfer_body transfer;
	struct balance_body balance;
	struct stat_body stat;
	struct inquire_body inquire;
	struct player_balance_body player_balance;
	struct register_body enrolment;
	struct bet_request_body bet;
	struct result_request_body result;
};

/* One table for each operation with a body (wire/operations.def). */
extern const struct body_field transfer_body_fields[];
extern const struct body_field balance_body_fields[];
extern const struct body_field stat_body_fields[];
extern const struct body_field inquire_body_fields[];
extern const struct body_field player_balance_body_fields[];
extern const struct body_field register_body_fields[];
extern const struct body_field bet_request_body_fields[];
extern const struct body_field result_request_body_fields[];

#endif

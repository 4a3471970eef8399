/*
 * handlers - one function a route: from a checked request to a reply.
 *
 * A handler is called with the caller known and the body parsed by the route's table. It makes a
 * command of them, asks the ledger and fills the reply; it sees neither storage nor JSON.
 */
#ifndef WEB_HANDLERS_HANDLERS_H
#define WEB_HANDLERS_HANDLERS_H

#include "callback/sender.h"
#include "fcgi/request.h"
#include "link/client.h"
#include "web/reply.h"
#include "wire/body.h"

/* The body of A1 and A2. */
struct transfer_body {
	money_t amount;
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};
extern const struct body_field transfer_body_fields[];

/* The body of A3. */
struct balance_body {
	char user_id[EXTERNAL_ID_SIZE];
	int64_t request_timestamp;
};
extern const struct body_field balance_body_fields[];

/* The body of A4. */
enum { INCLUDE_BET_SUMMARY = 1 << 0 };
struct stat_body {
	char user_id[EXTERNAL_ID_SIZE];
	uint32_t include_data; /* INCLUDE_...; 0 when absent */
	int64_t request_timestamp;
};
extern const struct body_field stat_body_fields[];

/* The body of A5. */
struct inquire_body {
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
};
extern const struct body_field inquire_body_fields[];

/*
 * How group C names a player: by player_id, or by casino_id and user_id. Who gives all three must
 * mean one player; else he is user_not_found.
 */
struct player_body {
	char player_id[EXTERNAL_ID_SIZE]; /* "": not given */
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};
/* The rows of the member `player` of @struct_. */
#define BODY_PLAYER(struct_)                                                                       \
	BODY_OPTIONAL("player_id", BODY_ID, struct_, player.player_id),                            \
	BODY_OPTIONAL("casino_id", BODY_NAME, struct_, player.casino_id),                          \
	BODY_OPTIONAL("user_id", BODY_ID, struct_, player.user_id)

/* The body of C balance. */
struct player_balance_body {
	struct player_body player;
};
extern const struct body_field player_balance_body_fields[];

/* The body of C players. */
struct register_body {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};
extern const struct body_field register_body_fields[];

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
extern const struct body_field bet_request_body_fields[];

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
extern const struct body_field result_request_body_fields[];

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

/* A request on its way to its reply. */
struct web_request {
	const struct http_request *request;
	const struct keyring_entry *caller; /* who calls; NULL on routes that are not signed */
	union any_body body;
	struct link *link;
	int64_t deadline_ms;         /* boot time, for what asks the ledger; see send_callback_run() */
	uint32_t ledger_deadline_ms; /* how long one call to it may take */
	uint32_t request_window_s;   /* request_timestamp may differ this much; 0: any */
	struct sender *sender;       /* of group C; else NULL */
	uint32_t callback_timeout_ms;
	const char *counters_path;   /* of COUNTERS_FILE */
	int64_t sweep_overdue_ms;    /* a sweeper that did not run for so long is missed */
	struct http_reply *reply;
};

/* A1, A2: TRANSFER. */
void handle_transfer_in(struct web_request *web);
void handle_transfer_out(struct web_request *web);

/* A3: BALANCE, after the window of request_timestamp (api.md A 6). */
void handle_balance(struct web_request *web);

/* A4: USER_STAT, after the same window. */
void handle_stat(struct web_request *web);

/*
 * A5: RESULT_INQUIRE, page by page. Objects are shown byte for byte as the game server gave them,
 * but for blanks where they have line breaks.
 */
void handle_inquire(struct web_request *web);

/* C players: PLAYER_REGISTER. */
void handle_register(struct web_request *web);

/* C balance: PLAYER_BALANCE, and for a seamless dealer B1. */
void handle_player_balance(struct web_request *web);

/* C bets: BET_PLACE, and for a seamless dealer B2. */
void handle_bet(struct web_request *web);

/* C results: ROUND_SETTLE, and for a seamless dealer the first attempt of B3. */
void handle_result(struct web_request *web);

/* Liveness of the worker itself: never asks the ledger. */
void handle_healthz(struct web_request *web);

/*
 * Whether the ledger answers, the disk is above the mark and the sweeper is at work: 200 or 503,
 * with each check by its name.
 */
void handle_readyz(struct web_request *web);

/* The figures of all workers and of the ledger, as text (metrics/exposition.h). */
void handle_metrics(struct web_request *web);

/* Until when the two wait for the ledger: boot time. */
int64_t web_request_stats_deadline_ms(const struct web_request *web);

/*
 * True: @timestamp_ms, as the caller sent it, is in the window around now (api.md A 6). False: it is
 * not, and the reply says so.
 */
bool web_request_is_fresh(struct web_request *web, int64_t timestamp_ms);

/* Fills @ref with whom @body names. False: nobody, and the reply says so. */
bool web_request_player(struct web_request *web, const struct player_body *body,
	struct player_ref *ref);

/*
 * Replies to a dealer with what a call to the ledger came to: @status, and on STATUS_OK @record,
 * which begins with @verdict. A dealer that the ledger no longer knows is a caller who is not
 * known.
 */
void web_request_answer(struct web_request *web, enum status status, enum call_kind kind,
	const struct verdict *verdict, const struct field *table, const void *record);

#endif

/*
 * handlers - one function for each route, from a checked request to a reply.
 *
 * The caller is known, and the body was parsed by the route's table. A handler makes a command,
 * calls the ledger and fills the reply. It knows neither storage nor JSON text.
 */
#ifndef WEB_HANDLERS_HANDLERS_H
#define WEB_HANDLERS_HANDLERS_H

#include "web/request/web_request.h"

/* A1, A2: TRANSFER. */
void handle_transfer_in(struct web_request *web);
void handle_transfer_out(struct web_request *web);

/*
 * TRANSFER_INQUIRE, after the window of request_timestamp (contract, "Final answer about a transfer"). Shows
 * the answer of the transfer byte for byte as a repeated call gets it.
 */
void handle_transfer_inquire(struct web_request *web);

/* A3: BALANCE, after the window of request_timestamp (contract, "Request timestamp"). */
void handle_balance(struct web_request *web);

/* A4: USER_STAT, after the same window. */
void handle_stat(struct web_request *web);

/*
 * A5: RESULT_INQUIRE, page by page. Shows objects byte for byte as the game server sent them,
 * with blanks in place of line breaks.
 */
void handle_inquire(struct web_request *web);

/*
 * FEED, command by command, until the limit, the end, or a bound. If the page is empty, the call
 * waits (web/request/feed_waits.h). The history reads one player's transactions, and never waits.
 */
void handle_feed(struct web_request *web);
void handle_history(struct web_request *web);

/* CALLBACK_PAGE, command by command, and CALLBACK_RESEND: a dealer's own callbacks. */
void handle_callbacks(struct web_request *web);
void handle_resend(struct web_request *web);

/* C players: PLAYER_REGISTER. */
void handle_register(struct web_request *web);

/* C balance: PLAYER_BALANCE, and for a seamless dealer B1. */
void handle_player_balance(struct web_request *web);

/* C bets: BET_PLACE, and for a seamless dealer B2. */
void handle_bet(struct web_request *web);

/* C bets/cancel: BET_CANCEL, and for a seamless dealer the first attempt of B4. */
void handle_bet_cancel(struct web_request *web);

/* C results: ROUND_SETTLE, and for a seamless dealer the first attempt of B3. */
void handle_result(struct web_request *web);

/* C results/batch: SETTLE_BATCH. The sweeper sends the callbacks. */
void handle_result_batch(struct web_request *web);

/* C corrections: ROUND_CORRECT, and for a seamless dealer the first attempt of B3 or B5. */
void handle_correction(struct web_request *web);

/* Reports that the worker is alive, without calling the ledger. */
void handle_healthz(struct web_request *web);

/*
 * Reports whether the ledger answers, the disk is above the mark and the sweeper runs. Answers
 * 200 or 503, with the name of each check.
 */
void handle_readyz(struct web_request *web);

/* Prints the metrics of all workers and of the ledger as text (metrics/exposition.h). */
void handle_metrics(struct web_request *web);

/*
 * Asks the ledger of cell @at for its figures, as handle_readyz() and handle_metrics() do. They wait no longer than their
 * clients do.
 */
enum status web_request_ask_figures(struct web_request *web, unsigned int at,
	const struct metrics_cmd *cmd, struct metrics_result *result);

/* Asks the ledger of cell @at, and returns true if it answers. Only with several cells. */
bool web_request_cell_up(struct web_request *web, unsigned int at);

/*
 * Fills @ref with the player that @body names. If it names none, answers with an error and
 * returns false.
 */
bool web_request_player_named(struct web_request *web, const struct player_body *body,
	struct player_ref *ref);

/* Does the same, and sets @web->link to the cell of the player (web_request_route()). */
bool web_request_player(struct web_request *web, const struct player_body *body,
	struct player_ref *ref);

#endif

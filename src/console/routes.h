/*
 * routes - the table of the console's pages: address, methods, the least role, and the function.
 */
#ifndef CONSOLE_ROUTES_H
#define CONSOLE_ROUTES_H

#include "console/page.h"

enum route_method { ROUTE_GET = 1, ROUTE_POST = 2 };

struct console_route {
	const char *path; /* "#" stands for a number above 0 */
	unsigned int methods;
	enum role least;
	bool open; /* served without a session: the sign-in */
	bool csv;  /* the list of the same page as CSV */
	enum outcome (*show)(struct page *page);
};

/*
 * Returns the route of @path below the base path, and the number that the path holds. NULL: there is
 * none.
 */
const struct console_route *routes_find(const char *path, uint64_t *number);
/* Returns the route @at, counted from 0, or NULL after the last one. */
const struct console_route *routes_number(unsigned int at);

enum outcome page_overview(struct page *page);
enum outcome page_sign_in(struct page *page);
enum outcome page_sign_out(struct page *page);
enum outcome page_zone(struct page *page);
enum outcome page_search(struct page *page);
enum outcome page_dealers(struct page *page);
enum outcome page_dealer(struct page *page);
enum outcome page_days(struct page *page);
enum outcome page_player(struct page *page);
enum outcome page_player_balance(struct page *page);
enum outcome page_transaction(struct page *page);
enum outcome page_bet(struct page *page);
enum outcome page_round(struct page *page);
enum outcome page_transfer(struct page *page);
enum outcome page_transactions(struct page *page);
enum outcome page_callbacks(struct page *page);
enum outcome page_callback(struct page *page);
enum outcome page_callback_action(struct page *page);
enum outcome page_replays(struct page *page);
enum outcome page_replay(struct page *page);
enum outcome page_replay_preview(struct page *page);
enum outcome page_replay_start(struct page *page);
enum outcome page_replay_stop(struct page *page);
enum outcome page_refused(struct page *page);
enum outcome page_audit(struct page *page);
enum outcome page_explain(struct page *page);
enum outcome page_ping(struct page *page);
enum outcome page_recon(struct page *page);
enum outcome page_health(struct page *page);
/* The page of /health without a ledger, which cannot confirm a session then: it names no installation. */
void page_health_down(struct page *page);
enum outcome page_operators(struct page *page);

#endif

/*
 * pages - the functions of the pages, which the table of routes.c names. Each writes its page, or the CSV of its list.
 */
#ifndef CONSOLE_PAGES_PAGES_H
#define CONSOLE_PAGES_PAGES_H

#include "console/common/route.h"

enum outcome page_overview(struct page *page);
enum outcome page_sign_in(struct page *page);
enum outcome page_sign_out(struct page *page);
enum outcome page_zone(struct page *page);
enum outcome page_search(struct page *page);
enum outcome page_dealers(struct page *page);
enum outcome page_dealer(struct page *page);
enum outcome page_dealer_suspend(struct page *page);
enum outcome page_days(struct page *page);
enum outcome page_players(struct page *page);
enum outcome page_player(struct page *page);
/* The sums of a player's days, as CSV only. */
enum outcome page_player_days(struct page *page);
enum outcome page_player_suspend(struct page *page);
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

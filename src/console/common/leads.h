/* leads - the addresses of the pages to which rows lead. */
#ifndef CONSOLE_COMMON_LEADS_H
#define CONSOLE_COMMON_LEADS_H

#include "console/common/page.h"
#include "console/common/view.h"

struct page_address lead_player(const struct page *page, const char *player_id);
struct page_address lead_dealer(const struct page *page, const char *casino_id);
/* The page of a dealer's day, "YYYY-MM-DD". */
struct page_address lead_day(const struct page *page, const char *casino_id, const char *date);
struct page_address lead_round(const struct page *page, const char *player_id, const char *game_id);
struct page_address lead_number(const struct page *page, const char *path, uint64_t number);
/* The page of a request key of a dealer (SCOPE_DEALER) or of a game server (SCOPE_CLIENT). */
struct page_address lead_request(const struct page *page, enum request_scope scope,
	const char *owner, const char *reference);

/*
 * Leads of columns. Each reads the members of the row that have the names of the ids: player_id, casino_id,
 * player_id with game_id, transaction_id, event. There is no lead if one of them is "" or 0.
 */
void lead_to_player(struct page *page, const struct view_source *source, struct page_address *to);
void lead_to_dealer(struct page *page, const struct view_source *source, struct page_address *to);
void lead_to_round(struct page *page, const struct view_source *source, struct page_address *to);
void lead_to_transaction(struct page *page, const struct view_source *source,
	struct page_address *to);
void lead_to_bet(struct page *page, const struct view_source *source, struct page_address *to);
void lead_to_callback(struct page *page, const struct view_source *source, struct page_address *to);

#endif

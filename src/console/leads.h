/* leads - the addresses of the pages to which rows lead. */
#ifndef CONSOLE_LEADS_H
#define CONSOLE_LEADS_H

#include "console/page.h"

struct page_address lead_player(const struct page *page, const char *player_id);
struct page_address lead_dealer(const struct page *page, const char *casino_id);
/* The page of a dealer's day, "YYYY-MM-DD". */
struct page_address lead_day(const struct page *page, const char *casino_id, const char *date);
struct page_address lead_round(const struct page *page, const char *player_id, const char *game_id);
struct page_address lead_number(const struct page *page, const char *path, uint64_t number);
/* The page of a request key of a dealer (SCOPE_DEALER) or of a game server (SCOPE_CLIENT). */
struct page_address lead_request(const struct page *page, enum request_scope scope,
	const char *owner, const char *reference);

#endif

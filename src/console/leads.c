#include "console/leads.h"

struct page_address lead_player(const struct page *page, const char *player_id)
{
	struct page_address to = page_address(page, "/player");

	address_add(&to, "id", player_id);
	return to;
}

struct page_address lead_dealer(const struct page *page, const char *casino_id)
{
	struct page_address to = page_address(page, "/dealer");

	address_add(&to, "id", casino_id);
	return to;
}

struct page_address lead_day(const struct page *page, const char *casino_id, const char *date)
{
	struct page_address to = page_address(page, "/days");

	address_add(&to, "casino", casino_id);
	address_add(&to, "day", date);
	return to;
}

struct page_address lead_round(const struct page *page, const char *player_id, const char *game_id)
{
	struct page_address to = page_address(page, "/round");

	address_add(&to, "player", player_id);
	address_add(&to, "game", game_id);
	return to;
}

struct page_address lead_number(const struct page *page, const char *path, uint64_t number)
{
	struct page_address to = page_address(page, path);

	address_number(&to, number);
	return to;
}

struct page_address lead_request(const struct page *page, enum request_scope scope,
	const char *owner, const char *reference)
{
	struct page_address to = page_address(page, "/transfer");

	address_add(&to, "of", request_scope_names[scope]);
	address_add(&to, "owner", owner);
	address_add(&to, "reference", reference);
	return to;
}

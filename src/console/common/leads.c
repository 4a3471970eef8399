#include "console/common/leads.h"

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

void lead_to_player(struct page *page, const struct view_source *source, struct page_address *to)
{
	const char *player_id = view_source_text(source, "player_id");

	if (player_id[0])
		*to = lead_player(page, player_id);
}

void lead_to_dealer(struct page *page, const struct view_source *source, struct page_address *to)
{
	const char *casino_id = view_source_text(source, "casino_id");

	if (casino_id[0])
		*to = lead_dealer(page, casino_id);
}

void lead_to_round(struct page *page, const struct view_source *source, struct page_address *to)
{
	const char *player_id = view_source_text(source, "player_id");
	const char *game_id = view_source_text(source, "game_id");

	if (player_id[0] && game_id[0])
		*to = lead_round(page, player_id, game_id);
}

/* Leads to the page below @path of the number in @member. */
static void lead_to_number(struct page *page, const struct view_source *source, const char *member,
	const char *path, struct page_address *to)
{
	const uint64_t number = view_source_number(source, member);

	if (number)
		*to = lead_number(page, path, number);
}

void lead_to_transaction(struct page *page, const struct view_source *source,
	struct page_address *to)
{
	lead_to_number(page, source, "transaction_id", "/transactions", to);
}

void lead_to_bet(struct page *page, const struct view_source *source, struct page_address *to)
{
	lead_to_number(page, source, "transaction_id", "/bets", to);
}

void lead_to_callback(struct page *page, const struct view_source *source, struct page_address *to)
{
	lead_to_number(page, source, "event", "/callbacks", to);
}

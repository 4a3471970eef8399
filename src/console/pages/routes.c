#include "console/pages/routes.h"

#include "console/pages/pages.h"

#include "base/text.h"

#include <string.h>

/* clang-format off */
static const struct console_route routes[] = {
	{"/", ROUTE_GET, ROLE_READ, false, false, page_overview},
	{"/sign-in", ROUTE_GET | ROUTE_POST, ROLE_READ, true, false, page_sign_in},
	{"/sign-out", ROUTE_POST, ROLE_READ, false, false, page_sign_out},
	{"/zone", ROUTE_POST, ROLE_READ, false, false, page_zone},
	{"/search", ROUTE_GET, ROLE_READ, false, false, page_search},
	{"/dealers", ROUTE_GET, ROLE_READ, false, false, page_dealers},
	{"/dealers.csv", ROUTE_GET, ROLE_READ, false, true, page_dealers},
	{"/dealer", ROUTE_GET, ROLE_READ, false, false, page_dealer},
	{"/days", ROUTE_GET, ROLE_READ, false, false, page_days},
	{"/days.csv", ROUTE_GET, ROLE_READ, false, true, page_days},
	{"/dealer/suspend", ROUTE_POST, ROLE_ADMIN, false, false, page_dealer_suspend},
	{"/dealer/ping", ROUTE_POST, ROLE_SUPPORT, false, false, page_ping},
	{"/dealer/recon", ROUTE_POST, ROLE_FINANCE, false, false, page_recon},
	{"/players", ROUTE_GET, ROLE_READ, false, false, page_players},
	{"/players.csv", ROUTE_GET, ROLE_READ, false, true, page_players},
	{"/player", ROUTE_GET, ROLE_READ, false, false, page_player},
	{"/player.csv", ROUTE_GET, ROLE_READ, false, true, page_player},
	{"/player/days.csv", ROUTE_GET, ROLE_READ, false, true, page_player_days},
	{"/player/suspend", ROUTE_POST, ROLE_SUPPORT, false, false, page_player_suspend},
	{"/player/balance", ROUTE_POST, ROLE_SUPPORT, false, false, page_player_balance},
	{"/transactions", ROUTE_GET, ROLE_READ, false, false, page_transactions},
	{"/transactions.csv", ROUTE_GET, ROLE_READ, false, true, page_transactions},
	{"/transactions/#", ROUTE_GET, ROLE_READ, false, false, page_transaction},
	{"/bets/#", ROUTE_GET, ROLE_READ, false, false, page_bet},
	{"/round", ROUTE_GET, ROLE_READ, false, false, page_round},
	{"/round.csv", ROUTE_GET, ROLE_READ, false, true, page_round},
	{"/transfer", ROUTE_GET, ROLE_READ, false, false, page_transfer},
	{"/callbacks", ROUTE_GET, ROLE_READ, false, false, page_callbacks},
	{"/callbacks.csv", ROUTE_GET, ROLE_READ, false, true, page_callbacks},
	{"/callbacks/#", ROUTE_GET, ROLE_READ, false, false, page_callback},
	{"/callbacks/#/attempts.csv", ROUTE_GET, ROLE_READ, false, true, page_callback},
	{"/callbacks/#/act", ROUTE_POST, ROLE_SUPPORT, false, false, page_callback_action},
	{"/replays", ROUTE_GET, ROLE_READ, false, false, page_replays},
	{"/replays.csv", ROUTE_GET, ROLE_READ, false, true, page_replays},
	{"/replays/preview", ROUTE_GET, ROLE_SUPPORT, false, false, page_replay_preview},
	{"/replays/start", ROUTE_POST, ROLE_SUPPORT, false, false, page_replay_start},
	{"/replays/#", ROUTE_GET, ROLE_READ, false, false, page_replay},
	{"/replays/#/stop", ROUTE_POST, ROLE_SUPPORT, false, false, page_replay_stop},
	{"/refused", ROUTE_GET, ROLE_READ, false, false, page_refused},
	{"/refused.csv", ROUTE_GET, ROLE_READ, false, true, page_refused},
	{"/explain", ROUTE_GET, ROLE_SUPPORT, false, false, page_explain},
	{"/health", ROUTE_GET | ROUTE_POST, ROLE_READ, false, false, page_health},
	{"/health.csv", ROUTE_GET, ROLE_READ, false, true, page_health},
	{"/audit", ROUTE_GET, ROLE_READ, false, false, page_audit},
	{"/audit.csv", ROUTE_GET, ROLE_READ, false, true, page_audit},
	{"/operators", ROUTE_GET, ROLE_ADMIN, false, false, page_operators},
	{"/operators.csv", ROUTE_GET, ROLE_ADMIN, false, true, page_operators},
};
/* clang-format on */

/* Returns true if @path is @pattern, where "#" is a number. */
static bool path_fits(const char *pattern, const char *path, uint64_t *number)
{
	const char *mark = strchr(pattern, '#');
	size_t before = mark ? (size_t)(mark - pattern) : 0, len;
	char digits[20];

	*number = 0;
	if (!mark)
		return strcmp(pattern, path) == 0;
	if (strncmp(pattern, path, before) != 0)
		return false;
	len = strcspn(path + before, "/");
	return path[before] != '0' && strcmp(path + before + len, mark + 1) == 0 &&
		text_copy_len(digits, sizeof(digits), path + before, len) &&
		text_unsigned(digits, INT64_MAX, number) && *number;
}

const struct console_route *routes_find(const char *path, uint64_t *number)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (path_fits(routes[i].path, path, number))
			return &routes[i];
	}
	return NULL;
}

const struct console_route *routes_number(unsigned int at)
{
	return at < sizeof(routes) / sizeof(routes[0]) ? &routes[at] : NULL;
}

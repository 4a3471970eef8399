#include "web/route.h"

#include "web/handlers/handlers.h"

#include <string.h>

const char *const serve_group_names[SERVE_GROUP_COUNT] = {
	[SERVE_WALLET] = "wallet",
	[SERVE_PLATFORM] = "platform",
};

static const struct route routes[] = {
	{.path = "/wallet-service/credit/transfer-in",
	 .group = SERVE_WALLET,
	 .methods = METHOD_POST,
	 .is_signed = true,
	 .body = transfer_body_fields,
	 .operation = OPERATION_TRANSFER_IN,
	 .handle = handle_transfer_in},
	{.path = "/wallet-service/credit/transfer-out",
	 .group = SERVE_WALLET,
	 .methods = METHOD_POST,
	 .is_signed = true,
	 .body = transfer_body_fields,
	 .operation = OPERATION_TRANSFER_OUT,
	 .handle = handle_transfer_out},
	{.path = "/user-service/user/3rdparty-get-balance",
	 .group = SERVE_WALLET,
	 .methods = METHOD_GET | METHOD_POST,
	 .is_signed = true,
	 .body = balance_body_fields,
	 .operation = OPERATION_BALANCE,
	 .handle = handle_balance},
	{.path = "/user-service/user/stat",
	 .group = SERVE_WALLET,
	 .methods = METHOD_GET | METHOD_POST,
	 .is_signed = true,
	 .body = stat_body_fields,
	 .operation = OPERATION_STAT,
	 .handle = handle_stat},
	{.path = "/game-service/bet_game/result-inquire",
	 .group = SERVE_WALLET,
	 .methods = METHOD_GET | METHOD_POST,
	 .is_signed = true,
	 .body = inquire_body_fields,
	 .operation = OPERATION_RESULT_INQUIRE,
	 .handle = handle_inquire},
	{.path = "/platform/players",
	 .group = SERVE_PLATFORM,
	 .methods = METHOD_POST,
	 .is_signed = true,
	 .body = register_body_fields,
	 .operation = OPERATION_PLAYERS,
	 .handle = handle_register},
	{.path = "/platform/balance",
	 .group = SERVE_PLATFORM,
	 .methods = METHOD_POST,
	 .is_signed = true,
	 .body = player_balance_body_fields,
	 .operation = OPERATION_PLAYER_BALANCE,
	 .handle = handle_player_balance},
	{.path = "/platform/bets",
	 .group = SERVE_PLATFORM,
	 .methods = METHOD_POST,
	 .is_signed = true,
	 .body = bet_request_body_fields,
	 .operation = OPERATION_BETS,
	 .handle = handle_bet},
	{.path = "/platform/results",
	 .group = SERVE_PLATFORM,
	 .methods = METHOD_POST,
	 .is_signed = true,
	 .body = result_request_body_fields,
	 .operation = OPERATION_RESULTS,
	 .handle = handle_result},
	{.path = "/healthz",
	 .group = SERVE_PLATFORM,
	 .methods = METHOD_GET,
	 .is_signed = false,
	 .serves_excess = true,
	 .body = NULL,
	 .operation = OPERATION_HEALTHZ,
	 .handle = handle_healthz},
	{.path = "/readyz",
	 .group = SERVE_PLATFORM,
	 .methods = METHOD_GET,
	 .is_signed = false,
	 .body = NULL,
	 .operation = OPERATION_READYZ,
	 .handle = handle_readyz},
	{.path = "/metrics",
	 .group = SERVE_PLATFORM,
	 .methods = METHOD_GET,
	 .is_signed = false,
	 .body = NULL,
	 .operation = OPERATION_METRICS,
	 .handle = handle_metrics},
};

const struct route *route_find(enum serve_group group, const char *base_path, const char *path)
{
	size_t len = strlen(base_path);

	/* The rest begins with a slash, as every route does: "/pcwx" is not below "/pcw". */
	if (strncmp(path, base_path, len) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (routes[i].group == group && strcmp(routes[i].path, path + len) == 0)
			return &routes[i];
	}
	return NULL;
}

const struct route *route_number(unsigned int number)
{
	return number < sizeof(routes) / sizeof(routes[0]) ? &routes[number] : NULL;
}

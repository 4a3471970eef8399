#include "web/route.h"

#include "web/handlers/handlers.h"

#include <string.h>

static const struct route routes[] = {
	{&http_operations[OPERATION_TRANSFER_IN], false, handle_transfer_in},
	{&http_operations[OPERATION_TRANSFER_OUT], false, handle_transfer_out},
	{&http_operations[OPERATION_TRANSFER_INQUIRE], false, handle_transfer_inquire},
	{&http_operations[OPERATION_BALANCE], false, handle_balance},
	{&http_operations[OPERATION_STAT], false, handle_stat},
	{&http_operations[OPERATION_RESULT_INQUIRE], false, handle_inquire},
	{&http_operations[OPERATION_FEED], false, handle_feed},
	{&http_operations[OPERATION_HISTORY], false, handle_history},
	{&http_operations[OPERATION_CALLBACKS], false, handle_callbacks},
	{&http_operations[OPERATION_CALLBACKS_RESEND], false, handle_resend},
	{&http_operations[OPERATION_PLAYERS], false, handle_register},
	{&http_operations[OPERATION_PLAYER_BALANCE], false, handle_player_balance},
	{&http_operations[OPERATION_BETS], false, handle_bet},
	{&http_operations[OPERATION_BETS_CANCEL], false, handle_bet_cancel},
	{&http_operations[OPERATION_RESULTS], false, handle_result},
	{&http_operations[OPERATION_RESULTS_BATCH], false, handle_result_batch},
	{&http_operations[OPERATION_CORRECTIONS], false, handle_correction},
	{&http_operations[OPERATION_HEALTHZ], true, handle_healthz},
	{&http_operations[OPERATION_READYZ], false, handle_readyz},
	{&http_operations[OPERATION_METRICS], false, handle_metrics},
};

const struct route *route_find(enum serve_group group, const char *base_path, const char *path)
{
	size_t len = strlen(base_path);

	/* The rest begins with a slash, as every route does: "/pcwx" is not below "/pcw". */
	if (strncmp(path, base_path, len) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (routes[i].operation->group == group &&
			strcmp(routes[i].operation->path, path + len) == 0)
			return &routes[i];
	}
	return NULL;
}

const struct route *route_number(unsigned int number)
{
	return number < sizeof(routes) / sizeof(routes[0]) ? &routes[number] : NULL;
}

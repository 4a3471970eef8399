/*
 * dealer_ping - implements `dealer ping`: requests a player's balance from a dealer's server and
 * prints the result.
 */
#include "admin/ping.h"

#include "cmd/ctl/common/output.h"

#include <string.h>

static const struct output_column outcome_columns[] = {
	{"outcome", "class", OUTPUT_PLAIN},
	{"HTTP status", "http_status", OUTPUT_IF_ANY},
	{"milliseconds", "ms", OUTPUT_PLAIN},
	{"dealer's error", "dealer_error_id", OUTPUT_IF_ANY},
	{"dealer's detail", "dealer_error_detail", OUTPUT_IF_ANY},
	{"note", "note", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

static enum outcome print_ping(struct ctl *ctl, const struct ping *ping,
	const struct player *player)
{
	const struct callback_outcome *outcome = &ping->outcome;
	char balance[MONEY_TEXT_MAX];
	struct output_pairs pairs;
	struct output_json json, error;
	enum outcome code;

	output_pairs_open(&pairs, ctl);
	output_pairs_add(&pairs, "asked at", "%s", ping->url);
	output_pairs_add(&pairs, "for user", "%s", player->user_id);
	output_pairs_fields(&pairs, callback_outcome_fields, outcome_columns, outcome);
	money_format(outcome->balance, 2, balance);
	if (outcome->has_balance)
		output_pairs_add(&pairs, "balance", "%s %s", balance, outcome->currency);
	code = output_pairs_close(&pairs);
	if (code != OUTCOME_DONE)
		return code;
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", player->casino_id);
	output_json_string(&json, "asked_user_id", player->user_id);
	output_json_string(&json, "url", ping->url);
	output_json_bool(&json, "ok", ping->code == OUTCOME_DONE);
	output_json_fields(&json, callback_outcome_fields, outcome);
	if (ping->error_id[0]) {
		output_json_open(&error, ctl);
		output_json_string(&error, "id", ping->error_id);
		output_json_string(&error, "detail", ping->error_detail);
		output_json_object(&json, "error", &error);
		ctl_tell(ping->error_id, "%s", ping->error_detail);
	}
	code = output_json_close(&json);
	return code == OUTCOME_DONE ? ping->code : code;
}

enum outcome ctl_dealer_ping(struct ctl *ctl)
{
	struct dealer dealer;
	struct player player;
	struct ping ping = {.code = OUTCOME_FAILED};
	enum outcome code =
		ping_find(&ctl->session, ctl->args[0], ctl->options[OPTION_USER], &dealer, &player);

	if (code == OUTCOME_DONE)
		code = ping_ask(&ctl->session, &player, &ping);
	if (code == OUTCOME_DONE && ping.end_failure.id[0])
		ctl_tell(ping.end_failure.id, "%s", ping.end_failure.detail);
	explicit_bzero(ping.target.keys, sizeof(ping.target.keys));
	return code == OUTCOME_DONE ? print_ping(ctl, &ping, &player) : code;
}

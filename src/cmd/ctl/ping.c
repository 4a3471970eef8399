/*
 * ping - dealer ping: asks a dealer's server for a player's balance, as a game server's call would.
 */
#include "cmd/ctl/ping.h"

#include "admin/list.h"
#include "admin/names.h"
#include "callback/granted.h"
#include "cmd/ctl/output.h"

#include <signal.h>
#include <stdio.h>
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

enum outcome ping_find(struct ctl *ctl, struct dealer *dealer, struct player *player)
{
	const char *user = ctl->options[OPTION_USER];
	struct list list;
	enum outcome code = names_dealer(&ctl->session, ctl->args[0], dealer);
	bool found;

	if (code != OUTCOME_DONE)
		return code;
	if (dealer->mode != WALLET_SEAMLESS)
		return ctl_fail(ctl, OUTCOME_FAILED, "not_seamless",
			"dealer %s has a transfer wallet: it takes no callbacks",
			dealer->casino_id);
	if (!dealer->url[0])
		return ctl_fail(ctl, OUTCOME_FAILED, "no_url",
			"dealer %s has no URL: creditbridgectl dealer set %s --url URL",
			dealer->casino_id, dealer->casino_id);
	if (user)
		return names_player(&ctl->session, dealer->casino_id, user, player);
	memset(player, 0, sizeof(*player));
	memcpy(player->casino_id, dealer->casino_id, sizeof(player->casino_id));
	list_open(&list, &ctl->session, RECORD_PLAYER, false, 1, player);
	list.page = 1;
	found = list_next(&list, player);
	code = list_end(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && !found)
		return ctl_fail(ctl, OUTCOME_FAILED, "no_player",
			"dealer %s has no player to ask for: creditbridgectl player add %s USER",
			dealer->casino_id, dealer->casino_id);
	return code;
}

static bool send_inquiry(const struct ctl *ctl, const struct callback_request *request,
	struct callback_outcome *outcome)
{
	const struct sender_options options = sender_options_of(&ctl->session.settings);
	struct sender *sender = sender_new(&options);

	if (!sender)
		return false;
	/* A dealer that closes the connection is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	callback_send(sender, request, outcome);
	sender_free(sender);
	return true;
}

static void judge(struct ping *ping, const char *user_id, const char *currency)
{
	static const struct {
		const char *id;
		const char *words;
		enum outcome code;
	} errors[CALLBACK_CLASS_COUNT] = {
		[CALLBACK_UNKNOWN] = {"dealer_timeout", "the dealer gave no answer that can be used", OUTCOME_FAILED},
		[CALLBACK_SUCCESS] = {"dealer_bad_answer",
			"the answer does not hold this player's user_id, balance and currency",
			OUTCOME_FAILED},
		[CALLBACK_REFUSED] = {"dealer_refused", "the dealer refused the call", OUTCOME_FAILED},
		[CALLBACK_NOT_SENT] = {"dealer_unreachable", "nothing was sent", OUTCOME_UNREACHABLE},
	};
	const struct callback_outcome *outcome = &ping->outcome;
	const char *note = outcome->class == CALLBACK_REFUSED && outcome->dealer_error_id[0]
		? outcome->dealer_error_id : outcome->note;

	ping->error_id = "";
	ping->error_detail[0] = '\0';
	ping->code = OUTCOME_DONE;
	if (callback_balance_ok(outcome, user_id, currency))
		return;
	ping->error_id = errors[outcome->class].id;
	ping->code = errors[outcome->class].code;
	if (outcome->class == CALLBACK_UNKNOWN && !outcome->http_status)
		ping->code = OUTCOME_UNREACHABLE;
	snprintf(ping->error_detail, sizeof(ping->error_detail), "%s%s%s",
		errors[outcome->class].words, note[0] ? ": " : "", note);
}

static enum outcome print(struct ctl *ctl, const struct ping *ping, const struct player *player)
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

/* Gives the ledger's permit back. Without that it comes back when its lease is over. */
static void end_inquiry(struct ctl *ctl, const struct callback_end_cmd *cmd)
{
	struct callback_end_result result;
	struct failure failure;

	session_try(&ctl->session, COMMAND_CALLBACK_END, cmd, &result, &failure);
	if (failure.id[0])
		ctl_tell(failure.id, "%s", failure.detail);
}

enum outcome ping_ask(struct ctl *ctl, const struct player *player, struct ping *ping)
{
	struct player_balance_cmd cmd = {.player = {.player_id = ""}};
	struct player_balance_result result;
	struct callback_grant *grant = &result.send;
	struct granted granted;
	struct callback_request request;
	struct failure failure;
	enum outcome code;
	bool sent;

	memcpy(cmd.player.player_id, player->player_id, sizeof(cmd.player.player_id));
	code = session_try(&ctl->session, COMMAND_PLAYER_BALANCE, &cmd, &result, &failure);
	if (code == OUTCOME_FAILED && result.verdict.refusal == REFUSAL_DEALER_BUSY)
		code = OUTCOME_BUSY;
	if (code != OUTCOME_DONE)
		return failure.id[0] ? ctl_fail(ctl, code, failure.id, "%s", failure.detail) : code;
	if (!grant->event)
		return ctl_fail(ctl, OUTCOME_FAILED, "not_seamless",
			"the mode of the dealer's wallet was changed meanwhile: repeat this");
	callback_target_url(&grant->target, ping->url);
	ping->event = grant->event;
	ping->target = grant->target;
	request = granted_request(&granted, grant, player->casino_id,
		ctl->session.settings.callback_timeout_ms);
	sent = send_inquiry(ctl, &request, &ping->outcome);
	explicit_bzero(grant->target.keys, sizeof(grant->target.keys));
	if (!sent)
		return ctl_no_memory(ctl);
	granted.end.outcome = ping->outcome;
	granted.end.is_look = true;
	end_inquiry(ctl, &granted.end);
	judge(ping, result.user_id, result.currency);
	return OUTCOME_DONE;
}

enum outcome ctl_dealer_ping(struct ctl *ctl)
{
	struct dealer dealer;
	struct player player;
	struct ping ping = {.code = OUTCOME_FAILED};
	enum outcome code = ping_find(ctl, &dealer, &player);

	if (code == OUTCOME_DONE)
		code = ping_ask(ctl, &player, &ping);
	explicit_bzero(ping.target.keys, sizeof(ping.target.keys));
	return code == OUTCOME_DONE ? print(ctl, &ping, &player) : code;
}

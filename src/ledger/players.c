/*
 * players - registering, suspending, and A3: the credit held on the platform.
 */
#include "ledger/audit.h"
#include "ledger/keys.h"

#include <stdio.h>

void balance_keys(const void *arg, struct ws *ws)
{
	const struct balance_cmd *cmd = arg;
	struct dealer dealer = dealer_named(cmd->casino_id);
	struct player player = player_named(cmd->casino_id, cmd->user_id);

	ws_want(ws, RECORD_DEALER, &dealer);
	ws_want(ws, RECORD_PLAYER, &player);
}

void balance_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct balance_cmd *cmd = arg;
	struct balance_result *result = out;
	struct dealer dealer_key = dealer_named(cmd->casino_id);
	struct player player_key = player_named(cmd->casino_id, cmd->user_id);
	const struct dealer *dealer = ws_get(ws, RECORD_DEALER, &dealer_key);
	const struct player *player = ws_get(ws, RECORD_PLAYER, &player_key);

	(void)context;
	if (!dealer || !player) {
		result->verdict.refusal =
			dealer ? REFUSAL_USER_NOT_FOUND : REFUSAL_INVALID_SIGNATURE;
		return;
	}
	text_copy(result->user_id, sizeof(result->user_id), player->user_id);
	text_copy(result->player_id, sizeof(result->player_id), player->player_id);
	result->balance = player->balance;
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
}

static struct player_name name_of(const struct player_put_cmd *cmd)
{
	struct player_name name;

	memset(&name, 0, sizeof(name));
	text_copy(name.player_id, sizeof(name.player_id), cmd->player_id);
	text_copy(name.casino_id, sizeof(name.casino_id), cmd->casino_id);
	text_copy(name.user_id, sizeof(name.user_id), cmd->user_id);
	return name;
}

void player_put_keys(const void *arg, struct ws *ws)
{
	const struct player_put_cmd *cmd = arg;
	struct dealer dealer = dealer_named(cmd->casino_id);
	struct total total = total_named(cmd->casino_id);
	struct player player = player_named(cmd->casino_id, cmd->user_id);
	struct player_name name = name_of(cmd);

	ws_want(ws, RECORD_DEALER, &dealer);
	ws_want(ws, RECORD_TOTAL, &total);
	ws_want(ws, RECORD_PLAYER, &player);
	ws_want(ws, RECORD_PLAYER_NAME, &name);
	audit_keys(ws, &cmd->operator);
}

static void trail(const struct player_put_cmd *cmd, const struct apply_context *context,
	struct ws *ws, const char *action, const struct player *player)
{
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];

	snprintf(object, sizeof(object), "player %s/%s", cmd->casino_id, cmd->user_id);
	snprintf(detail, sizeof(detail), "player_id=%s", player->player_id);
	audit_write(ws, context, &cmd->operator, action, object, detail);
}

static enum refusal player_create(const struct player_put_cmd *cmd,
	const struct apply_context *context, struct ws *ws, const struct dealer *dealer,
	struct player *player)
{
	struct total total_key = total_named(cmd->casino_id), total;
	struct player_name name = name_of(cmd);
	const struct total *stored = ws_get(ws, RECORD_TOTAL, &total_key);

	if (cmd->change_suspended)
		return REFUSAL_USER_NOT_FOUND;
	if (dealer->suspended)
		return REFUSAL_DEALER_SUSPENDED;
	/* 100 random bits: two players with one id means that the caller's randomness is broken. */
	if (strlen(cmd->player_id) != PLAYER_ID_SIZE - 1 || ws_get(ws, RECORD_PLAYER_NAME, &name))
		return REFUSAL_BAD_REQUEST;
	*player = player_named(cmd->casino_id, cmd->user_id);
	text_copy(player->player_id, sizeof(player->player_id), cmd->player_id);
	player->created_ms = context->now_ms;
	total = stored ? *stored : total_key;
	total.players++;
	ws_put(ws, RECORD_PLAYER, player);
	ws_append(ws, RECORD_PLAYER_NAME, &name);
	ws_put(ws, RECORD_TOTAL, &total);
	trail(cmd, context, ws, "player add", player);
	return REFUSAL_NONE;
}

void player_put_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct player_put_cmd *cmd = arg;
	struct player_put_result *result = out;
	struct dealer dealer_key = dealer_named(cmd->casino_id);
	struct player player = player_named(cmd->casino_id, cmd->user_id);
	const struct dealer *dealer = ws_get(ws, RECORD_DEALER, &dealer_key);
	const struct player *stored = ws_get(ws, RECORD_PLAYER, &player);

	if (!external_id_valid(cmd->user_id) || !external_id_valid(cmd->operator.operation_id)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	if (!dealer) {
		result->verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
		return;
	}
	if (!stored) {
		result->verdict.refusal = player_create(cmd, context, ws, dealer, &player);
		if (result->verdict.refusal != REFUSAL_NONE)
			return;
		result->created = true;
	} else {
		player = *stored;
		result->created = audit_seen(ws, &cmd->operator) && !cmd->change_suspended;
	}
	if (cmd->change_suspended && player.suspended != cmd->suspended &&
		!audit_seen(ws, &cmd->operator)) {
		player.suspended = cmd->suspended;
		ws_put(ws, RECORD_PLAYER, &player);
		trail(cmd, context, ws, cmd->suspended ? "player suspend" : "player resume",
			&player);
	}
	text_copy(result->casino_id, sizeof(result->casino_id), player.casino_id);
	text_copy(result->user_id, sizeof(result->user_id), player.user_id);
	text_copy(result->player_id, sizeof(result->player_id), player.player_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
	result->suspended = player.suspended;
	result->balance = player.balance;
}

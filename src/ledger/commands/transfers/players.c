/*
 * players - registering, suspending, and A3: the credit held on the platform.
 */
#include "ledger/commands/ops.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/life.h"
#include "ledger/rows/moves.h"
#include "ledger/rows/player_stats.h"
#include "ledger/rows/resolve_player.h"

#include <stdio.h>
#include <string.h>

/* Declares the stakes of the player once it is loaded. A seamless dealer's players have none here. */
static void want_staked(struct ws *ws, const struct dealer *dealer_key,
	const struct player *player_key)
{
	const struct dealer *dealer;
	const struct player *player;

	if (!ws_loaded(ws, RECORD_DEALER, dealer_key) || !ws_loaded(ws, RECORD_PLAYER, player_key))
		return;
	dealer = ws_get(ws, RECORD_DEALER, dealer_key);
	player = ws_get(ws, RECORD_PLAYER, player_key);
	if (dealer && player && dealer->mode == WALLET_TRANSFER)
		player_stats_want_staked(ws, player->player_id);
}

void balance_keys(const void *arg, struct ws *ws)
{
	const struct balance_cmd *cmd = arg;
	struct dealer dealer = dealer_named(cmd->casino_id);
	struct player player = player_named(cmd->casino_id, cmd->user_id);

	ws_want(ws, RECORD_DEALER, &dealer);
	ws_want(ws, RECORD_PLAYER, &player);
	want_staked(ws, &dealer, &player);
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
	result->staked = player_stats_staked(ws, player->player_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
}

_Static_assert(sizeof(PLAYER_ID_CHARACTERS) > LIFE_STRIDE, "each ledger_number has a character");

/*
 * Writes the id that a new player gets for the random one that was given. It begins with the character of
 * this ledger's number, by which a worker with several cells asks this one first. Ids of ledger 0 stay
 * as they are: their first character is random.
 */
static void name_player(const struct ws *ws, const char *given, char player_id[PLAYER_ID_SIZE])
{
	text_copy(player_id, PLAYER_ID_SIZE, given);
	if (ws->id_number && player_id[0])
		player_id[0] = PLAYER_ID_CHARACTERS[ws->id_number % LIFE_STRIDE];
}

/* Declares what create_player() needs. */
static void want_new(struct ws *ws, const char *casino_id, const char *user_id,
	const char *player_id)
{
	struct dealer dealer = dealer_named(casino_id);
	struct total total = total_named(casino_id);
	struct player player = player_named(casino_id, user_id);
	struct player_name name = player_id_named(player_id);

	ws_want(ws, RECORD_DEALER, &dealer);
	ws_want(ws, RECORD_TOTAL, &total);
	ws_want(ws, RECORD_PLAYER, &player);
	ws_want(ws, RECORD_PLAYER_NAME, &name);
}

void player_put_keys(const void *arg, struct ws *ws)
{
	const struct player_put_cmd *cmd = arg;
	char player_id[PLAYER_ID_SIZE];

	name_player(ws, cmd->player_id, player_id);
	want_new(ws, cmd->casino_id, cmd->user_id, player_id);
	audit_keys(ws, &cmd->operator);
}

/* Writes the rows of a new player. The key members of @player are filled; the rest is set here. */
static enum refusal create_player(struct ws *ws, const struct dealer *dealer, const char *player_id,
	int64_t now_ms, struct player *player)
{
	struct total total_key = total_named(player->casino_id), total;
	struct player_name name = player_id_named(player_id);
	const struct total *stored = ws_get(ws, RECORD_TOTAL, &total_key);

	if (dealer->suspended)
		return REFUSAL_DEALER_SUSPENDED;
	/* 100 random bits: two players with one id means that the caller's randomness is broken. */
	if (strlen(player_id) != PLAYER_ID_SIZE - 1 ||
		strspn(player_id, PLAYER_ID_CHARACTERS) != PLAYER_ID_SIZE - 1 ||
		ws_get(ws, RECORD_PLAYER_NAME, &name))
		return REFUSAL_BAD_REQUEST;
	text_copy(name.casino_id, sizeof(name.casino_id), player->casino_id);
	text_copy(name.user_id, sizeof(name.user_id), player->user_id);
	text_copy(player->player_id, sizeof(player->player_id), player_id);
	player->created_ms = now_ms;
	total = stored ? *stored : total_key;
	total.players++;
	ws_put(ws, RECORD_PLAYER, player);
	ws_put(ws, RECORD_PLAYER_NAME, &name);
	ws_put(ws, RECORD_TOTAL, &total);
	return REFUSAL_NONE;
}

/* Returns the name of the action on the player, for the audit. */
static const char *action_of(const struct player_put_cmd *cmd)
{
	if (!cmd->change_suspended)
		return "player add";
	return cmd->suspended ? "player suspend" : "player resume";
}

/* Creates or changes the player, once. @player, whose key is filled, becomes it. */
static enum refusal put_player(const struct player_put_cmd *cmd,
	const struct apply_context *context, struct ws *ws, const struct dealer *dealer,
	const struct player *stored, struct player *player)
{
	char player_id[PLAYER_ID_SIZE];
	enum refusal refusal = REFUSAL_NONE;

	name_player(ws, cmd->player_id, player_id);

	if (stored)
		*player = *stored;
	else if (cmd->change_suspended)
		refusal = REFUSAL_USER_NOT_FOUND;
	else
		refusal = create_player(ws, dealer, player_id, context->now.wall_ms, player);
	if (refusal != REFUSAL_NONE || !cmd->change_suspended)
		return refusal;
	player->suspended = cmd->suspended;
	ws_put(ws, RECORD_PLAYER, player);
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
	char object[OBJECT_SIZE], detail[DETAIL_SIZE], player_id[PLAYER_ID_SIZE];
	enum audit_state state;

	if (!external_id_valid(cmd->user_id) || !dealer) {
		result->verdict.refusal = dealer ? REFUSAL_BAD_REQUEST : REFUSAL_DEALER_NOT_FOUND;
		return;
	}
	snprintf(object, sizeof(object), "player %s/%s", cmd->casino_id, cmd->user_id);
	state = audit_state(ws, &cmd->operator, action_of(cmd), object, &result->verdict);
	if (state == AUDIT_OTHER)
		return;
	if (state == AUDIT_NEW) {
		result->verdict.refusal = put_player(cmd, context, ws, dealer, stored, &player);
		if (result->verdict.refusal != REFUSAL_NONE)
			return;
		snprintf(detail, sizeof(detail), "player_id=%s", player.player_id);
		audit_write(ws, context, &cmd->operator, action_of(cmd), object, detail);
	} else if (stored) {
		player = *stored;
	}
	/* A command that was sent again offers the same player_id. */
	name_player(ws, cmd->player_id, player_id);
	result->created = !cmd->change_suspended && strcmp(player.player_id, player_id) == 0;
	text_copy(result->casino_id, sizeof(result->casino_id), player.casino_id);
	text_copy(result->user_id, sizeof(result->user_id), player.user_id);
	text_copy(result->player_id, sizeof(result->player_id), player.player_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
	result->suspended = player.suspended;
	result->balance = player.balance;
}

void player_balance_keys(const void *arg, struct ws *ws)
{
	const struct player_balance_cmd *cmd = arg;
	struct player key;

	resolve_player_want(ws, &cmd->player, &key);
	outbox_want_new(ws);
}

void player_balance_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct player_balance_cmd *cmd = arg;
	struct player_balance_result *result = out;
	struct resolved_player subject;

	result->verdict.refusal = resolve_player(ws, &cmd->player, &subject);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	result->mode = subject.dealer->mode;
	text_copy(result->player_id, sizeof(result->player_id), subject.player->player_id);
	text_copy(result->user_id, sizeof(result->user_id), subject.player->user_id);
	text_copy(result->casino_id, sizeof(result->casino_id), subject.player->casino_id);
	text_copy(result->currency, sizeof(result->currency), subject.dealer->currency);
	if (subject.dealer->mode == WALLET_TRANSFER) {
		result->balance = subject.player->balance;
	} else if (!outbox_inquire(ws, context, subject.dealer, subject.player, &result->send)) {
		result->verdict.refusal = REFUSAL_DEALER_BUSY;
		result->verdict.retry_after_s = 1;
	}
}

bool player_balance_concludes(const void *result)
{
	/* It only writes the counter of events, when it reserves a block of them. */
	(void)result;
	return true;
}

void player_register_keys(const void *arg, struct ws *ws)
{
	const struct player_register_cmd *cmd = arg;
	char player_id[PLAYER_ID_SIZE];

	name_player(ws, cmd->player_id, player_id);
	want_new(ws, cmd->casino_id, cmd->user_id, player_id);
}

void player_register_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct player_register_cmd *cmd = arg;
	struct player_register_result *result = out;
	struct dealer dealer_key = dealer_named(cmd->casino_id);
	struct player player = player_named(cmd->casino_id, cmd->user_id);
	const struct dealer *dealer = ws_get(ws, RECORD_DEALER, &dealer_key);
	const struct player *stored = ws_get(ws, RECORD_PLAYER, &player);
	char player_id[PLAYER_ID_SIZE];

	name_player(ws, cmd->player_id, player_id);
	if (!external_id_valid(cmd->user_id))
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
	else if (!dealer)
		result->verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
	else if (!stored)
		result->verdict.refusal =
			create_player(ws, dealer, player_id, context->now.wall_ms, &player);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	if (stored)
		player = *stored;
	/* A worker that sends the same command again offers the same player_id. */
	result->created = strcmp(player.player_id, player_id) == 0;
	text_copy(result->player_id, sizeof(result->player_id), player.player_id);
	text_copy(result->user_id, sizeof(result->user_id), player.user_id);
	text_copy(result->casino_id, sizeof(result->casino_id), player.casino_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
}

/* Declares the row of the id at @at of @ids. Returns its key. */
static struct player_name want_id(struct ws *ws, struct bytes ids, uint32_t at)
{
	char player_id[PLAYER_ID_SIZE] = "";
	struct player_name key;

	memcpy(player_id, ids.data + (size_t)at * (PLAYER_ID_SIZE - 1), PLAYER_ID_SIZE - 1);
	key = player_id_named(player_id);
	ws_want(ws, RECORD_PLAYER_NAME, &key);
	return key;
}

/* Returns true if the player is of a dealer that this cell has, as far as its moves are concerned. */
static bool is_found(const struct read_context *context, const struct player_name *key)
{
	const struct player_name *name = ws_loaded(context->ws, RECORD_PLAYER_NAME, key)
		? ws_get(context->ws, RECORD_PLAYER_NAME, key)
		: NULL;
	const struct live_move *move = name ? moves_find(context->moves, name->casino_id) : NULL;

	/* The rows of a dealer that is removed or arrives are here for long: the other cell answers for it. */
	return name && (!move || move_is_leaving(move->state));
}

enum status player_find_read(const void *arg, const struct read_context *context, void *out)
{
	const struct player_find_cmd *cmd = arg;
	struct player_find_result *result = out;
	const uint32_t count = cmd->player_ids.len / (PLAYER_ID_SIZE - 1);
	struct ws *ws = context->ws;
	struct player_name key;
	enum status status = STATUS_OK;
	uint8_t found;

	if (count > PLAYER_FIND_MAX || cmd->player_ids.len % (PLAYER_ID_SIZE - 1)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return STATUS_OK;
	}
	ws_reset(ws);
	for (uint32_t at = 0; at < count; at++)
		want_id(ws, cmd->player_ids, at);
	if (ws_pending(ws))
		status = context->store->load(context->store, ws);
	for (uint32_t at = 0; !status && at < count; at++) {
		key = want_id(ws, cmd->player_ids, at);
		found = is_found(context, &key);
		buffer_append(context->rows, &found, sizeof(found));
	}
	result->found = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return context->rows->failed ? STATUS_NOMEM : status;
}

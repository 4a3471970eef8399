/*
 * reports - A4 and A5: a player's bets and wins, and the result of a game (contract, "Statistics"
 * and "Status of a game").
 */
#include "base/pack.h"
#include "domain/round_list.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/player_stats.h"
#include "link/frame.h"

/* Bets that one page of A5 reads. */
#define BETS_PAGE 64
/*
 * The most bytes of bets in one answer, which fits a frame together with a round and its objects.
 */
#define BETS_BYTES (FRAME_MAX / 4)

/* Finds the dealer and its player. Refuses like A3. */
static enum refusal find_player(struct ws *ws, const char *casino_id, const char *user_id,
	const struct dealer **dealer, const struct player **player)
{
	struct dealer dealer_key = dealer_named(casino_id);
	struct player player_key = player_named(casino_id, user_id);

	*dealer = ws_get(ws, RECORD_DEALER, &dealer_key);
	*player = ws_get(ws, RECORD_PLAYER, &player_key);
	if (!*dealer)
		return REFUSAL_INVALID_SIGNATURE;
	return *player ? REFUSAL_NONE : REFUSAL_USER_NOT_FOUND;
}

/* Declares both rows. Returns NULL if the player is not loaded yet or does not exist. */
static const struct player *want_player(struct ws *ws, const char *casino_id, const char *user_id,
	const struct dealer **dealer)
{
	struct dealer dealer_key = dealer_named(casino_id);
	struct player player_key = player_named(casino_id, user_id);
	const struct player *player;

	ws_want(ws, RECORD_DEALER, &dealer_key);
	ws_want(ws, RECORD_PLAYER, &player_key);
	if (!ws_loaded(ws, RECORD_DEALER, &dealer_key) ||
		!ws_loaded(ws, RECORD_PLAYER, &player_key))
		return NULL;
	return find_player(ws, casino_id, user_id, dealer, &player) == REFUSAL_NONE ? player : NULL;
}

void user_stat_keys(const void *arg, struct ws *ws)
{
	const struct user_stat_cmd *cmd = arg;
	const struct dealer *dealer;
	const struct player *player = want_player(ws, cmd->casino_id, cmd->user_id, &dealer);

	if (player)
		player_stats_want_report(ws, player->player_id,
			statistics_day(ws->now.wall_ms, dealer->utc_offset_min), cmd->bet_summary);
}

void user_stat_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct user_stat_cmd *cmd = arg;
	struct user_stat_result *result = out;
	const struct dealer *dealer;
	const struct player *player;

	result->verdict.refusal = find_player(ws, cmd->casino_id, cmd->user_id, &dealer, &player);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	text_copy(result->user_id, sizeof(result->user_id), player->user_id);
	text_copy(result->player_id, sizeof(result->player_id), player->player_id);
	text_copy(result->currency, sizeof(result->currency), dealer->currency);
	result->sums = player_stats_read(ws, player->player_id, 0);
	result->utc_offset_min = dealer->utc_offset_min;
	result->today = statistics_day(context->now.wall_ms, dealer->utc_offset_min);
	for (uint32_t i = 0; cmd->bet_summary && i < STATISTICS_DAYS && i < result->today; i++)
		result->days[STATISTICS_DAYS - 1 - i] =
			player_stats_read(ws, player->player_id, result->today - i);
}

/* Returns true if the bets declared so far must be checked before @count are declared. */
static bool is_step(uint32_t count)
{
	return count == 4 || count == 16 || count == 32;
}

/* Declares the bets of a page, a few at a time, and stops when the loaded ones fill the answer. */
static void want_page(struct ws *ws, const struct round *round, uint32_t after)
{
	uint32_t number = round_list_shown(round, after), bytes = 0;
	bool waits = false;

	for (uint32_t i = 0; number && i < BETS_PAGE; i++) {
		struct bet key = bet_named(round->player_id, round->game_id, number);
		const struct bet *bet;

		if (is_step(i) && (waits || bytes > BETS_BYTES))
			return;
		ws_want(ws, RECORD_BET, &key);
		bet = ws_loaded(ws, RECORD_BET, &key) ? ws_get(ws, RECORD_BET, &key) : NULL;
		waits |= !bet;
		bytes += bet ? bet->user_bet.len : 0;
		number = round_list_shown(round, number);
	}
}

static void want_corrections(struct ws *ws, const struct round *round)
{
	for (uint32_t revision = 1; revision <= round->revision; revision++) {
		const struct correction key =
			correction_named(round->player_id, round->game_id, revision);

		ws_want(ws, RECORD_CORRECTION, &key);
	}
}

/* Packs the corrections of the round, and puts their objects into the round. */
static bool pack_corrections(struct ws *ws, struct result_inquire_result *result,
	struct buffer *out)
{
	for (uint32_t revision = 1; revision <= result->round.revision; revision++) {
		const struct correction key =
			correction_named(result->round.player_id, result->round.game_id, revision);
		const struct correction *row = ws_get(ws, RECORD_CORRECTION, &key);
		struct correction_entry entry;

		if (!row)
			continue;
		entry = (struct correction_entry){
			.revision = revision,
			.transaction_id = row->transaction_id,
			.delta = row->payout_amount - row->previous_payout,
			.shortfall = row->shortfall,
			.timestamp = row->time_ms,
		};
		memcpy(entry.reason, row->reason, sizeof(entry.reason));
		pack_record(out, correction_entry_fields, &entry);
		result->correction_count++;
		if (row->game_result.len)
			result->round.game_result = row->game_result;
		if (row->user_bet_result.len)
			result->round.user_bet_result = row->user_bet_result;
	}
	return !out->failed;
}

/* Copies what was packed to memory that lives as long as the answer. */
static bool keep_packed(const struct apply_context *context, const struct buffer *packed,
	struct bytes *bytes)
{
	uint8_t *copy;

	if (!packed->len)
		return !packed->failed;
	copy = packed->failed ? NULL : arena_take(context->arena, packed->len);
	if (!copy)
		return false;
	memcpy(copy, packed->data, packed->len);
	*bytes = (struct bytes){copy, (uint32_t)packed->len};
	return true;
}

void result_inquire_keys(const void *arg, struct ws *ws)
{
	const struct result_inquire_cmd *cmd = arg;
	const struct dealer *dealer;
	const struct player *player = want_player(ws, cmd->casino_id, cmd->user_id, &dealer);
	const struct round *round;
	struct round key;

	if (!player)
		return;
	key = round_named(player->player_id, cmd->game_id);
	ws_want(ws, RECORD_ROUND, &key);
	round = ws_loaded(ws, RECORD_ROUND, &key) ? ws_get(ws, RECORD_ROUND, &key) : NULL;
	if (round) {
		want_page(ws, round, cmd->after_bet);
		want_corrections(ws, round);
	}
}

/* Packs the bets of the page until the answer is full, but at least one. */
static bool pack_bets(struct ws *ws, const struct result_inquire_cmd *cmd,
	struct result_inquire_result *result, struct buffer *bets)
{
	uint32_t number = round_list_shown(&result->round, cmd->after_bet);

	result->last_bet = cmd->after_bet;
	for (uint32_t i = 0; number && i < BETS_PAGE; i++) {
		struct bet key = bet_named(result->round.player_id, cmd->game_id, number);
		const struct bet *bet;

		if (!ws_loaded(ws, RECORD_BET, &key))
			break;
		bet = ws_get(ws, RECORD_BET, &key);
		if (bets->len + (bet ? bet->user_bet.len : 0) > BETS_BYTES && result->count)
			break;
		if (bet)
			pack_record(bets, bet_fields, bet);
		result->count += bet != NULL;
		result->last_bet = number;
		number = round_list_shown(&result->round, number);
	}
	result->more = number != 0;
	return !bets->failed;
}

void result_inquire_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct result_inquire_cmd *cmd = arg;
	struct result_inquire_result *result = out;
	const struct dealer *dealer;
	const struct player *player;
	const struct round *round;
	struct buffer packed;
	struct round key;
	bool kept;

	result->verdict.refusal = find_player(ws, cmd->casino_id, cmd->user_id, &dealer, &player);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	key = round_named(player->player_id, cmd->game_id);
	round = ws_get(ws, RECORD_ROUND, &key);
	if (!round) {
		result->verdict.refusal = REFUSAL_GAME_NOT_FOUND;
		return;
	}
	result->round = *round;
	buffer_init(&packed, FRAME_MAX);
	kept = pack_bets(ws, cmd, result, &packed) && keep_packed(context, &packed, &result->bets);
	buffer_reset(&packed);
	if (kept)
		kept = pack_corrections(ws, result, &packed) &&
			keep_packed(context, &packed, &result->corrections);
	if (!kept || !arena_keep_bytes(context->arena, round_fields, &result->round))
		result->verdict.refusal = REFUSAL_SERVICE_UNAVAILABLE;
	buffer_free(&packed);
}

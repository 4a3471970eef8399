/*
 * bets - group C: a player's bet is placed.
 *
 * In a transfer wallet it debits the ledger. In a seamless one it becomes PENDING, and B2 asks the
 * dealer. The idempotency key is the client's request_transaction_id (contract, "Repeated bets").
 */
#include "ledger/commands/wagers/bets.h"

#include "domain/bet_index.h"
#include "domain/round_list.h"
#include "domain/wager.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/decimals.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/player_stats.h"
#include "ledger/rows/post.h"
#include "ledger/rows/resolve_player.h"
#include "wire/callback_body.h"

#include <stdio.h>

/* The retry time in answers while the dealer accepts no call. */
#define BUSY_RETRY_S 1

static struct request bet_request(const struct bet_place_cmd *cmd)
{
	return request_named(SCOPE_CLIENT, cmd->client_id, cmd->request_transaction_id);
}

/* Declares the totals of the day on which the bet would be accepted. */
static void want_tally(struct ws *ws, const struct player *player)
{
	struct dealer key = dealer_named(player->casino_id);
	const struct dealer *dealer = ws_get(ws, RECORD_DEALER, &key);

	if (dealer)
		player_stats_want(ws, player->player_id,
			statistics_day(ws->now.wall_ms, dealer->utc_offset_min));
}

/* Declares the request key, and the bet that any player placed under it. */
static void want_replay(struct ws *ws, const struct bet_place_cmd *cmd)
{
	struct request request = bet_request(cmd);
	const struct request *stored;
	const struct bet *bet;
	struct bet key;

	ws_want(ws, RECORD_REQUEST, &request);
	stored = ws_loaded(ws, RECORD_REQUEST, &request) ? ws_get(ws, RECORD_REQUEST, &request)
							 : NULL;
	if (!stored || !stored->bet_number)
		return;
	key = bet_named(stored->player_id, stored->game_id, stored->bet_number);
	ws_want(ws, RECORD_BET, &key);
	bet = ws_loaded(ws, RECORD_BET, &key) ? ws_get(ws, RECORD_BET, &key) : NULL;
	if (bet && bet->state == BET_PENDING)
		outbox_want_grant(ws, bet->event);
}

void bet_place_keys(const void *arg, struct ws *ws)
{
	const struct bet_place_cmd *cmd = arg;
	const struct player *player;
	struct round round;
	struct player key;

	want_replay(ws, cmd);
	if (!resolve_player_want(ws, &cmd->player, &key))
		return;
	player = ws_get(ws, RECORD_PLAYER, &key);
	if (player) {
		round = round_named(player->player_id, cmd->game_id);
		ws_want(ws, RECORD_ROUND, &round);
		want_tally(ws, player);
	}
	outbox_want_new(ws);
}

/* Returns the member in which the repeated request differs, or NULL. */
static const char *bet_difference(const struct bet_place_cmd *cmd, const struct request *stored,
	const struct player *player)
{
	if (stored->kind != ENTRY_BET)
		return "operation";
	if (!player || strcmp(stored->player_id, player->player_id) != 0)
		return "player";
	if (strcmp(stored->game_id, cmd->game_id) != 0)
		return "game_id";
	if (stored->amount != cmd->bet_amount)
		return "bet_amount";
	if (stored->addition != cmd->addition)
		return "addition";
	return NULL;
}

void bet_answer(const struct bet *bet, struct verdict *verdict, struct bet_answer *answer)
{
	verdict->refusal = bet_refusal(bet);
	answer->transaction_id = bet->transaction_id;
	answer->state = bet->state == BET_SETTLED ? BET_ACCEPTED : bet->state;
	answer->has_balance = bet->has_balance;
	answer->balance = bet->balance;
	text_copy(answer->dealer_error_id, DEALER_ERROR_ID_SIZE, bet->dealer_error_id);
	text_copy(answer->dealer_error_detail, DEALER_ERROR_TEXT_SIZE, bet->dealer_error_detail);
}

static void bet_replay(struct ws *ws, const struct apply_context *context,
	const struct bet_place_cmd *cmd, const struct request *stored,
	const struct resolved_player *subject, struct bet_place_result *result)
{
	struct bet key = bet_named(stored->player_id, stored->game_id, stored->bet_number);
	const struct bet *bet = stored->bet_number ? ws_get(ws, RECORD_BET, &key) : NULL;
	const char *differs = bet_difference(cmd, stored, subject->player);

	/* The bet was cancelled before it came. */
	if (stored->outcome == REFUSAL_BET_CANCELLED) {
		result->verdict.refusal = stored->outcome;
		return;
	}
	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
	/* The same call, whose answer was lost: the caller must still send the callback. */
	result->verdict.replay = !bet || bet->state != BET_PENDING || !subject->dealer ||
		!outbox_grant_again(ws, context, subject->dealer, bet->event, cmd->sender,
			&result->send);
	if (bet) {
		bet_answer(bet, &result->verdict, &result->bet);
		return;
	}
	result->verdict.refusal = stored->outcome;
	result->verdict.current_balance = stored->current_balance;
}

/*
 * Makes all checks that precede the check of the credit, in the order of the contract, "Order of
 * checks".
 */
static enum refusal bet_decide(const struct bet_place_cmd *cmd,
	const struct resolved_player *subject, const struct round *round)
{
	const struct dealer *dealer = subject->dealer;
	const struct player *player = subject->player;

	if (dealer->suspended)
		return REFUSAL_DEALER_SUSPENDED;
	if (player && player->suspended)
		return REFUSAL_USER_SUSPENDED;
	/* A game that began before the mode of the dealer changed is over. */
	if (round && round->mode != dealer->mode)
		return REFUSAL_WRONG_WALLET_MODE;
	if (!money_has_decimals(cmd->bet_amount, dealer->decimals))
		return REFUSAL_INVALID_AMOUNT;
	if (!player)
		return REFUSAL_USER_NOT_FOUND;
	return round_decide_bet(round, cmd->client_id, cmd->bet_amount, cmd->user_bet.len);
}

/* Returns the round with one more bet. */
static struct round round_with_bet(const struct bet_place_cmd *cmd, const struct dealer *dealer,
	const struct player *player, const struct round *stored, uint8_t list[ROUND_LIST_SIZE])
{
	struct round round = round_named(player->player_id, cmd->game_id);

	if (stored) {
		round = *stored;
	} else {
		text_copy(round.casino_id, sizeof(round.casino_id), player->casino_id);
		text_copy(round.user_id, sizeof(round.user_id), player->user_id);
		text_copy(round.client_id, sizeof(round.client_id), cmd->client_id);
		round.mode = dealer->mode;
	}
	round.bets++;
	round.staked += cmd->bet_amount;
	round.objects_len += cmd->user_bet.len;
	/* A transfer wallet's bet is accepted at once. */
	round_list_add(&round, round.bets, round.mode == WALLET_TRANSFER, list);
	return round;
}

static struct bet bet_new(const struct bet_place_cmd *cmd, const struct dealer *dealer,
	const struct round *round, int64_t now_ms)
{
	struct bet bet = bet_named(round->player_id, round->game_id, round->bets);

	text_copy(bet.casino_id, sizeof(bet.casino_id), round->casino_id);
	text_copy(bet.client_id, sizeof(bet.client_id), cmd->client_id);
	text_copy(bet.request_transaction_id, sizeof(bet.request_transaction_id),
		cmd->request_transaction_id);
	bet.mode = round->mode;
	bet.addition = cmd->addition;
	bet.bet_amount = cmd->bet_amount;
	bet.accepted_ms = bet.changed_ms = now_ms;
	bet.day = statistics_day(now_ms, dealer->utc_offset_min);
	text_copy(bet.remark, sizeof(bet.remark), cmd->remark);
	bet.user_bet = cmd->user_bet;
	return bet;
}

/* Writes the request key: the request and the position of its answer. */
static void record_bet(struct ws *ws, const struct bet_place_cmd *cmd, const struct player *player,
	const struct bet *bet, const struct transaction *entry, enum refusal outcome,
	int64_t now_ms)
{
	struct request request = bet_request(cmd);

	request.kind = ENTRY_BET;
	request.outcome = outcome;
	request.amount = cmd->bet_amount;
	request.addition = cmd->addition;
	text_copy(request.player_id, sizeof(request.player_id), player->player_id);
	request.current_balance = player->balance;
	request.time_ms = now_ms;
	text_copy(request.game_id, sizeof(request.game_id), cmd->game_id);
	if (bet) {
		request.bet_number = bet->number;
		request.transaction_id = bet->transaction_id;
	}
	if (entry)
		request.entry_seq = entry->entry_seq;
	ws_append(ws, RECORD_REQUEST, &request);
}

/* Writes the new bet with its round, and the rows by which both are found. */
static void write_bet(struct ws *ws, const struct round *round, const struct bet *bet)
{
	const struct bet_index index = bet_index_of(bet);

	ws_put(ws, RECORD_ROUND, round);
	ws_append(ws, RECORD_BET, bet);
	ws_append(ws, RECORD_PLAYER_BET, &index.by_time);
	if (index.is_first)
		ws_append(ws, RECORD_GAME_PLAYER, &index.by_game);
}

/* A transfer wallet: the stake is debited, the bet is accepted. */
static enum refusal bet_debit(struct ws *ws, const struct bet_place_cmd *cmd,
	const struct round *round, struct bet *bet, const struct player *stored, int64_t now_ms)
{
	struct player player = *stored;
	struct transaction entry;
	struct movement movement = {
		.kind = ENTRY_BET,
		.amount = -cmd->bet_amount,
		.time_ms = now_ms,
		.scope = SCOPE_CLIENT,
		.request_transaction_id = cmd->request_transaction_id,
		.client_id = cmd->client_id,
		.game_id = cmd->game_id,
		.bet_number = bet->number,
	};
	enum refusal refusal = post_move(ws, &movement, &player, &entry);

	if (refusal == REFUSAL_INSUFFICIENT_BALANCE)
		record_bet(ws, cmd, stored, NULL, NULL, refusal, now_ms);
	if (refusal != REFUSAL_NONE)
		return refusal;
	bet->transaction_id = entry.transaction_id;
	bet->has_balance = true;
	bet->balance = player.balance;
	bet_move(bet, BET_ACCEPTED, now_ms);
	player_stats_acceptance(ws, bet);
	write_bet(ws, round, bet);
	record_bet(ws, cmd, &player, bet, &entry, REFUSAL_NONE, now_ms);
	return REFUSAL_NONE;
}

/* A seamless wallet: the bet is pending, and B2 may be sent. */
static enum refusal bet_ask(struct ws *ws, const struct apply_context *context,
	const struct bet_place_cmd *cmd, const struct round *round, struct bet *bet,
	const struct resolved_player *subject, struct callback_grant *send)
{
	const struct outbox_subject of = {
		.dealer = subject->dealer,
		.player_id = bet->player_id,
		.game_id = bet->game_id,
		.bet_number = bet->number,
	};
	struct bet_body body;

	if (bet->user_bet.len > OUTBOX_OBJECTS_MAX)
		return REFUSAL_PAYLOAD_TOO_LARGE;
	if (!outbox_admit_next(ws, context, subject->dealer))
		return REFUSAL_DEALER_BUSY;
	bet->transaction_id = post_transaction(ws, subject->player, ENTRY_BET, bet->game_id,
		bet->number, context->now.wall_ms);
	if (!bet->transaction_id)
		return REFUSAL_SERVICE_UNAVAILABLE;
	memset(&body, 0, sizeof(body));
	text_copy(body.user_id, sizeof(body.user_id), round->user_id);
	text_copy(body.player_id, sizeof(body.player_id), bet->player_id);
	body.bet_amount = bet->bet_amount;
	body.transaction_id = bet->transaction_id;
	body.timestamp = bet->accepted_ms;
	text_copy(body.remark, sizeof(body.remark), bet->remark);
	text_copy(body.game_id, sizeof(body.game_id), bet->game_id);
	body.user_bet = bet->user_bet;
	bet->event = outbox_open(ws, context, CALLBACK_BETTING, &of, 0, &body);
	if (!bet->event ||
		!outbox_begin(ws, context, subject->dealer, bet->event, cmd->sender, send)) {
		ws_fail(ws, "a betting that cannot be begun");
		return REFUSAL_INTERNAL_ERROR;
	}
	write_bet(ws, round, bet);
	record_bet(ws, cmd, subject->player, bet, NULL, REFUSAL_NONE, context->now.wall_ms);
	return REFUSAL_NONE;
}

/* Repeats the checks of the edge. */
static bool bet_sane(const struct bet_place_cmd *cmd)
{
	return cmd->bet_amount > 0 && cmd->bet_amount <= MONEY_MAX &&
		external_id_valid(cmd->request_transaction_id) && external_id_valid(cmd->game_id) &&
		text_is_name(cmd->client_id, CLIENT_ID_SIZE - 1);
}

/* Places a bet under a key that is new. */
static void place_bet(struct ws *ws, const struct apply_context *context,
	const struct bet_place_cmd *cmd, const struct resolved_player *subject,
	const struct round *stored, struct bet_place_result *result)
{
	enum refusal refusal = bet_decide(cmd, subject, stored);
	uint8_t list[ROUND_LIST_SIZE];
	struct round round;
	struct bet bet;

	if (refusal == REFUSAL_NONE) {
		round = round_with_bet(cmd, subject->dealer, subject->player, stored, list);
		bet = bet_new(cmd, subject->dealer, &round, context->now.wall_ms);
		refusal = round.mode == WALLET_SEAMLESS
			? bet_ask(ws, context, cmd, &round, &bet, subject, &result->send)
			: bet_debit(ws, cmd, &round, &bet, subject->player, context->now.wall_ms);
	}
	result->verdict.refusal = refusal;
	verdict_decimals(&result->verdict, "bet_amount", cmd->bet_amount, subject->dealer);
	post_describe(ws, &result->verdict);
	if (refusal == REFUSAL_NONE) {
		post_open_bets(ws, bet.casino_id, 1);
		bet_answer(&bet, &result->verdict, &result->bet);
		return;
	}
	result->verdict.retry_after_s = refusal == REFUSAL_DEALER_BUSY ? BUSY_RETRY_S : 0;
	if (refusal == REFUSAL_PAYLOAD_TOO_LARGE)
		outbox_too_large(&result->verdict);
	if (refusal == REFUSAL_ROUND_FULL && round_list_count(stored) < ROUND_BETS_MAX)
		snprintf(result->verdict.detail, sizeof(result->verdict.detail),
			"the user_bet of a round's bets have at most %d bytes together",
			ROUND_OBJECTS_MAX);
	if (subject->player)
		result->verdict.current_balance = subject->player->balance;
}

void bet_place_apply(const void *arg, const struct apply_context *context, struct ws *ws, void *out)
{
	const struct bet_place_cmd *cmd = arg;
	struct bet_place_result *result = out;
	struct request key = bet_request(cmd);
	const struct request *stored = ws_get(ws, RECORD_REQUEST, &key);
	const struct round *round = NULL;
	struct round round_key;
	struct resolved_player subject;
	enum refusal refusal;

	if (!bet_sane(cmd)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	refusal = resolve_player(ws, &cmd->player, &subject);
	if (stored) {
		bet_replay(ws, context, cmd, stored, &subject, result);
		return;
	}
	if (subject.player) {
		round_key = round_named(subject.player->player_id, cmd->game_id);
		round = ws_get(ws, RECORD_ROUND, &round_key);
	}
	if (subject.dealer)
		place_bet(ws, context, cmd, &subject, round, result);
	else
		result->verdict.refusal = refusal;
}

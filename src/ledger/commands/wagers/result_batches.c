/*
 * result_batches - group C: the results of many rounds in one command, which is one commit (contract,
 * "Results of a live round").
 *
 * Each item is settled as a result of its own, and may be refused without harm to the others. The
 * answers are stored under the key of the batch, so that a repetition gets the same bytes.
 */
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/subject.h"
#include "ledger/commands/wagers/rounds.h"
#include "ledger/rows/keys.h"

#include <string.h>

/* Bytes of the answers, packed: less than a frame holds. */
#define ANSWERS_MAX (192 * 1024)

static struct request batch_request(const struct settle_batch_cmd *cmd)
{
	return request_named(SCOPE_CLIENT, cmd->client_id, cmd->request_transaction_id);
}

static struct result_batch batch_named(const struct settle_batch_cmd *cmd)
{
	struct result_batch key;

	memset(&key, 0, sizeof(key));
	text_copy(key.client_id, sizeof(key.client_id), cmd->client_id);
	text_copy(key.request_transaction_id, sizeof(key.request_transaction_id),
		cmd->request_transaction_id);
	return key;
}

/* Reads the next item as a result. Returns false if the bytes are no item. */
static bool next_item(const struct settle_batch_cmd *cmd, struct bytes *items, uint32_t at,
	struct round_settle_cmd *result)
{
	struct settle_item item;

	memset(&item, 0, sizeof(item));
	if (!unpack_record(items, settle_item_fields, &item))
		return false;
	memset(result, 0, sizeof(*result));
	text_copy(result->client_id, sizeof(result->client_id), cmd->client_id);
	text_copy(result->request_transaction_id, sizeof(result->request_transaction_id),
		cmd->request_transaction_id);
	result->player = item.player;
	text_copy(result->game_id, sizeof(result->game_id), item.game_id);
	result->result = item.result;
	result->payout_amount = item.payout_amount;
	text_copy(result->remark, sizeof(result->remark), item.remark);
	result->user_bet = item.user_bet;
	result->game_result = item.game_result;
	result->user_bet_result = item.user_bet_result;
	result->item = at + 1;
	return true;
}

/*
 * Reads the next answer of a stored batch. Returns true if the item is to be tried: it has none, or
 * one with a retryable error.
 */
static bool next_is_to_try(struct bytes *stored, struct settle_answer *answer)
{
	if (stored->len && unpack_record(stored, settle_answer_fields, answer) &&
		!refusal_info(answer->verdict.refusal)->retryable)
		return false;
	memset(answer, 0, sizeof(*answer));
	return true;
}

void settle_batch_keys(const void *arg, struct ws *ws)
{
	const struct settle_batch_cmd *cmd = arg;
	const struct request request = batch_request(cmd);
	const struct result_batch key = batch_named(cmd), *batch = NULL;
	uint32_t bets_left = BATCH_BETS_MAX;
	struct bytes items = cmd->items, stored = {NULL, 0};
	struct settle_answer answer;
	struct round_settle_cmd one;

	ws_want(ws, RECORD_REQUEST, &request);
	ws_want(ws, RECORD_RESULT_BATCH, &key);
	/* The other rows do not wait for this one: most batches are new, and each wait is a load. */
	if (ws_loaded(ws, RECORD_RESULT_BATCH, &key))
		batch = ws_get(ws, RECORD_RESULT_BATCH, &key);
	if (batch)
		stored = batch->answers;
	for (uint32_t at = 0; at < cmd->count && next_item(cmd, &items, at, &one); at++) {
		memset(&answer, 0, sizeof(answer));
		if (next_is_to_try(&stored, &answer))
			settle_want(&one, ws, &bets_left);
	}
}

/* Returns true if the command has as many items as it says, each readable and with its own place. */
static bool batch_is_sane(const struct settle_batch_cmd *cmd)
{
	struct bytes items = cmd->items;
	struct round_settle_cmd result;

	if (!cmd->count || cmd->count > BATCH_RESULTS_MAX || !cmd->digest[0] ||
		!external_id_valid(cmd->request_transaction_id) ||
		!text_is_name(cmd->client_id, CLIENT_ID_SIZE - 1))
		return false;
	for (uint32_t at = 0; at < cmd->count; at++) {
		if (!next_item(cmd, &items, at, &result))
			return false;
	}
	return !items.len;
}

/*
 * Returns true if the dealer of an item is being moved, and sets @verdict. The answers to a batch are stored under its
 * key, which the other cell would store with other answers when the batch is sent again.
 */
static bool has_moving_item(const struct settle_batch_cmd *cmd, const struct moves *moves,
	struct ws *ws, struct verdict *verdict)
{
	struct bytes items = cmd->items;
	struct round_settle_cmd one;

	for (uint32_t at = 0; at < cmd->count && next_item(cmd, &items, at, &one); at++) {
		if (subject_item_is_moving(moves, &one.player, ws, verdict))
			return true;
	}
	return false;
}

static void answer_item(const struct round_settle_result *result, struct settle_answer *answer)
{
	answer->verdict = result->verdict;
	answer->transaction_id = result->transaction_id;
	answer->bet_amount = result->bet_amount;
	answer->addition_amount = result->addition_amount;
	answer->win_amount = result->win_amount;
	answer->payout_amount = result->payout_amount;
	answer->callback_state = result->callback_state;
}

/*
 * Settles the items, or of a stored batch those whose error is retryable, and packs the answers to
 * all. Returns the number of items that it tried.
 */
static uint32_t settle_items(const struct settle_batch_cmd *cmd,
	const struct apply_context *context, struct ws *ws, struct bytes stored,
	struct buffer *answers)
{
	uint32_t bets_left = BATCH_BETS_MAX, tried = 0;
	struct bytes items = cmd->items;
	struct round_settle_result result;
	struct round_settle_cmd one;
	struct settle_answer answer;

	for (uint32_t at = 0; at < cmd->count && next_item(cmd, &items, at, &one); at++) {
		memset(&answer, 0, sizeof(answer));
		if (next_is_to_try(&stored, &answer)) {
			memset(&result, 0, sizeof(result));
			if (!subject_item_is_moving(context->moves, &one.player, ws,
				    &result.verdict))
				settle_first(&one, context, ws, &bets_left, &result);
			answer_item(&result, &answer);
			tried++;
		}
		pack_record(answers, settle_answer_fields, &answer);
	}
	return tried;
}

static void store_batch(const struct settle_batch_cmd *cmd, const struct apply_context *context,
	struct ws *ws, struct result_batch *batch)
{
	struct request request = batch_request(cmd);

	request.kind = ENTRY_RESULT_BATCH;
	request.time_ms = context->now.wall_ms;
	ws_append(ws, RECORD_REQUEST, &request);
	batch->time_ms = context->now.wall_ms;
	batch->count = cmd->count;
	text_copy(batch->digest, sizeof(batch->digest), cmd->digest);
	text_copy(batch->request_id, sizeof(batch->request_id), cmd->request_id);
	ws_append(ws, RECORD_RESULT_BATCH, batch);
}

/* Fills the result with a copy of @answers that lives until it is sent. */
static void answer_batch(const struct apply_context *context, const struct result_batch *batch,
	struct settle_batch_result *result)
{
	uint8_t *copy = arena_take(context->arena, batch->answers.len);

	if (!copy) {
		result->verdict.refusal = REFUSAL_INTERNAL_ERROR;
		return;
	}
	memcpy(copy, batch->answers.data, batch->answers.len);
	result->answers = (struct bytes){copy, batch->answers.len};
	result->count = batch->count;
	text_copy(result->request_id, sizeof(result->request_id), batch->request_id);
}

/* Returns the member in which the request differs from the one that used its key, or NULL. */
static const char *batch_difference(const struct settle_batch_cmd *cmd, const struct request *used,
	const struct result_batch *stored)
{
	if (used && !request_is_batch(used))
		return "operation";
	if (!stored || (stored->count == cmd->count && strcmp(stored->digest, cmd->digest) == 0))
		return NULL;
	return "results";
}

void settle_batch_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct settle_batch_cmd *cmd = arg;
	const struct request request_key = batch_request(cmd);
	struct result_batch batch = batch_named(cmd);
	const struct result_batch *stored = ws_get(ws, RECORD_RESULT_BATCH, &batch);
	struct settle_batch_result *result = out;
	struct buffer answers;
	const char *differs;
	uint32_t tried;

	if (!batch_is_sane(cmd)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	differs = batch_difference(cmd, ws_get(ws, RECORD_REQUEST, &request_key), stored);
	if (differs) {
		result->verdict.refusal = REFUSAL_TRANSACTION_CONFLICT;
		text_copy(result->verdict.field, sizeof(result->verdict.field), differs);
		return;
	}
	if (!stored && has_moving_item(cmd, context->moves, ws, &result->verdict))
		return;
	if (stored)
		batch = *stored;
	buffer_init(&answers, ANSWERS_MAX);
	tried = settle_items(cmd, context, ws, batch.answers, &answers);
	batch.answers = (struct bytes){answers.data, (uint32_t)answers.len};
	if (answers.failed)
		ws_fail(ws, "no memory for the answers of a batch");
	else if (!stored)
		store_batch(cmd, context, ws, &batch);
	else if (tried)
		ws_put(ws, RECORD_RESULT_BATCH, &batch);
	result->verdict.replay = !tried;
	if (!answers.failed)
		answer_batch(context, &batch, result);
	buffer_free(&answers);
}

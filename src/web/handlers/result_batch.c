/*
 * C results/batch: settles many rounds in one commit. The sweeper reports them to seamless dealers
 * (contract, "Results of a live round").
 */
#include "web/handlers/settled.h"

#include "base/pack.h"
#include "base/text.h"
#include "link/frame.h"
#include "wire/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The JSON text of an item is larger than its packed form, but for the prefixes of its members. */
#define ITEM_PREFIXES_MAX 64
#define ITEMS_MAX         (BODY_BATCH_MAX + BATCH_RESULTS_MAX * ITEM_PREFIXES_MAX)

/* The part of a fault's text that fits after its place. */
#define DETAIL_TEXT_MAX 140

/* The items of a request as the ledger takes them. */
struct batch {
	struct buffer items;
	struct buffer hashed; /* the part of one item that a repetition must share */
	struct digest digest;
	uint32_t count;
	enum round_result results[BATCH_RESULTS_MAX];
};

/* Answers with a fault of the item at @at. @detail begins with its member. */
static void refuse_item(struct web_request *web, enum refusal refusal, uint32_t at,
	const char *separator, const char *detail)
{
	char text[REPLY_DETAIL_SIZE];

	snprintf(text, sizeof(text), "results[%u]%s%.*s", at, separator, DETAIL_TEXT_MAX, detail);
	reply_refuse(web->reply, refusal, text);
}

/* Reads the JSON text of an item. If it is not one, answers with an error and returns false. */
static bool read_item(struct web_request *web, uint32_t at, struct bytes text,
	struct result_request_body *body, struct player_ref *player)
{
	char detail[REPLY_DETAIL_SIZE];
	enum refusal refusal;

	memset(body, 0, sizeof(*body));
	if (text.data[0] != '{') {
		refuse_item(web, REFUSAL_BAD_REQUEST, at, ": ", "must be an object");
		return false;
	}
	if (text.len > BODY_MAX) {
		refuse_item(web, REFUSAL_PAYLOAD_TOO_LARGE, at, ": ", "has more than 65536 bytes");
		return false;
	}
	refusal = body_parse_of(text.data, text.len, result_item_body_fields, body,
		web->caller->decimals, detail);
	if (refusal == REFUSAL_NONE && body->result == RESULT_WIN && !body->has_payout) {
		refusal = REFUSAL_BAD_REQUEST;
		snprintf(detail, sizeof(detail), "payout_amount: is required for a win");
	}
	if (refusal == REFUSAL_NONE && !web_request_player(web, &body->player, player)) {
		refusal = web->reply->refusal;
		snprintf(detail, sizeof(detail), "%s", web->reply->detail);
	}
	if (refusal != REFUSAL_NONE)
		refuse_item(web, refusal, at, ".", detail);
	return refusal == REFUSAL_NONE;
}

/* Adds an item to the command, and to the digest what makes it the same (contract, "Repeated batches"). */
static void add_item(struct batch *batch, const struct result_request_body *body,
	const struct player_ref *player)
{
	struct settle_item item = {
		.player = *player,
		.result = body->result,
		.payout_amount = body->payout_amount,
		.user_bet = body->user_bet,
		.game_result = body->game_result,
		.user_bet_result = body->user_bet_result,
	};

	text_copy(item.game_id, sizeof(item.game_id), body->game_id);
	text_copy(item.remark, sizeof(item.remark), body->remark);
	pack_record(&batch->items, settle_item_fields, &item);
	item.remark[0] = '\0';
	item.user_bet.len = item.game_result.len = item.user_bet_result.len = 0;
	buffer_reset(&batch->hashed);
	pack_record(&batch->hashed, settle_item_fields, &item);
	digest_add(&batch->digest, batch->hashed.data, batch->hashed.len);
	batch->results[batch->count++] = body->result;
}

/* Reads all items. If one is wrong, answers with an error and returns false. */
static bool read_items(struct web_request *web, struct batch *batch)
{
	static const char counted[] = "results: must be 1 to 500 objects";
	struct bytes rest = web->body.batch.results, text;
	struct result_request_body body;
	struct player_ref player;

	while (body_next_item(&rest, &text)) {
		if (batch->count == BATCH_RESULTS_MAX) {
			reply_refuse(web->reply, REFUSAL_BAD_REQUEST, counted);
			return false;
		}
		if (!read_item(web, batch->count, text, &body, &player))
			return false;
		add_item(batch, &body, &player);
	}
	if (!batch->count)
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST, counted);
	return batch->count > 0;
}

/* Appends the answer of one item. */
static void put_answer(struct web_request *web, const struct settle_batch_result *result,
	struct settle_answer *answer, enum round_result asked)
{
	const struct settled settled = {
		.transaction_id = answer->transaction_id,
		.bet_amount = answer->bet_amount,
		.addition_amount = answer->addition_amount,
		.win_amount = answer->win_amount,
		.payout_amount = answer->payout_amount,
		.callback = {answer->callback_state, 0},
	};
	struct error_body error;

	if (answer->verdict.refusal == REFUSAL_NONE) {
		render_record(&web->reply->large, settled_fields, &settled);
		return;
	}
	settled_describe(&answer->verdict, asked);
	error = reply_error_of(&answer->verdict);
	error.request_id = result->request_id;
	render_error(&web->reply->large, &error);
}

static void batch_reply(struct web_request *web, const struct batch *batch,
	const struct settle_batch_result *result)
{
	struct buffer *out = &web->reply->large;
	struct bytes answers = result->answers;
	struct settle_answer answer;

	web->reply->replay = result->verdict.replay;
	buffer_append_str(out, "{\"results\":[");
	for (uint32_t at = 0; at < batch->count && !out->failed; at++) {
		memset(&answer, 0, sizeof(answer));
		if (!unpack_record(&answers, settle_answer_fields, &answer))
			answer.verdict.refusal = REFUSAL_INTERNAL_ERROR;
		buffer_append_str(out, at ? "," : "");
		put_answer(web, result, &answer, batch->results[at]);
	}
	buffer_append_str(out, "]}");
	if (!out->failed)
		return;
	/* The batch was recorded. A repeated call gets its answers. */
	buffer_free(out);
	web->reply->status = STATUS_NOMEM;
	web->reply->replay = false;
	reply_refuse(web->reply, REFUSAL_INTERNAL_ERROR, NULL);
}

static void settle_batch(struct web_request *web, struct batch *batch)
{
	struct settle_batch_cmd cmd = {.count = batch->count,
		.items = {batch->items.data, (uint32_t)batch->items.len}};
	struct settle_batch_result result;
	enum status status = STATUS_NOMEM;

	memset(&result, 0, sizeof(result));
	text_copy(cmd.client_id, sizeof(cmd.client_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		web->body.batch.request_transaction_id);
	text_copy(cmd.request_id, sizeof(cmd.request_id), web->reply->request_id);
	if (!batch->items.failed && !batch->hashed.failed &&
		digest_text(&batch->digest, cmd.digest))
		status =
			link_call(web->link, COMMAND_SETTLE_BATCH, &cmd, &result, web->deadline_ms);
	if (status != STATUS_OK)
		reply_fail(web->reply, status, CALL_MOVES);
	else if (result.verdict.refusal != REFUSAL_NONE)
		reply_verdict(web->reply, &result.verdict, NULL, NULL);
	else
		batch_reply(web, batch, &result);
}

void handle_result_batch(struct web_request *web)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch) {
		reply_fail(web->reply, STATUS_NOMEM, CALL_READS);
		return;
	}
	buffer_init(&batch->items, ITEMS_MAX);
	buffer_init(&batch->hashed, BODY_MAX);
	digest_begin(&batch->digest);
	if (read_items(web, batch))
		settle_batch(web, batch);
	digest_end(&batch->digest);
	buffer_free(&batch->items);
	buffer_free(&batch->hashed);
	free(batch);
}

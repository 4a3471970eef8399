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

static struct batch *batch_new(void)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	buffer_init(&batch->items, ITEMS_MAX);
	buffer_init(&batch->hashed, BODY_MAX);
	digest_begin(&batch->digest);
	return batch;
}

static void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	digest_end(&batch->digest);
	buffer_free(&batch->items);
	buffer_free(&batch->hashed);
	free(batch);
}

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
	if (refusal == REFUSAL_NONE && !web_request_player_named(web, &body->player, player)) {
		refusal = web->reply->refusal;
		snprintf(detail, sizeof(detail), "%s", web->reply->detail);
	}
	if (refusal != REFUSAL_NONE)
		refuse_item(web, refusal, at, ".", detail);
	return refusal == REFUSAL_NONE;
}

/* Adds an item to the command, and to the digest what makes it the same (contract, "Repeated batches"). */
static void add_item(struct batch *batch, const struct settle_item *added)
{
	struct settle_item item = *added;

	pack_record(&batch->items, settle_item_fields, &item);
	item.remark[0] = '\0';
	item.user_bet.len = item.game_result.len = item.user_bet_result.len = 0;
	buffer_reset(&batch->hashed);
	pack_record(&batch->hashed, settle_item_fields, &item);
	digest_add(&batch->digest, batch->hashed.data, batch->hashed.len);
	batch->results[batch->count++] = item.result;
}

static void add_body(struct batch *batch, const struct result_request_body *body,
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
	add_item(batch, &item);
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
		add_body(batch, &body, &player);
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
	/* A part that was refused as a whole is not stored, so this call is the one that was refused. */
	error.request_id = result->verdict.refusal == REFUSAL_NONE ? result->request_id
								   : web->reply->request_id;
	render_error(&web->reply->large, &error);
}

/* What one cell answered to the batch, and what is left of its answers. */
struct batch_part {
	bool asked;
	struct settle_batch_result result;
};

/* Takes the next answer of the cell. */
static void next_answer(struct batch_part *part, struct settle_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	if (part->result.verdict.refusal != REFUSAL_NONE)
		answer->verdict = part->result.verdict;
	else if (!unpack_record(&part->result.answers, settle_answer_fields, answer))
		answer->verdict.refusal = REFUSAL_INTERNAL_ERROR;
}

/* Answers with the answers of @count parts. @part_of has the part of each item; NULL: there is one part. */
static void batch_reply(struct web_request *web, const struct batch *batch,
	struct batch_part *parts, unsigned int count, const unsigned int *part_of)
{
	struct buffer *out = &web->reply->large;
	struct settle_answer answer = {.transaction_id = 0}, other;

	buffer_append_str(out, "{\"results\":[");
	for (uint32_t at = 0; at < batch->count && !out->failed; at++) {
		const unsigned int own = part_of ? part_of[at] : 0;

		for (unsigned int i = 0; i < count; i++) {
			if (parts[i].asked)
				next_answer(&parts[i], i == own ? &answer : &other);
		}
		buffer_append_str(out, at ? "," : "");
		put_answer(web, &parts[own].result, &answer, batch->results[at]);
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

/* Settles the items of @batch in the cell of @web->link. */
static enum status settle_batch(struct web_request *web, struct batch *batch,
	struct settle_batch_result *result)
{
	struct settle_batch_cmd cmd = {.count = batch->count,
		.items = {batch->items.data, (uint32_t)batch->items.len}};

	memset(result, 0, sizeof(*result));
	text_copy(cmd.client_id, sizeof(cmd.client_id), web->caller->caller_id);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id),
		web->body.batch.request_transaction_id);
	text_copy(cmd.request_id, sizeof(cmd.request_id), web->reply->request_id);
	if (batch->items.failed || batch->hashed.failed || !digest_text(&batch->digest, cmd.digest))
		return STATUS_NOMEM;
	return link_call(web->link, COMMAND_SETTLE_BATCH, &cmd, result, web->deadline_ms);
}

static void settle_one(struct web_request *web, struct batch *batch)
{
	struct batch_part part = {.asked = true};
	enum status status = settle_batch(web, batch, &part.result);

	if (status != STATUS_OK) {
		reply_fail(web->reply, status, CALL_MOVES);
	} else if (part.result.verdict.refusal != REFUSAL_NONE) {
		reply_verdict(web->reply, &part.result.verdict, NULL, NULL);
	} else {
		web->reply->replay = part.result.verdict.replay;
		batch_reply(web, batch, &part, 1, NULL);
	}
}

/*
 * Marks the cells that have a player of the batch, or the default cell if none has one. An item whose player
 * no cell has gets the answer of the first of them.
 */
static void mark_parts(const struct batch *batch, unsigned int *part_of, struct batch_part *parts)
{
	unsigned int first = 0;

	for (uint32_t at = 0; at < batch->count; at++) {
		if (part_of[at] != CELL_NONE)
			parts[part_of[at]].asked = true;
	}
	while (first < CELLS_MAX && !parts[first].asked)
		first++;
	if (first == CELLS_MAX)
		first = 0;
	parts[first].asked = true;
	for (uint32_t at = 0; at < batch->count; at++) {
		if (part_of[at] == CELL_NONE)
			part_of[at] = first;
	}
}

#define PART_SEARCHED CELLS_MAX /* in place of a cell, until the search has it */

/* Finds the cells of all players, without what is remembered. CELL_NONE: no cell has it. */
static enum status find_parts(struct web_request *web, const struct batch *batch,
	unsigned int *part_of)
{
	struct bytes rest = {batch->items.data, (uint32_t)batch->items.len};
	char(*ids)[PLAYER_ID_SIZE] = calloc(batch->count, sizeof(*ids));
	unsigned int *found = calloc(batch->count, sizeof(*found));
	struct settle_item item;
	enum status status = ids && found ? STATUS_OK : STATUS_NOMEM;
	unsigned int count = 0, next = 0;

	for (uint32_t at = 0; !status && at < batch->count; at++) {
		memset(&item, 0, sizeof(item));
		if (!unpack_record(&rest, settle_item_fields, &item))
			status = STATUS_NOMEM;
		else if (item.player.casino_id[0])
			status = cell_links_dealer(web->cells, item.player.casino_id, true,
				web->request->boot_ms, web->deadline_ms, &part_of[at]);
		else if (strlen(item.player.player_id) != PLAYER_ID_SIZE - 1)
			part_of[at] = CELL_NONE;
		else {
			memcpy(ids[count++], item.player.player_id, PLAYER_ID_SIZE);
			part_of[at] = PART_SEARCHED;
		}
	}
	if (!status)
		status = cell_links_players(web->cells, (const char(*)[PLAYER_ID_SIZE])ids, count,
			web->deadline_ms, found);
	for (uint32_t at = 0; !status && at < batch->count; at++) {
		if (part_of[at] == PART_SEARCHED)
			part_of[at] = found[next++];
	}
	free(ids);
	free(found);
	return status;
}

/*
 * Sends the whole batch to each cell that has one of its players: an item of another cell is answered
 * user_not_found or dealer_not_found there, and that answer is not used. So each cell gets the same content
 * again if the call is repeated, wherever the players were found meanwhile.
 *
 * A cell may refuse the batch as a whole, for example because the key was used there before. If no cell has
 * settled anything until then, the call is refused. Otherwise a 4xx would hide what was settled, so each item
 * of that cell is answered with the refusal. If a cell fails after another has settled, the outcome is unknown
 * to the caller (500): the same call again gets the stored answers of the one and settles in the other.
 */
static void settle_parts(struct web_request *web, struct batch *batch, struct batch_part *parts,
	const unsigned int *part_of)
{
	const struct verdict *refused = NULL;
	enum status status = STATUS_OK;
	bool replay = true, settled = false;

	for (unsigned int at = 0; !status && !refused && at < web->cells->cells->count; at++) {
		struct batch_part *part = &parts[at];

		if (!part->asked)
			continue;
		status = cell_links_choose(web->cells, at);
		if (status)
			continue;
		web_request_use_cell(web);
		status = settle_batch(web, batch, &part->result);
		if (status)
			continue;
		if (part->result.verdict.refusal == REFUSAL_NONE)
			settled = true;
		else if (!settled)
			refused = &part->result.verdict;
		else if (refusal_info(part->result.verdict.refusal)->retryable)
			status = STATUS_UNKNOWN;
		replay &= part->result.verdict.replay;
	}
	if (status) {
		reply_fail(web->reply, settled ? STATUS_UNKNOWN : status, CALL_MOVES);
	} else if (refused) {
		reply_verdict(web->reply, refused, NULL, NULL);
	} else {
		web->reply->replay = replay;
		batch_reply(web, batch, parts, web->cells->cells->count, part_of);
	}
}

/* Settles the items in the cells of their players. */
static void settle_in_cells(struct web_request *web, struct batch *batch)
{
	struct batch_part *parts = calloc(CELLS_MAX, sizeof(*parts));
	unsigned int *part_of = calloc(BATCH_RESULTS_MAX, sizeof(*part_of));
	enum status status = STATUS_NOMEM;

	if (parts && part_of && !batch->items.failed)
		status = find_parts(web, batch, part_of);
	if (status) {
		reply_fail(web->reply, status, CALL_READS);
	} else {
		mark_parts(batch, part_of, parts);
		settle_parts(web, batch, parts, part_of);
	}
	free(parts);
	free(part_of);
}

void handle_result_batch(struct web_request *web)
{
	struct batch *batch = batch_new();

	if (!batch)
		reply_fail(web->reply, STATUS_NOMEM, CALL_READS);
	else if (read_items(web, batch))
		(web->cells ? settle_in_cells : settle_one)(web, batch);
	batch_free(batch);
}

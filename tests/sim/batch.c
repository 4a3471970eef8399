/*
 * batch - game servers send the results of several rounds at once (COMMAND_SETTLE_BATCH).
 *
 * Each item is settled or refused by itself, all in one commit, and the sweepers send the callbacks. A
 * repetition gets the same answers; only items whose error is retryable are tried again.
 */
#include "base/pack.h"
#include "ledger/rows/keys.h"
#include "sim.h"

static const uint8_t game_result[] = "{\"n\":7}";

static void item_pack(struct world *w, uint32_t round, struct buffer *items)
{
	const struct sim_round *of = &w->rounds[round];
	struct settle_item item;

	memset(&item, 0, sizeof(item));
	worker_name_player(w, of->user, &item.player);
	snprintf(item.game_id, sizeof(item.game_id), "g%u", round);
	item.result = of->result;
	item.payout_amount = of->payout;
	item.game_result = (struct bytes){game_result, sizeof(game_result) - 1};
	pack_record(items, settle_item_fields, &item);
}

static void batch_draw(struct world *w, uint32_t index)
{
	struct sim_batch *batch = &w->batches[index];
	struct buffer items;

	batch->client = below(w, 2);
	buffer_init(&items, SIM_ITEMS_MAX);
	for (uint32_t i = 0; i < w->plan.rounds && batch->count < SIM_BATCH_MAX; i++) {
		struct sim_round *round = &w->rounds[i];

		if (round->batch || round->client != batch->client || below(w, 2))
			continue;
		round->batch = index + 1;
		batch->rounds[batch->count++] = i;
		item_pack(w, i, &items);
	}
	if (items.failed)
		violate(w, FLAW_HARNESS, "the items of B%u are too long", index);
	batch->len = (uint32_t)items.len;
	if (items.len)
		memcpy(batch->items, items.data, items.len);
	buffer_free(&items);
}

void batch_plan(struct world *w)
{
	w->plan.batches =
		w->plant == PLANT_NO_BATCH_ROW ? SIM_BATCHES_MAX : below(w, SIM_BATCHES_MAX + 1);
	memset(w->batches, 0, sizeof(w->batches));
	for (uint32_t i = 0; i < w->plan.batches; i++)
		batch_draw(w, i);
}

bool batch_waits(const struct world *w, uint32_t index)
{
	const struct sim_batch *batch = &w->batches[index];

	for (uint32_t at = 0; at < batch->count; at++) {
		const uint32_t round = batch->rounds[at];

		if (!w->rounds[round].hasty && !game_bets_are_done(w, round))
			return true;
	}
	return false;
}

void batch_ask(struct world *w, struct process *p, uint32_t index, process_then *then)
{
	const struct sim_batch *batch = &w->batches[index];
	struct settle_batch_cmd *cmd = &p->cmd.settle_batch;

	memset(cmd, 0, sizeof(*cmd));
	snprintf(cmd->client_id, sizeof(cmd->client_id), "%s", worker_client(w, batch->rounds[0]));
	snprintf(cmd->request_transaction_id, sizeof(cmd->request_transaction_id), "B%u", index);
	snprintf(cmd->digest, sizeof(cmd->digest), "%s",
		p->twist == TWIST_CONTENT ? "other" : "the same");
	cmd->count = batch->count;
	cmd->items = (struct bytes){batch->items, batch->len};
	process_ask(w, p, COMMAND_SETTLE_BATCH, then);
}

void batch_keep(struct world *w, struct process *p, const struct settle_batch_result *result)
{
	struct bytes answers = result->answers;

	p->answer_count = 0;
	while (answers.len && p->answer_count < SIM_BATCH_MAX) {
		struct settle_answer *answer = &p->answers[p->answer_count++];

		memset(answer, 0, sizeof(*answer));
		if (!unpack_record(&answers, settle_answer_fields, answer)) {
			violate(w, FLAW_ANSWER, "the answers of a batch do not decode");
			return;
		}
	}
	if (answers.len)
		violate(w, FLAW_ANSWER, "a batch has more answers than items");
}

/* The round is settled by the item. */
static void hear_settled(struct world *w, struct sim_round *round,
	const struct settle_answer *answer, uint32_t index)
{
	if (answer->win_amount !=
			answer->payout_amount - answer->bet_amount - answer->addition_amount ||
		(round->result == RESULT_WIN && answer->payout_amount != round->payout))
		violate(w, FLAW_ANSWER, "g%u of a batch: its sums", index);
	if (round->settled && round->transaction_id != answer->transaction_id)
		violate(w, FLAW_ANSWERED, "g%u is answered another transaction_id", index);
	w->tally.items += !round->settled;
	round->settled = true;
	round->transaction_id = answer->transaction_id;
}

/* Returns true if the answer to an item is final. */
static bool hear_item(struct world *w, struct sim_batch *batch, uint32_t at,
	const struct settle_answer *answer)
{
	const uint32_t index = batch->rounds[at];
	const enum refusal refusal = answer->verdict.refusal;
	struct sim_round *round = &w->rounds[index];

	trace(w, "g%u of a batch is answered %s", index, refusal_info(refusal)->id);
	/* An answer that was under way for longer than the one that ended it. */
	if (batch->answered[at] && refusal == REFUSAL_BET_IN_PROGRESS)
		return true;
	if (batch->answered[at] &&
		(batch->refusals[at] != refusal || (refusal == REFUSAL_NONE && !round->settled)))
		violate(w, FLAW_ANSWERED, "g%u of a batch is answered %s, and before %s", index,
			refusal_info(refusal)->id, refusal_info(batch->refusals[at])->id);
	switch (refusal) {
	case REFUSAL_NONE:
		hear_settled(w, round, answer, index);
		break;
	case REFUSAL_BET_IN_PROGRESS:
		w->tally.items_again++;
		return false;
	case REFUSAL_ALREADY_SETTLED:
		/* Only a result of its own can have done that: it was sent after the batch was given up. */
		if (!game_was_settled_alone(w, index))
			violate(w, FLAW_ANSWERED, "g%u is settled before its batch", index);
		break;
	case REFUSAL_BET_NOT_FOUND:
	case REFUSAL_GAME_NOT_FOUND:
		break;
	default:
		violate(w, FLAW_ANSWER, "g%u of a batch is answered %s", index,
			refusal_info(refusal)->id);
		break;
	}
	batch->answered[at] = true;
	batch->refusals[at] = refusal;
	return true;
}

bool batch_hear(struct world *w, const struct process *p, uint32_t index, enum refusal refusal)
{
	struct sim_batch *batch = &w->batches[index];
	bool final = true;

	trace(w, "B%u is answered %s", index, refusal_info(refusal)->id);
	if (refusal == REFUSAL_STORAGE_FULL)
		return false;
	if (refusal != REFUSAL_NONE || p->answer_count != batch->count) {
		violate(w, FLAW_ANSWER, "B%u has %u answers and is answered %s", index,
			p->answer_count, refusal_info(refusal)->id);
		return false;
	}
	batch->stored = true;
	for (uint32_t at = 0; at < batch->count; at++)
		final = hear_item(w, batch, at, &p->answers[at]) && final;
	return final;
}

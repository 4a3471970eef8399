#include "ledger/commands/moves/move_rows.h"

#include "base/pack.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/keys.h"

const struct dealer_move *move_find(struct ws *ws, const char *casino_id, const char *id)
{
	const struct dealer_move key = move_named(casino_id);
	const struct dealer_move *move = ws_get(ws, RECORD_DEALER_MOVE, &key);

	return move && strcmp(move->id, id) == 0 ? move : NULL;
}

bool move_has_record(enum record record)
{
	for (unsigned int i = 0; i < move_record_count; i++) {
		if (move_records[i] == record)
			return true;
	}
	return false;
}

void move_localise(enum record record, union move_row *row)
{
	if (record == RECORD_CALLBACK) {
		row->callback.replay = 0;
	} else if (record == RECORD_DUE) {
		/* By the wall clock: the other host has another boot. */
		row->due.owner = 0;
		row->due.due_boot_ms = 0;
		row->due.boot = 0;
	}
}

struct request move_batch_request(const struct result_batch *batch)
{
	struct request request =
		request_named(SCOPE_CLIENT, batch->client_id, batch->request_transaction_id);

	request.kind = ENTRY_RESULT_BATCH;
	request.time_ms = batch->time_ms;
	return request;
}

bool move_batch_is_same(const struct result_batch *one, const struct result_batch *another)
{
	return one->count == another->count && strcmp(one->digest, another->digest) == 0;
}

/* An answer that settled counts more than a final refusal, and that more than one after which the item is tried again. */
static int weigh_answer(const struct settle_answer *answer)
{
	const enum refusal refusal = answer->verdict.refusal;

	return refusal == REFUSAL_NONE ? 2 : !refusal_info(refusal)->retryable;
}

bool move_batch_merge(const struct result_batch *ours, const struct result_batch *theirs,
	struct buffer *merged)
{
	struct bytes our_rest = ours->answers, their_rest = theirs->answers;
	struct settle_answer our_answer, their_answer;
	bool is_ours;

	for (uint32_t at = 0; at < ours->count; at++) {
		memset(&our_answer, 0, sizeof(our_answer));
		memset(&their_answer, 0, sizeof(their_answer));
		if (!unpack_record(&our_rest, settle_answer_fields, &our_answer) ||
			!unpack_record(&their_rest, settle_answer_fields, &their_answer))
			return false;
		is_ours = weigh_answer(&our_answer) >= weigh_answer(&their_answer);
		if (!pack_record(merged, settle_answer_fields,
			    is_ours ? &our_answer : &their_answer))
			return false;
	}
	return true;
}

void move_operator(const char *id, char letter, uint64_t number, struct operator* operator)
{
	step_operation_id(letter, id, number, operator->operation_id);
}

void move_refuse(struct verdict *verdict, enum refusal refusal, const char *detail)
{
	verdict->refusal = refusal;
	text_copy(verdict->detail, sizeof(verdict->detail), detail);
}

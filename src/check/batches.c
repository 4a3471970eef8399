/*
 * check_batches - compares the keys of a batch's items with the answers that the batch stored.
 *
 * The keys of one batch follow each other, so that its row is read once. If a key does not fit, the row is
 * read again before the fault is reported: the batch may have been repeated meanwhile.
 */
#include "check/check.h"

#include "admin/list.h"
#include "base/pack.h"
#include "base/text.h"
#include "link/batch_commands.h"
#include "proof/batch.h"

#include <stdlib.h>
#include <string.h>

/* Reads the answers of the batch into check->batch. */
static enum outcome fetch_batch(struct check *check, const char *client_id, const char *id)
{
	struct check_batch *batch = &check->batch;
	struct result_batch row;
	struct settle_answer answer;
	struct buffer bytes;
	enum outcome code;
	bool found = false;

	memset(&row, 0, sizeof(row));
	text_copy(row.client_id, sizeof(row.client_id), client_id);
	text_copy(row.request_transaction_id, sizeof(row.request_transaction_id), id);
	code = list_fetch_bytes(check->session, RECORD_RESULT_BATCH, &row, &found, &bytes);
	memset(batch, 0, sizeof(*batch));
	text_copy(batch->client_id, sizeof(batch->client_id), client_id);
	text_copy(batch->id, sizeof(batch->id), id);
	while (code == OUTCOME_DONE && found && batch->count < BATCH_RESULTS_MAX &&
		unpack_record(&row.answers, settle_answer_fields, &answer))
		batch->answers[batch->count++] = (struct proof_batch_answer){
			.settled = answer.verdict.refusal == REFUSAL_NONE,
			.transaction_id = answer.transaction_id,
			.payout_amount = answer.payout_amount,
		};
	buffer_free(&bytes);
	return code;
}

static const char *item_fault(const struct check_batch *batch, const struct request *item,
	unsigned long at)
{
	return proof_batch_item(item, at < batch->count ? &batch->answers[at] : NULL);
}

enum outcome check_batch_item(struct check *check, const struct request *item)
{
	struct check_batch *batch = &check->batch;
	const char *hash = strrchr(item->request_transaction_id, '#');
	char id[EXTERNAL_ID_SIZE];
	unsigned long at = 0;
	const char *fault = NULL;
	enum outcome code;
	bool kept;

	if (item->scope != SCOPE_BATCH)
		return OUTCOME_DONE;
	if (!hash ||
		!text_copy_len(id, sizeof(id), item->request_transaction_id,
			(size_t)(hash - item->request_transaction_id))) {
		proof_problem(&check->proof, "request %s of %s names no item of a batch",
			item->request_transaction_id, item->owner);
		return OUTCOME_DONE;
	}
	at = strtoul(hash + 1, NULL, 10);
	kept = strcmp(batch->client_id, item->owner) == 0 && strcmp(batch->id, id) == 0;
	if (kept)
		fault = item_fault(batch, item, at);
	/* Answers that were kept may be older than this key. */
	if (!kept || fault) {
		code = fetch_batch(check, item->owner, id);
		if (code != OUTCOME_DONE)
			return code;
		fault = item_fault(batch, item, at);
	}
	if (fault)
		proof_problem(&check->proof, "request %s of %s is an item of a batch, %s",
			item->request_transaction_id, item->owner, fault);
	return OUTCOME_DONE;
}

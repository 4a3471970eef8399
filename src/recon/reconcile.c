#include "recon/reconcile.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/seek.h"
#include "base/clock.h"
#include "base/text.h"
#include "domain/callback.h"
#include "recon/recon.h"
#include "wire/signature.h"

#include <stdlib.h>
#include <string.h>

/* Texts of one of our rows, which the row itself does not contain. */
struct our_text {
	struct our_text *next;
	char id[EXTERNAL_ID_SIZE];
	char state[32];
	char kind[32];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	char reference[EXTERNAL_ID_SIZE];
};

static void copy_member(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* Extracts the number in a row's id: a transaction id, or the event of a webhook-id. */
static bool row_number(const struct compared *row, uint64_t *number)
{
	enum callback_kind kind;

	return row->record == RECON_CALLBACK ? callback_event_read(row->id, number, &kind)
					     : text_unsigned(row->id, TRANSACTION_ID_MAX, number);
}

/* Receives recon's rows and stores them instead of writing them. */
static bool store_our_row(void *context, const struct recon_row *row)
{
	struct reconcile *reconcile = context;
	struct our_text *text = calloc(1, sizeof(*text));
	struct compared kept;

	if (!text)
		return false;
	text->next = reconcile->texts;
	reconcile->texts = text;
	copy_member(text->id, sizeof(text->id), row->id);
	copy_member(text->state, sizeof(text->state), row->state);
	copy_member(text->kind, sizeof(text->kind), row->kind);
	copy_member(text->user_id, sizeof(text->user_id), row->user_id);
	copy_member(text->game_id, sizeof(text->game_id), row->game_id);
	copy_member(text->reference, sizeof(text->reference), row->reference);
	kept = (struct compared){
		.id = text->id,
		.amount = (money_t)row->amount,
		.state = text->state,
		.kind = text->kind,
		.user_id = text->user_id,
		.game_id = text->game_id,
		.reference = text->reference,
		.transaction_id = row->transaction_id,
		.time_ms = row->time_ms,
		.revision = row->revision,
	};
	while (kept.record < RECON_RECORD_COUNT &&
		strcmp(recon_record_names[kept.record], row->record) != 0)
		kept.record++;
	return recon_side_add(&reconcile->ours, &kept);
}

/* Removes duplicates, which exist if two rows of the dealer name one transaction. */
static void remove_duplicates(struct side *side)
{
	size_t kept = 0;

	recon_side_sort(side);
	for (size_t i = 0; i < side->count; i++) {
		if (!kept || compared_order_key(&side->rows[kept - 1], &side->rows[i]) != 0)
			side->rows[kept++] = side->rows[i];
	}
	side->count = kept;
}

/* Loads the rows that the dealer's file names and that the walk has not loaded. */
static enum outcome load_named(struct reconcile *reconcile, struct recon *recon)
{
	const struct side *theirs = &reconcile->theirs;
	enum outcome code = OUTCOME_DONE;
	uint64_t number;

	remove_duplicates(&reconcile->ours);
	for (size_t i = 0, met = reconcile->ours.count; i < theirs->count && code == OUTCOME_DONE;
		i++) {
		const struct side walked = {.rows = reconcile->ours.rows, .count = met};

		if (recon_side_find(&walked, theirs->rows[i].record, theirs->rows[i].id) ||
			!row_number(&theirs->rows[i], &number))
			continue;
		code = theirs->rows[i].record == RECON_CALLBACK
			? recon_write_callback(recon, number)
			: recon_write_transaction(recon, number);
	}
	return code;
}

/* Loads the callbacks that `release` would send, of any age. */
static enum outcome load_waiting(struct reconcile *reconcile, struct recon *recon)
{
	enum outcome code = OUTCOME_DONE;
	struct list list;
	struct due due;

	list_open(&list, reconcile->session, RECORD_DUE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &due)) {
		if (strcmp(due.casino_id, reconcile->dealer.casino_id) == 0)
			code = recon_write_callback(recon, due.event);
	}
	return list_end(&list, code);
}

enum outcome reconcile_load_ours(struct reconcile *reconcile)
{
	struct recon *recon = calloc(1, sizeof(*recon));
	enum outcome code = OUTCOME_DONE;

	if (!recon)
		return session_no_memory(reconcile->session);
	recon->session = reconcile->session;
	recon->dealer = reconcile->dealer;
	recon->records = UINT32_MAX;
	recon->take = store_our_row;
	recon->context = reconcile;
	recon->from_ms = reconcile->since_ms;
	recon->until_ms = INT64_MAX - SEEK_SLACK_MS;
	recon->names = calloc(RECON_NAMES, sizeof(*recon->names));
	if (!recon->names)
		code = session_no_memory(reconcile->session);
	if (code == OUTCOME_DONE && reconcile->since_ms)
		code = recon_write_transactions(recon);
	if (code == OUTCOME_DONE && reconcile->since_ms)
		code = recon_write_callbacks(recon);
	if (code == OUTCOME_DONE)
		code = load_named(reconcile, recon);
	if (code == OUTCOME_DONE)
		code = load_waiting(reconcile, recon);
	if (code == OUTCOME_DONE && recon->failed)
		code = session_no_memory(reconcile->session);
	remove_duplicates(&reconcile->ours);
	free(recon->names);
	free(recon);
	return code;
}

/* Determines the range of time in which our rows are examined. */
static void find_range(struct reconcile *reconcile)
{
	for (size_t i = 0; i < reconcile->theirs.count; i++) {
		int64_t time_ms = reconcile->theirs.rows[i].time_ms;

		if (time_ms && (!reconcile->since_ms || time_ms < reconcile->since_ms))
			reconcile->since_ms = time_ms;
		if (time_ms > reconcile->until_ms)
			reconcile->until_ms = time_ms;
	}
	/* A dealer that did nothing since has no row. */
	reconcile->covers =
		!reconcile->until_ms || reconcile->until_ms >= reconcile->dealer.restored_to_ms;
	if (!reconcile->until_ms)
		reconcile->until_ms = reconcile->dealer.restored_ms ? reconcile->dealer.restored_ms
								    : clock_wall_ms();
	if (!reconcile->since_ms)
		reconcile->since_ms = reconcile->dealer.restored_to_ms;
}

enum outcome reconcile_begin(struct reconcile *reconcile, const char *casino_id)
{
	enum outcome code = names_dealer(reconcile->session, casino_id, &reconcile->dealer);

	if (code != OUTCOME_DONE)
		return code;
	find_range(reconcile);
	if (reconcile->theirs.casino_id[0] &&
		strcmp(reconcile->theirs.casino_id, reconcile->dealer.casino_id) != 0)
		return session_fail(reconcile->session, OUTCOME_FAILED, "bad_file",
			"%s is of dealer %s, not of %s", reconcile->theirs.path,
			reconcile->theirs.casino_id, reconcile->dealer.casino_id);
	return OUTCOME_DONE;
}

bool reconcile_waits_for_release(const struct proposal *proposal)
{
	/* A callback that is held individually waits for the operator also after the release. */
	return proposal->remedy == REMEDY_RELEASE &&
		strcmp(proposal->ours.state, callback_state_names[CALLBACK_HELD]) != 0;
}

size_t reconcile_count_open(const struct reconcile *reconcile)
{
	size_t open = 0;

	for (size_t i = 0; i < reconcile->count; i++)
		open += reconcile->proposals[i].remedy != REMEDY_NONE &&
			!reconcile_waits_for_release(&reconcile->proposals[i]);
	return open;
}

enum outcome reconcile_record(struct reconcile *reconcile)
{
	struct dealer_put_result result;
	struct dealer_put_cmd cmd = {
		.operator= reconcile->session->operator,
		.mask = UINT32_C(1) << DEALER_RECONCILED,
	};

	memcpy(cmd.dealer.casino_id, reconcile->dealer.casino_id, sizeof(cmd.dealer.casino_id));
	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id)))
		return session_no_random(reconcile->session);
	return session_do(reconcile->session, COMMAND_DEALER_PUT, &cmd, &result, NULL);
}

void reconcile_free(struct reconcile *reconcile)
{
	struct our_text *text;

	while ((text = reconcile->texts) != NULL) {
		reconcile->texts = text->next;
		free(text);
	}
	recon_side_free(&reconcile->ours);
	recon_side_free(&reconcile->theirs);
	free(reconcile->results);
	free(reconcile->corrections);
	free(reconcile->our_corrections);
	free(reconcile->movements);
	free(reconcile->proposals);
}

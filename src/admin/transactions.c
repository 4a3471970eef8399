#include "admin/transactions.h"

#include "admin/list.h"
#include "admin/names.h"
#include "domain/wager.h"
#include "link/frame.h"
#include "proof/chain.h"

#include <inttypes.h>
#include <string.h>

/* Movements that one command reads: a page of desk.sock. */
#define MOVEMENTS_PART 64

enum outcome transaction_fetch(struct session *session, uint64_t transaction_id,
	struct transaction *row, bool *found)
{
	memset(row, 0, sizeof(*row));
	row->transaction_id = transaction_id;
	return list_fetch(session, RECORD_TRANSACTION, row, found, NULL);
}

enum outcome movement_fetch(struct session *session, uint64_t transaction_id,
	struct transaction *entry)
{
	bool found;
	enum outcome code = transaction_fetch(session, transaction_id, entry, &found);

	return code == OUTCOME_DONE && !found ? names_missing(session, "a movement") : code;
}

enum outcome correction_fetch(struct session *session, const struct callback *callback,
	struct correction *row, money_t *amount)
{
	enum outcome code;
	bool found;

	memset(row, 0, sizeof(*row));
	memcpy(row->player_id, callback->player_id, sizeof(row->player_id));
	memcpy(row->game_id, callback->game_id, sizeof(row->game_id));
	row->revision = callback->revision;
	code = list_fetch(session, RECORD_CORRECTION, row, &found, NULL);
	*amount = row->payout_amount > row->previous_payout
		? correction_paid(row)
		: row->payout_amount - row->previous_payout;
	return code == OUTCOME_DONE && !found ? names_missing(session, "a correction") : code;
}

void movements_open(struct movements *movements, struct session *session,
	const struct player *player)
{
	memset(movements, 0, sizeof(*movements));
	movements->session = session;
	movements->player = *player;
	movements->code = OUTCOME_DONE;
	buffer_init(&movements->rows, FRAME_MAX);
}

enum outcome movements_end(struct movements *movements, enum outcome code)
{
	buffer_free(&movements->rows);
	movements->rest.len = 0;
	return code == OUTCOME_DONE ? movements->code : code;
}

/* Returns the link to the next transaction, from the player row or the previous transaction. */
static struct proof_link tell_next(const struct movements *movements)
{
	const struct player *player = &movements->player;

	return movements->last.transaction_id ? proof_link_before(&movements->last)
					      : proof_link_last(player);
}

enum outcome movements_behind(struct movements *movements, uint64_t transaction_id)
{
	const struct player *player = &movements->player;
	struct transaction row;
	bool found = false;
	enum outcome code = transaction_fetch(movements->session, transaction_id, &row, &found);

	if (code == OUTCOME_DONE &&
		(!found || !row.entry_seq || strcmp(row.player_id, player->player_id) != 0))
		code = session_fail(movements->session, OUTCOME_FAILED, "transaction_not_found",
			"player %s of %s has no movement of transaction %" PRIu64, player->user_id,
			player->casino_id, transaction_id);
	if (code == OUTCOME_DONE)
		movements->last = row;
	return code;
}

/* Reads the transaction @transaction_id and some of those before it. */
static enum outcome read_part(struct movements *movements, uint64_t transaction_id)
{
	const struct transaction key = {.transaction_id = transaction_id};
	struct list_cmd cmd = {.record = RECORD_TRANSACTION,
		.chain = true,
		.limit = MOVEMENTS_PART};
	struct list_result result;
	struct buffer packed;
	enum outcome code;

	buffer_init(&packed, LIST_KEY_MAX);
	cmd.keys = link_list_key(&packed, RECORD_TRANSACTION, 1, &key);
	code = packed.failed ? session_no_memory(movements->session)
			     : session_do(movements->session, COMMAND_LIST, &cmd, &result, NULL);
	buffer_free(&packed);
	if (code != OUTCOME_DONE)
		return code;
	if (!result.count)
		return names_missing(movements->session, "a movement");
	buffer_reset(&movements->rows);
	if (!buffer_append(&movements->rows, result.rows.data, result.rows.len))
		return session_no_memory(movements->session);
	movements->rest = (struct bytes){movements->rows.data, (uint32_t)movements->rows.len};
	return OUTCOME_DONE;
}

/* Takes the next of the transactions that were read. Returns false if it is not @transaction_id. */
static bool take_row(struct movements *movements, uint64_t transaction_id,
	struct transaction *entry)
{
	memset(entry, 0, sizeof(*entry));
	return movements->rest.len && link_list_row(&movements->rest, RECORD_TRANSACTION, entry) &&
		entry->transaction_id == transaction_id;
}

/* Reads the transaction @transaction_id. In a damaged chain it is not the next one of those that were read. */
static enum outcome read_entry(struct movements *movements, uint64_t transaction_id,
	struct transaction *entry)
{
	struct session *session = movements->session;
	enum outcome code = OUTCOME_DONE;

	if (!take_row(movements, transaction_id, entry)) {
		code = read_part(movements, transaction_id);
		if (code == OUTCOME_DONE && !take_row(movements, transaction_id, entry))
			code = session_fail(session, OUTCOME_FAILED, "failed",
				"the ledger sent a row that was not asked for, or cannot be read: run "
				"`creditbridgectl doctor`, which compares the versions");
	}
	if (code == OUTCOME_DONE && session->row_read)
		session->row_read(session->row_closure, RECORD_TRANSACTION, entry);
	return code;
}

bool movements_next(struct movements *movements, struct transaction *entry)
{
	const uint64_t later = movements->last.transaction_id;
	struct proof_link link;
	const char *fault;

	if (movements->code != OUTCOME_DONE)
		return false;
	link = tell_next(movements);
	if (!link.seq && !link.transaction_id)
		return false;
	movements->code = read_entry(movements, link.transaction_id, entry);
	if (movements->code != OUTCOME_DONE)
		return false;
	fault = proof_link_entry(&link, entry);
	/*
	 * An older transaction has a smaller id. Without this check, a corrupt chain could have
	 * no end.
	 */
	if (!fault && later && link.transaction_id >= later)
		fault = "is no older one";
	if (fault)
		movements->code = session_fail(movements->session, OUTCOME_FAILED, "damaged",
			"movement %s/%" PRIu64 " is named as transaction %" PRIu64
			", which %s: run creditbridgectl check",
			link.player_id, link.seq, link.transaction_id, fault);
	movements->last = *entry;
	return !fault;
}

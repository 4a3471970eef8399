/*
 * check_changes - from the transaction or request key of a correction or cancellation back to that
 * row. Runs only if the sets of rows differ. check_walk_corrections() and check_walk_cancellations()
 * go the other way.
 */
#include "check/check.h"

#include "admin/list.h"

#include <inttypes.h>
#include <string.h>

/* The members that a correction and a cancellation have in common. */
struct changed_wager {
	bool found;
	uint64_t transaction_id;
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
};

static enum outcome find_correction(struct check *check, const char *player_id, const char *game_id,
	uint32_t revision, struct changed_wager *changed)
{
	struct correction row;
	enum outcome code;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, player_id, sizeof(row.player_id));
	memcpy(row.game_id, game_id, sizeof(row.game_id));
	row.revision = revision;
	code = list_fetch(check->session, RECORD_CORRECTION, &row, &changed->found, NULL);
	changed->transaction_id = row.transaction_id;
	memcpy(changed->client_id, row.client_id, sizeof(changed->client_id));
	memcpy(changed->request_transaction_id, row.request_transaction_id,
		sizeof(changed->request_transaction_id));
	return code;
}

static enum outcome find_cancellation(struct check *check, const char *player_id,
	const char *game_id, uint32_t number, struct changed_wager *changed)
{
	struct cancellation row;
	enum outcome code;

	memset(&row, 0, sizeof(row));
	memcpy(row.player_id, player_id, sizeof(row.player_id));
	memcpy(row.game_id, game_id, sizeof(row.game_id));
	row.number = number;
	code = list_fetch(check->session, RECORD_CANCELLATION, &row, &changed->found, NULL);
	changed->transaction_id = row.transaction_id;
	memcpy(changed->client_id, row.client_id, sizeof(changed->client_id));
	memcpy(changed->request_transaction_id, row.request_transaction_id,
		sizeof(changed->request_transaction_id));
	return code;
}

static enum outcome find_change(struct check *check, enum entry_kind kind, const char *player_id,
	const char *game_id, uint32_t number, struct changed_wager *changed)
{
	memset(changed, 0, sizeof(*changed));
	return kind == ENTRY_CORRECTION
		? find_correction(check, player_id, game_id, number, changed)
		: find_cancellation(check, player_id, game_id, number, changed);
}

static const char *name_of(enum entry_kind kind)
{
	return kind == ENTRY_CORRECTION ? "correction" : "cancellation of bet";
}

enum outcome check_owner_of_change(struct check *check, const struct transaction *row)
{
	struct changed_wager changed;
	enum outcome code = find_change(check, row->kind, row->player_id, row->game_id,
		row->bet_number, &changed);

	if (code == OUTCOME_DONE &&
		(!changed.found || changed.transaction_id != row->transaction_id))
		proof_problem(&check->proof,
			"transaction %" PRIu64 " points to %s %s/%s/%" PRIu32 ", which is %s",
			row->transaction_id, name_of(row->kind), row->player_id, row->game_id,
			row->bet_number, changed.found ? "another transaction's" : "not there");
	return code;
}

enum outcome check_key_of_change(struct check *check, const struct request *row)
{
	struct changed_wager changed;
	enum outcome code;

	/* A cancellation that moved nothing has no row if its bet had been returned before. */
	if (!row->transaction_id)
		return OUTCOME_DONE;
	code = find_change(check, row->kind, row->player_id, row->game_id, row->bet_number,
		&changed);
	if (code == OUTCOME_DONE &&
		(!changed.found || strcmp(changed.client_id, row->owner) != 0 ||
			strcmp(changed.request_transaction_id, row->request_transaction_id) != 0))
		proof_problem(&check->proof,
			"request %s of %s points to %s %s/%s/%" PRIu32 ", which %s",
			row->request_transaction_id, row->owner, name_of(row->kind), row->player_id,
			row->game_id, row->bet_number,
			changed.found ? "was made by another key" : "is not there");
	return code;
}

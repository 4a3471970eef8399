/*
 * judge - selects the command that resolves a difference between the ledger and a
 * dealer's file.
 *
 * A bet is judged by its own row. The refund of a bet and the result of a round are judged by the
 * waiting callback, which `release` would send.
 */
#include "recon/judge.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "domain/callback.h"

#include <stdlib.h>
#include <string.h>

bool reconcile_operation(const struct compared *theirs, char id[OPERATION_ID_SIZE])
{
	uint64_t number;

	if (!text_unsigned(theirs->id, TRANSACTION_ID_MAX, &number))
		return false;
	snprintf(id, OPERATION_ID_SIZE, "rec-%llu", (unsigned long long)number);
	return true;
}

void judge_propose(struct reconcile *reconcile, enum remedy remedy, const struct compared *ours,
	const struct compared *theirs, const char *why)
{
	const size_t room = reconcile->room ? 2 * reconcile->room : 256;
	struct proposal *proposals, *proposal;

	if (reconcile->code != OUTCOME_DONE)
		return;
	if (reconcile->count == reconcile->room) {
		proposals = reallocarray(reconcile->proposals, room, sizeof(*proposals));
		if (!proposals) {
			reconcile->code = session_no_memory(reconcile->session);
			return;
		}
		reconcile->proposals = proposals;
		reconcile->room = room;
	}
	proposal = &reconcile->proposals[reconcile->count++];
	memset(proposal, 0, sizeof(*proposal));
	proposal->remedy = remedy;
	proposal->why = why;
	if (ours)
		proposal->ours = *ours;
	if (theirs)
		proposal->theirs = *theirs;
}

static bool texts_equal(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

static bool find_request(struct reconcile *reconcile, enum request_scope scope, const char *id,
	struct request *request)
{
	bool found = false;

	memset(request, 0, sizeof(*request));
	request->scope = scope;
	if (reconcile->code != OUTCOME_DONE || !id[0] || strlen(id) >= EXTERNAL_ID_SIZE)
		return false;
	snprintf(request->owner, sizeof(request->owner), "%s", reconcile->dealer.casino_id);
	snprintf(request->request_transaction_id, sizeof(request->request_transaction_id), "%s",
		id);
	reconcile->code = list_fetch(reconcile->session, RECORD_REQUEST, request, &found, NULL);
	return found;
}

/* Returns true if the request @id made a transaction in this ledger. */
static bool has_request(struct reconcile *reconcile, enum request_scope scope, const char *id)
{
	struct request request;

	return find_request(reconcile, scope, id, &request) && request.entry_seq;
}

/* Returns true if the dealer sealed its transfer @id in this ledger. */
static bool has_seal(struct reconcile *reconcile, const char *id)
{
	struct request request;

	return find_request(reconcile, SCOPE_DEALER, id, &request) && request_is_sealed(&request);
}

/* Judges a transaction that only the dealer has. */
static void judge_movement(struct reconcile *reconcile, const struct compared *theirs)
{
	char operation_id[OPERATION_ID_SIZE];

	if (recon_side_find(&reconcile->ours, RECON_MOVEMENT, theirs->id))
		judge_propose(reconcile, REMEDY_ASK, NULL, theirs,
			"the dealer booked it more than once");
	else if (has_request(reconcile, SCOPE_DEALER, theirs->reference))
		judge_propose(reconcile, REMEDY_NONE, NULL, theirs,
			"the dealer repeated it after the restore: it is booked under another id");
	else if (has_seal(reconcile, theirs->reference))
		judge_propose(reconcile, REMEDY_ASK, NULL, theirs,
			"the dealer sealed its reference: ask the dealer whether it booked the transfer");
	else if (!reconcile_operation(theirs, operation_id) || !theirs->user_id[0])
		judge_propose(reconcile, REMEDY_ASK, NULL, theirs,
			"the file names no transaction id or user_id: ask the dealer for them");
	else if (has_request(reconcile, SCOPE_OPERATOR, operation_id))
		judge_propose(reconcile, REMEDY_NONE, NULL, theirs, "it was adjusted already");
	else if (theirs->amount)
		judge_propose(reconcile, REMEDY_ADJUST, NULL, theirs,
			"it was made after the backup");
}

/* Returns the first of @count @rows, sorted by game_id, of the round; NULL if there is none. */
static const struct compared *find_in_round(const struct compared *const *rows, size_t count,
	const char *user_id, const char *game_id)
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(rows[middle]->game_id, game_id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && texts_equal(rows[low]->game_id, game_id); low++) {
		if (!rows[low]->user_id[0] || texts_equal(rows[low]->user_id, user_id))
			return rows[low];
	}
	return NULL;
}

/* Returns the dealer's result for the round of @game_id and @user_id; NULL if it has none. */
static const struct compared *find_result(const struct reconcile *reconcile, const char *user_id,
	const char *game_id)
{
	return find_in_round(reconcile->results, reconcile->result_count, user_id, game_id);
}

static int compare_reference(const void *reference, const void *row)
{
	return strcmp(reference, (*(const struct compared *const *)row)->reference);
}

/* Returns true if the dealer has a transaction with this request_transaction_id. */
static bool has_reference(const struct reconcile *reconcile, const char *reference)
{
	return bsearch(reference, reconcile->movements, reconcile->movement_count,
		sizeof(reconcile->movements[0]), compare_reference);
}

static bool settled_there(const struct reconcile *reconcile, const struct compared *bet)
{
	return texts_equal(bet->state, "settled") ||
		find_result(reconcile, bet->user_id, bet->game_id) ||
		find_in_round(reconcile->corrections, reconcile->correction_count, bet->user_id,
			bet->game_id);
}

/* Judges a bet that only the dealer has. */
static void judge_unknown_bet(struct reconcile *reconcile, const struct compared *theirs)
{
	if (recon_side_find(&reconcile->ours, RECON_BET, theirs->id))
		judge_propose(reconcile, REMEDY_ASK, NULL, theirs,
			"the dealer booked it more than once");
	else if (settled_there(reconcile, theirs))
		judge_propose(reconcile, REMEDY_NONE, NULL, theirs,
			"it was placed and settled after the backup: the dealer's books are right");
	else if (texts_equal(theirs->state, "refunded") || texts_equal(theirs->state, "rejected"))
		judge_propose(reconcile, REMEDY_NONE, NULL, theirs,
			"the dealer has no stake of it");
	else
		judge_propose(reconcile, REMEDY_ASK, NULL, theirs,
			"it was placed after the backup and is not known here: the dealer gives the "
			"stake back");
}

/* Returns true if the operator cancelled the refund of bet @ours. */
static bool refund_cancelled(const struct reconcile *reconcile, const struct compared *ours)
{
	const char *kind = callback_kind_names[CALLBACK_BETTING_REFUND];

	for (size_t i = 0; i < reconcile->ours.count; i++) {
		const struct compared *row = &reconcile->ours.rows[i];

		if (row->record == RECON_CALLBACK && row->transaction_id == ours->transaction_id &&
			texts_equal(row->kind, kind))
			return texts_equal(row->state, "cancelled");
	}
	return false;
}

/* Judges a bet that both sides have in different states. */
static void judge_bet(struct reconcile *reconcile, const struct compared *ours,
	const struct compared *theirs)
{
	const bool settled = settled_there(reconcile, theirs);

	if (texts_equal(ours->state, "refunding") ||
		(texts_equal(ours->state, "settled") && !texts_equal(theirs->state, "refunded")))
		return; /* judged by its callback */
	if (texts_equal(ours->state, "pending"))
		judge_propose(reconcile, REMEDY_SWEEP, ours, theirs,
			"it was being sent when the backup ended: run reconcile again after the sweeper");
	else if (texts_equal(ours->state, "accepted") && settled)
		judge_propose(reconcile, REMEDY_REPEAT, ours, theirs,
			"the game server repeats the result while callbacks are held; then run reconcile "
			"again before release");
	else if (texts_equal(ours->state, theirs->state) ||
		((texts_equal(ours->state, "rejected") || texts_equal(ours->state, "refunded")) &&
			(texts_equal(theirs->state, "rejected") ||
				texts_equal(theirs->state, "refunded"))))
		return;
	else if (settled && refund_cancelled(reconcile, ours))
		judge_propose(reconcile, REMEDY_NONE, ours, theirs, "its refund was cancelled");
	else if (texts_equal(ours->state, "rejected") || texts_equal(ours->state, "refunded"))
		judge_propose(reconcile, REMEDY_ASK, ours, theirs,
			settled ? "it has ended here without a result: the dealer decides with you"
				: "it has ended here: the dealer gives the stake back");
	else
		judge_propose(reconcile, REMEDY_ASK, ours, theirs, "the states do not fit");
}

static bool is_waiting(const struct compared *callback)
{
	return texts_equal(callback->state, "due") || texts_equal(callback->state, "sending") ||
		texts_equal(callback->state, "parked") || texts_equal(callback->state, "held");
}

void judge_propose_cancel(struct reconcile *reconcile, const struct compared *ours,
	const struct compared *theirs, const char *why)
{
	if (texts_equal(ours->state, "sending"))
		judge_propose(reconcile, REMEDY_SWEEP, ours, theirs,
			"it was being sent when the backup ended: run reconcile again after the sweeper");
	else
		judge_propose(reconcile, REMEDY_CANCEL, ours, theirs, why);
}

static void judge_refund(struct reconcile *reconcile, const struct compared *ours)
{
	char id[32];
	const struct compared *bet;
	bool settled, covered;

	snprintf(id, sizeof(id), "%llu", (unsigned long long)ours->transaction_id);
	bet = recon_side_find(&reconcile->theirs, RECON_BET, id);
	settled = bet && texts_equal(bet->state, "settled");
	/* A result covers no bet that was being refunded before: such a bet was no part of the round. */
	covered = find_result(reconcile, ours->user_id, ours->game_id) &&
		!(ours->time_ms && ours->time_ms <= reconcile->dealer.restored_to_ms);
	if (settled || covered)
		judge_propose_cancel(reconcile, ours, bet, "settled before the restore");
	else
		judge_propose(reconcile,
			texts_equal(ours->state, "parked") ? REMEDY_RETRY : REMEDY_RELEASE, ours,
			bet, "the dealer has no result that covers the bet: the refund may go");
}

static void judge_result(struct reconcile *reconcile, const struct compared *ours)
{
	const struct compared *theirs =
		recon_side_find(&reconcile->theirs, RECON_CALLBACK, ours->id);

	/*
	 * A dealer that stores no webhook-id may have derived one from the transaction_id of
	 * another round.
	 */
	if (theirs && theirs->game_id[0] && !texts_equal(theirs->game_id, ours->game_id))
		theirs = NULL;
	if (!theirs)
		theirs = find_result(reconcile, ours->user_id, ours->game_id);
	if (!theirs)
		judge_propose(reconcile,
			texts_equal(ours->state, "parked") ? REMEDY_RETRY : REMEDY_RELEASE, ours,
			NULL, "the dealer has no result of the round: it may go");
	else if (theirs->amount != ours->amount)
		judge_propose(reconcile, REMEDY_ASK, ours, theirs,
			"the dealer booked another amount for the round: agree on it before release");
	else
		judge_propose_cancel(reconcile, ours, theirs, "paid before the restore");
}

static void judge_callback(struct reconcile *reconcile, const struct compared *ours)
{
	if (!is_waiting(ours))
		return;
	if (ours->revision)
		judge_correction(reconcile, ours);
	else if (texts_equal(ours->kind, callback_kind_names[CALLBACK_BETTING_REFUND]))
		judge_refund(reconcile, ours);
	else if (texts_equal(ours->kind, callback_kind_names[CALLBACK_BETTING_RESULT]))
		judge_result(reconcile, ours);
}

/* Judges a row that the dealer lacks although its file is newer. */
static void judge_missing_there(struct reconcile *reconcile, const struct compared *ours)
{
	const bool transfer = ours->record == RECON_MOVEMENT &&
		(texts_equal(ours->kind, entry_kind_names[ENTRY_TRANSFER_IN]) ||
			texts_equal(ours->kind, entry_kind_names[ENTRY_TRANSFER_OUT]));
	const bool stake = ours->record == RECON_BET && reconcile->dealer.mode == WALLET_SEAMLESS &&
		(texts_equal(ours->state, "accepted") || texts_equal(ours->state, "settled"));

	if (!reconcile->since_ms || ours->time_ms < reconcile->since_ms ||
		ours->time_ms > reconcile->until_ms)
		return;
	if (transfer && has_reference(reconcile, ours->reference))
		return; /* repeated after the restore: see judge_movement() */
	if (transfer)
		judge_propose(reconcile, REMEDY_REPEAT, ours, NULL,
			"the dealer repeats the transfer with the same request_transaction_id");
	else if (stake)
		judge_propose(reconcile, REMEDY_ASK, ours, NULL, "the dealer took no stake for it");
}

static int order_names(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

bool judge_find_round(struct reconcile *reconcile, const struct compared *theirs,
	struct round *round)
{
	struct player player;
	bool found = false;

	memset(&player, 0, sizeof(player));
	memset(round, 0, sizeof(*round));
	memcpy(player.casino_id, reconcile->dealer.casino_id, sizeof(player.casino_id));
	if (!text_copy(player.user_id, sizeof(player.user_id), theirs->user_id) ||
		!text_copy(round->game_id, sizeof(round->game_id), theirs->game_id))
		return false;
	reconcile->code = list_fetch(reconcile->session, RECORD_PLAYER, &player, &found, NULL);
	if (reconcile->code != OUTCOME_DONE || !found)
		return false;
	memcpy(round->player_id, player.player_id, sizeof(round->player_id));
	reconcile->code = list_fetch(reconcile->session, RECORD_ROUND, round, &found, NULL);
	return reconcile->code == OUTCOME_DONE && found;
}

/*
 * Judges a result of the dealer. The file need not name its bets: they may be older than the
 * backup.
 */
static void judge_round_there(struct reconcile *reconcile, const struct compared *theirs)
{
	struct round round;

	if (!theirs->user_id[0])
		judge_propose(reconcile, REMEDY_ASK, NULL, theirs,
			"the file names no user_id of a result: ask the dealer for it");
	else if (judge_find_round(reconcile, theirs, &round) && round.state == ROUND_OPEN &&
		round.staked)
		judge_propose(reconcile, REMEDY_REPEAT, NULL, theirs,
			"the round is open here: the game server repeats the result while callbacks "
			"are held; then run reconcile again before release");
}

/*
 * Judges rounds that the dealer settled and that are open here, if no bet in the file indicates
 * it.
 */
static void judge_rounds(struct reconcile *reconcile)
{
	const char **games = calloc(reconcile->count + 1, sizeof(*games));
	size_t count = 0;

	if (!games) {
		reconcile->code = session_no_memory(reconcile->session);
		return;
	}
	for (size_t i = 0; i < reconcile->count; i++) {
		/* A bet in progress must end first. */
		if (reconcile->proposals[i].remedy == REMEDY_REPEAT ||
			reconcile->proposals[i].remedy == REMEDY_SWEEP)
			games[count++] = reconcile->proposals[i].ours.game_id;
	}
	qsort(games, count, sizeof(*games), order_names);
	for (size_t i = 0; i < reconcile->result_count && reconcile->code == OUTCOME_DONE; i++) {
		if (!bsearch(&reconcile->results[i]->game_id, games, count, sizeof(*games),
			    order_names))
			judge_round_there(reconcile, reconcile->results[i]);
	}
	for (size_t i = 0; i < reconcile->correction_count && reconcile->code == OUTCOME_DONE; i++)
		judge_correction_there(reconcile, reconcile->corrections[i]);
	free(games);
}

static void judge_pair(void *context, const struct compared *ours, const struct compared *theirs)
{
	struct reconcile *reconcile = context;
	const struct compared *any = ours ? ours : theirs;

	if (ours && ours->record == RECON_CALLBACK)
		judge_callback(reconcile, ours);
	else if (any->record == RECON_CALLBACK)
		return; /* a result of the dealer is looked up for our bets and callbacks */
	else if (!theirs)
		judge_missing_there(reconcile, ours);
	else if (!ours && any->record == RECON_MOVEMENT)
		judge_movement(reconcile, theirs);
	else if (!ours)
		judge_unknown_bet(reconcile, theirs);
	else if (ours->amount != theirs->amount)
		judge_propose(reconcile, REMEDY_ASK, ours, theirs, "the amounts differ");
	else if (any->record == RECON_BET)
		judge_bet(reconcile, ours, theirs);
}

static int order_results(const void *one, const void *other)
{
	return strcmp((*(const struct compared *const *)one)->game_id,
		(*(const struct compared *const *)other)->game_id);
}

/* Returns true if the dealer's row @row is of the callback @kind, and says that it was booked. */
static bool is_booked(const struct compared *row, enum callback_kind kind)
{
	const char *name = callback_kind_names[kind];

	return row->record == RECON_CALLBACK && row->game_id[0] &&
		!texts_equal(row->state, "parked") && !texts_equal(row->state, "failed") &&
		(texts_equal(row->kind, name) ||
			(!row->kind[0] && strncmp(row->id, name, strlen(name)) == 0));
}

static int order_references(const void *one, const void *other)
{
	return compare_reference((*(const struct compared *const *)one)->reference, other);
}

static enum outcome index_theirs(struct reconcile *reconcile)
{
	const struct side *theirs = &reconcile->theirs;

	reconcile->results = calloc(theirs->count + 1, sizeof(struct compared *));
	reconcile->corrections = calloc(theirs->count + 1, sizeof(struct compared *));
	reconcile->movements = calloc(theirs->count + 1, sizeof(struct compared *));
	if (!reconcile->results || !reconcile->corrections || !reconcile->movements ||
		!judge_index_corrections(reconcile))
		return session_no_memory(reconcile->session);
	for (size_t i = 0; i < theirs->count; i++) {
		const bool result = is_booked(&theirs->rows[i], CALLBACK_BETTING_RESULT);

		if (is_booked(&theirs->rows[i], CALLBACK_BETTING_CORRECTION) ||
			(result && judge_is_correction(reconcile, &theirs->rows[i])))
			reconcile->corrections[reconcile->correction_count++] = &theirs->rows[i];
		else if (result)
			reconcile->results[reconcile->result_count++] = &theirs->rows[i];
		else if (theirs->rows[i].record == RECON_MOVEMENT && theirs->rows[i].reference[0])
			reconcile->movements[reconcile->movement_count++] = &theirs->rows[i];
	}
	qsort(reconcile->movements, reconcile->movement_count, sizeof(struct compared *),
		order_references);
	qsort(reconcile->results, reconcile->result_count, sizeof(struct compared *),
		order_results);
	qsort(reconcile->corrections, reconcile->correction_count, sizeof(struct compared *),
		order_results);
	return OUTCOME_DONE;
}

/* Orders adjustments first, grouped by player; those that add credit precede the others. */
static int order_proposals(const void *one, const void *other)
{
	const struct proposal *a = one, *b = other;
	const struct compared *x = a->ours.id ? &a->ours : &a->theirs,
			      *y = b->ours.id ? &b->ours : &b->theirs;
	int users;

	if ((a->remedy == REMEDY_ADJUST) != (b->remedy == REMEDY_ADJUST))
		return a->remedy == REMEDY_ADJUST ? -1 : 1;
	if (a->remedy == REMEDY_ADJUST) {
		users = strcmp(x->user_id, y->user_id);
		if (users)
			return users;
		if ((x->amount > 0) != (y->amount > 0))
			return x->amount > 0 ? -1 : 1;
	} else if (a->remedy != b->remedy) {
		return a->remedy < b->remedy ? -1 : 1;
	}
	return compared_order(x, y);
}

/* Puts players that do not exist here, but need an adjustment, before everything else. */
static void add_players(struct reconcile *reconcile)
{
	const size_t adjustments = reconcile->count;
	const char *last = "";
	struct player player;
	bool found;

	for (size_t i = 0; i < adjustments && reconcile->code == OUTCOME_DONE; i++) {
		const struct compared theirs = reconcile->proposals[i].theirs;

		if (reconcile->proposals[i].remedy != REMEDY_ADJUST ||
			texts_equal(theirs.user_id, last))
			continue;
		last = theirs.user_id;
		memset(&player, 0, sizeof(player));
		memcpy(player.casino_id, reconcile->dealer.casino_id, sizeof(player.casino_id));
		reconcile->code = names_read_external_id(reconcile->session, "a user id", last,
			player.user_id);
		if (reconcile->code != OUTCOME_DONE)
			return;
		reconcile->code =
			list_fetch(reconcile->session, RECORD_PLAYER, &player, &found, NULL);
		if (!found)
			judge_propose(reconcile, REMEDY_ADD_PLAYER, NULL, &theirs,
				"the player is not known here");
	}
}

static int order_steps(const void *one, const void *other)
{
	const struct proposal *a = one, *b = other;

	if ((a->remedy == REMEDY_ADD_PLAYER) != (b->remedy == REMEDY_ADD_PLAYER))
		return a->remedy == REMEDY_ADD_PLAYER ? -1 : 1;
	return order_proposals(one, other);
}

enum outcome reconcile_judge(struct reconcile *reconcile)
{
	reconcile->code = index_theirs(reconcile);
	if (reconcile->code != OUTCOME_DONE)
		return reconcile->code;
	recon_sides_walk(&reconcile->ours, &reconcile->theirs, judge_pair, reconcile);
	if (reconcile->code == OUTCOME_DONE)
		judge_rounds(reconcile);
	if (reconcile->count)
		qsort(reconcile->proposals, reconcile->count, sizeof(struct proposal),
			order_proposals);
	add_players(reconcile);
	if (reconcile->count)
		qsort(reconcile->proposals, reconcile->count, sizeof(struct proposal), order_steps);
	return reconcile->code;
}

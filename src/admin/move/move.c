#include "admin/move/move.h"

#include "base/clock.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define LOOK_AGAIN_MS 50

void move_open(struct move *move, struct session *from, struct session *to, const char *casino_id)
{
	memset(move, 0, sizeof(*move));
	move->from.session = from;
	move->to.session = to;
	move->settle_ms = MOVE_SETTLE_MS;
	text_copy(move->casino_id, sizeof(move->casino_id), casino_id);
	buffer_init(&move->from.after, MOVE_AFTER_MAX);
	buffer_init(&move->to.after, MOVE_AFTER_MAX);
	buffer_init(&move->dealer, 64 * 1024);
}

void move_close(struct move *move)
{
	if (move->dealer.data)
		explicit_bzero(move->dealer.data, move->dealer.len);
	buffer_free(&move->dealer);
	buffer_free(&move->from.after);
	buffer_free(&move->to.after);
}

enum outcome move_ask(struct move *move, struct move_side *side, enum command command,
	const void *cmd, void *result)
{
	struct failure failure;
	const enum outcome code = session_try(side->session, command, cmd, result, &failure);

	if (code == OUTCOME_DONE || !failure.id[0])
		return code;
	return session_fail(move->from.session, code, failure.id, "%s%s",
		side == &move->to ? "the ledger that the dealer moves to: " : "", failure.detail);
}

/* Keeps the answer of the side's ledger. */
static enum outcome keep_state(struct move *move, struct move_side *side,
	const struct dealer_move_result *result)
{
	side->now = *result;
	buffer_reset(&side->after);
	if (!buffer_append(&side->after, result->move.after.data, result->move.after.len))
		return session_no_memory(move->from.session);
	side->now.move.after = (struct bytes){side->after.data, (uint32_t)side->after.len};
	return OUTCOME_DONE;
}

/* Does a step in the side's ledger. */
static enum outcome do_step(struct move *move, struct move_side *side, enum move_action action)
{
	const struct move_side *other = side == &move->from ? &move->to : &move->from;
	struct dealer_move_cmd cmd = {.operator= move->from.session->operator, .action = action };
	struct dealer_move_result result;
	enum outcome code;

	memcpy(cmd.casino_id, move->casino_id, sizeof(cmd.casino_id));
	memcpy(cmd.id, move->id, sizeof(cmd.id));
	memcpy(cmd.peer, other->installation, sizeof(cmd.peer));
	memcpy(cmd.other, side == &move->from ? move->to_name : move->from_name, sizeof(cmd.other));
	if (action == MOVE_ARRIVE || action == MOVE_OPEN)
		cmd.dealer = (struct bytes){move->dealer.data, (uint32_t)move->dealer.len};
	if (action == MOVE_OPEN) {
		cmd.page = move->compared_page;
		cmd.rows = move->compared_rows;
		cmd.complete_to_ms = move->complete_to_ms;
	}
	code = move_ask(move, side, COMMAND_DEALER_MOVE, &cmd, &result);
	return code == OUTCOME_DONE ? keep_state(move, side, &result) : code;
}

/* Returns true if the side has this move in the state. */
static bool is_in(const struct move *move, const struct move_side *side, enum move_state state)
{
	return side->now.has_move && side->now.move.state == state &&
		strcmp(side->now.move.id, move->id) == 0;
}

static bool is_live(const struct move_side *side)
{
	return side->now.has_move && move_is_live(side->now.move.state);
}

/* Learns which ledgers these are, and the state of the move in both. */
static enum outcome look_at_both(struct move *move)
{
	const struct status_cmd cmd = {.unused = false};
	struct move_side *const sides[] = {&move->from, &move->to};
	struct status_result status;
	enum outcome code = OUTCOME_DONE;

	for (size_t i = 0; i < 2 && code == OUTCOME_DONE; i++) {
		code = move_ask(move, sides[i], COMMAND_STATUS, &cmd, &status);
		if (code == OUTCOME_DONE)
			text_copy(sides[i]->installation, MOVE_PEER_SIZE, status.installation);
		if (code == OUTCOME_DONE)
			code = do_step(move, sides[i], MOVE_LOOK);
	}
	if (code == OUTCOME_DONE && strcmp(move->from.installation, move->to.installation) == 0)
		return session_fail(move->from.session, OUTCOME_USAGE, "usage",
			"both configurations name the same ledger");
	return code;
}

/* Returns true if the half of the move names the other ledger. */
static bool names_other(const struct move_side *side, const struct move_side *other)
{
	return strcmp(side->now.move.peer, other->installation) == 0;
}

static enum outcome fail_elsewhere(struct move *move, const struct move_side *side)
{
	return session_fail(move->from.session, OUTCOME_FAILED, "not_allowed_now",
		"dealer %s: another move of it is %s in %s ledger, with the installation %s%s%s",
		move->casino_id, move_state_names[side->now.move.state],
		side == &move->from ? "this" : "the other", side->now.move.peer,
		side->now.move.other[0] ? ", cell " : "", side->now.move.other);
}

static enum outcome fail_without_dealer(struct move *move)
{
	return session_fail(move->from.session, OUTCOME_FAILED, "dealer_not_found",
		"dealer %s: this ledger does not have it, so there is nothing to undo",
		move->casino_id);
}

/* Finds out which move it is: the one under way, or a new one. */
static enum outcome identify_move(struct move *move)
{
	const struct dealer_move *ours = &move->from.now.move, *theirs = &move->to.now.move;

	if (is_live(&move->from) && !names_other(&move->from, &move->to))
		return fail_elsewhere(move, &move->from);
	if (is_live(&move->to) && !names_other(&move->to, &move->from))
		return fail_elsewhere(move, &move->to);
	if (!move->from.now.has_dealer && move->from.now.has_move &&
		!names_other(&move->from, &move->to))
		return fail_elsewhere(move, &move->from);
	if (is_live(&move->from) || (!move->from.now.has_dealer && move->from.now.has_move)) {
		if (is_live(&move->to) && strcmp(ours->id, theirs->id) != 0)
			return fail_elsewhere(move, &move->to);
		memcpy(move->id, ours->id, sizeof(move->id));
		return OUTCOME_DONE;
	}
	/* The other ledger has not finished a move to this one. */
	if (is_live(&move->to) && theirs->state != MOVE_ARRIVING && theirs->state != MOVE_UNDOING)
		return fail_elsewhere(move, &move->to);
	if (is_live(&move->to))
		return session_fail(move->from.session, OUTCOME_FAILED, "not_allowed_now",
			"dealer %s: an aborted move is not undone yet; repeat the command with --abort first",
			move->casino_id);
	memcpy(move->id, move->from.session->operator.operation_id, sizeof(move->id));
	return OUTCOME_DONE;
}

/* Waits until no callback of the dealer is being sent. */
static enum outcome wait_until_quiet(struct move *move)
{
	const int64_t until_ms = clock_boot_ms() + MOVE_PATIENCE_MS;
	enum outcome code = do_step(move, &move->from, MOVE_LOOK);

	while (code == OUTCOME_DONE && move->from.now.sending) {
		if (clock_boot_ms() >= until_ms)
			return session_fail(move->from.session, OUTCOME_FAILED, "not_allowed_now",
				"dealer %s: %" PRIu64
				" callbacks are still being sent; see that the sweeper runs, and repeat "
				"the command",
				move->casino_id, move->from.now.sending);
		move->pass = (struct move_progress){
			.what = "callbacks under way",
			.count = move->from.now.sending,
		};
		if (move->progress)
			move->progress(move->progress_closure, &move->pass);
		clock_sleep_ms(LOOK_AGAIN_MS);
		code = do_step(move, &move->from, MOVE_LOOK);
	}
	return code;
}

/*
 * Looks at the second ledger, whose data may have gone back to a backup since it answered last, and sets *arrived to
 * true if it has recorded the arrival of the dealer by this move. Only then it has had all rows.
 */
static enum outcome prove_arrival(struct move *move, bool *arrived)
{
	const enum outcome code = do_step(move, &move->to, MOVE_LOOK);

	*arrived = code == OUTCOME_DONE && move->to.now.has_opened;
	return code;
}

/* Fails unless the second ledger has recorded the arrival. */
static enum outcome need_arrival(struct move *move)
{
	bool arrived;
	const enum outcome code = prove_arrival(move, &arrived);

	if (code == OUTCOME_DONE && !arrived)
		return session_fail(move->from.session, OUTCOME_FAILED, "not_allowed_now",
			"dealer %s: the other ledger went back to an older backup, without the arrival of "
			"the dealer by this move; %s: see dealer move in creditbridgectl(8)",
			move->casino_id,
			is_in(move, &move->from, MOVE_GONE) ? "it has no rows of it"
							    : "nothing more is deleted here");
	return code;
}

/* Copies the rows that the second ledger does not have, and compares all. */
static enum outcome copy_rows(struct move *move)
{
	enum outcome code = move_fetch_dealer(move);
	uint64_t page;

	if (code == OUTCOME_DONE && !is_in(move, &move->to, MOVE_ARRIVING))
		code = do_step(move, &move->to, MOVE_ARRIVE);
	if (code == OUTCOME_DONE && !is_in(move, &move->to, MOVE_ARRIVING))
		return fail_elsewhere(move, &move->to);
	if (code == OUTCOME_DONE)
		code = move_copy(move);
	/* What it has before the comparison is what it must have when it opens the dealer. */
	page = move->to.now.move.page;
	if (code == OUTCOME_DONE)
		code = do_step(move, &move->to, MOVE_LOOK);
	if (code == OUTCOME_DONE &&
		(!is_in(move, &move->to, MOVE_ARRIVING) || move->to.now.move.page != page))
		return fail_elsewhere(move, &move->to);
	move->compared_page = page;
	move->compared_rows = move->to.now.move.rows;
	if (code == OUTCOME_DONE)
		code = move_compare(move);
	move->is_compared = code == OUTCOME_DONE;
	return code;
}

/*
 * Copies and compares, and cuts the dealer off the first ledger. If the second one has had the dealer by this move,
 * the data of the first one went back since: then nothing is to be copied.
 */
static enum outcome copy_and_cut(struct move *move)
{
	enum outcome code = wait_until_quiet(move);
	bool arrived = false;

	if (code == OUTCOME_DONE)
		code = prove_arrival(move, &arrived);
	if (code == OUTCOME_DONE && !arrived)
		code = copy_rows(move);
	return code == OUTCOME_DONE ? do_step(move, &move->from, MOVE_CUT) : code;
}

/*
 * The second ledger serves the dealer from here on. An earlier run may have compared long ago, and the data of the
 * second ledger may have gone back since.
 */
static enum outcome open_and_remove(struct move *move)
{
	bool arrived;
	enum outcome code = prove_arrival(move, &arrived);

	if (code == OUTCOME_DONE && !arrived && !move->is_compared)
		code = copy_rows(move);
	if (code == OUTCOME_DONE && !arrived)
		code = move_find_restore(move);
	if (code == OUTCOME_DONE && !arrived)
		code = do_step(move, &move->to, MOVE_OPEN);
	if (code != OUTCOME_DONE)
		return code;
	/* While both keyrings have the dealer. A worker that finds it in neither refuses its key. */
	clock_sleep_ms(move->settle_ms);
	code = need_arrival(move);
	return code == OUTCOME_DONE ? do_step(move, &move->from, MOVE_REMOVE) : code;
}

static enum outcome delete_and_finish(struct move *move)
{
	enum outcome code = need_arrival(move);

	if (code == OUTCOME_DONE)
		code = move_delete(move, &move->from);
	if (code != OUTCOME_DONE)
		return code;
	/* A worker that still has the keys of this cell gets service_unavailable here, and later "not found". */
	clock_sleep_ms(move->settle_ms);
	code = need_arrival(move);
	return code == OUTCOME_DONE ? do_step(move, &move->from, MOVE_FINISH) : code;
}

enum outcome move_dealer(struct move *move)
{
	enum outcome code = look_at_both(move);

	if (code == OUTCOME_DONE)
		code = identify_move(move);
	if (code == OUTCOME_DONE && !is_live(&move->from) && !is_in(move, &move->from, MOVE_GONE))
		code = do_step(move, &move->from, MOVE_LEAVE);
	if (code == OUTCOME_DONE && is_in(move, &move->from, MOVE_LEAVING))
		code = copy_and_cut(move);
	if (code == OUTCOME_DONE && is_in(move, &move->from, MOVE_LEFT))
		code = open_and_remove(move);
	if (code == OUTCOME_DONE && is_in(move, &move->from, MOVE_REMOVING))
		code = delete_and_finish(move);
	if (code == OUTCOME_DONE && !is_in(move, &move->from, MOVE_GONE))
		return fail_elsewhere(move, &move->from);
	return code == OUTCOME_DONE ? need_arrival(move) : code;
}

/* Deletes what an aborted move put in the second ledger. */
static enum outcome undo_copy(struct move *move)
{
	enum outcome code = OUTCOME_DONE;

	if (!is_in(move, &move->to, MOVE_UNDOING))
		code = do_step(move, &move->to, MOVE_UNDO);
	if (code == OUTCOME_DONE)
		code = move_delete(move, &move->to);
	return code == OUTCOME_DONE ? do_step(move, &move->to, MOVE_UNDONE) : code;
}

/* Ends the half of the move in the first ledger, which decides: the second one can never open the dealer after this. */
static enum outcome stay_here(struct move *move)
{
	const enum move_state state = move->from.now.move.state;
	bool arrived;
	enum outcome code;

	memcpy(move->id, move->from.now.move.id, sizeof(move->id));
	code = prove_arrival(move, &arrived);
	if (code != OUTCOME_DONE)
		return code;
	if (state == MOVE_ARRIVING || state == MOVE_UNDOING)
		return session_fail(move->from.session, OUTCOME_FAILED, "not_allowed_now",
			"dealer %s: it moves to this ledger; undo the move in the ledger that it leaves",
			move->casino_id);
	if (state != MOVE_LEAVING || arrived)
		return session_fail(move->from.session, OUTCOME_FAILED, "not_allowed_now",
			"dealer %s: it is too late to undo the move%s; repeat the command without --abort, "
			"which completes it",
			move->casino_id,
			arrived ? ", because the dealer has arrived in the other ledger" : "");
	return do_step(move, &move->from, MOVE_STAY);
}

/*
 * Undoes the half of the second ledger. Refused unless the first ledger has the dealer or has aborted the move: the rows
 * of the second one may be the only ones.
 */
static enum outcome undo_half(struct move *move)
{
	enum outcome code;

	memcpy(move->id, move->to.now.move.id, sizeof(move->id));
	code = do_step(move, &move->from, MOVE_LOOK);
	if (code == OUTCOME_DONE && !move->from.now.has_dealer && !move->from.now.has_stayed)
		return fail_without_dealer(move);
	return code == OUTCOME_DONE ? undo_copy(move) : code;
}

enum outcome move_abort(struct move *move)
{
	enum outcome code = look_at_both(move);
	const bool ours = is_live(&move->from) && names_other(&move->from, &move->to);
	const bool theirs = is_live(&move->to) && names_other(&move->to, &move->from);

	if (code != OUTCOME_DONE)
		return code;
	if (is_live(&move->from) && !ours && !theirs)
		return fail_elsewhere(move, &move->from);
	if (is_live(&move->to) && !theirs)
		return fail_elsewhere(move, &move->to);
	if (!ours && !theirs && !move->from.now.has_dealer)
		return fail_without_dealer(move);
	if (ours)
		code = stay_here(move);
	return code == OUTCOME_DONE && theirs ? undo_half(move) : code;
}

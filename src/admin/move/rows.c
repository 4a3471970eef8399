/*
 * rows - copies, compares and deletes the rows of a dealer page by page.
 */
#include "admin/move/move.h"

#include "base/text.h"
#include "link/frame.h"

#include <inttypes.h>
#include <string.h>

/* A walk over the rows of one kind. */
struct kind_walk {
	struct move *move;
	struct move_side *side;
	enum record record;
	enum move_want want;
	struct buffer cursor;
	struct move_tally tally;
	struct move_read_result page;
};

static void walk_begin(struct kind_walk *walk, struct move *move, struct move_side *side,
	enum record record, enum move_want want)
{
	memset(walk, 0, sizeof(*walk));
	walk->move = move;
	walk->side = side;
	walk->record = record;
	walk->want = want;
	walk->page.more = true;
	buffer_init(&walk->cursor, MOVE_AFTER_MAX);
}

static struct bytes cursor_of(const struct kind_walk *walk)
{
	return (struct bytes){walk->cursor.data, (uint32_t)walk->cursor.len};
}

/*
 * Returns the bytes of the kind's table if a walk reads all of it; 0 if its keys begin with the dealer, of which only the
 * rows are read.
 */
static uint64_t kind_bytes(const struct move_side *side, enum record record)
{
	return strcmp(record_infos[record].fields[0].name, "casino_id") == 0
		? 0
		: side->table_bytes[record];
}

uint64_t move_walk_bytes(const struct move_side *side, bool compared)
{
	uint64_t bytes = 0;

	for (unsigned int at = 0; at < move_record_count; at++) {
		if (!compared || !move_copies(move_records[at]))
			bytes += kind_bytes(side, move_records[at]);
	}
	return bytes;
}

static void pass_begin(struct move *move, const char *what, uint64_t bytes_all)
{
	move->pass = (struct move_progress){.what = what, .bytes_all = bytes_all};
}

/* Adds the page that was read. */
static void pass_add(struct kind_walk *walk)
{
	struct move_progress *const pass = &walk->move->pass;
	const uint64_t bytes = kind_bytes(walk->side, walk->record);

	pass->looked += walk->page.looked;
	if (!walk->page.more)
		pass->bytes_kinds += bytes;
	pass->bytes = pass->bytes_kinds + bytes / 1000000 * walk->page.part;
}

/* Reads the next page. */
static enum outcome walk_next(struct kind_walk *walk)
{
	struct move_read_cmd cmd = {
		.record = walk->record,
		.want = walk->want,
		.cursor = cursor_of(walk),
	};
	enum outcome code;

	memcpy(cmd.casino_id, walk->move->casino_id, sizeof(cmd.casino_id));
	memcpy(cmd.id, walk->move->id, sizeof(cmd.id));
	memcpy(cmd.digest, walk->tally.digest, sizeof(cmd.digest));
	code = move_ask(walk->move, walk->side, COMMAND_MOVE_READ, &cmd, &walk->page);
	if (code != OUTCOME_DONE)
		return code;
	pass_add(walk);
	walk->tally.count += walk->page.count;
	walk->tally.amount += walk->page.amount;
	memcpy(walk->tally.digest, walk->page.digest, sizeof(walk->tally.digest));
	buffer_reset(&walk->cursor);
	return buffer_append(&walk->cursor, walk->page.cursor.data, walk->page.cursor.len)
		? OUTCOME_DONE
		: session_no_memory(walk->move->from.session);
}

static void show_rows(struct move *move, uint64_t count)
{
	move->pass.count = count;
	if (move->progress)
		move->progress(move->progress_closure, &move->pass);
}

/* Calls @act for the pages of one kind after @after. */
static enum outcome walk_kind(struct move *move, struct move_side *side, enum record record,
	enum move_want want, struct bytes after, enum outcome (*act)(const struct kind_walk *walk))
{
	struct kind_walk walk;
	enum outcome code = OUTCOME_DONE;

	walk_begin(&walk, move, side, record, want);
	if (!buffer_append(&walk.cursor, after.data, after.len))
		code = session_no_memory(move->from.session);
	while (code == OUTCOME_DONE && walk.page.more) {
		code = walk_next(&walk);
		show_rows(move, move->rows);
		/* An empty page counts if it is the last one: the kind is complete. */
		if (code == OUTCOME_DONE && (walk.page.count || !walk.page.more))
			code = act(&walk);
	}
	buffer_free(&walk.cursor);
	return code;
}

/* Returns the place of the kind in move_records; move_record_count: it has none. */
static unsigned int kind_place(uint32_t record)
{
	unsigned int at = 0;

	while (at < move_record_count && move_records[at] != record)
		at++;
	return at;
}

/* ---- copy */

static enum outcome put_page(const struct kind_walk *walk)
{
	struct move *const move = walk->move;
	struct move_put_cmd cmd = {
		.operator= move->from.session->operator,
		.page = move->to.now.move.page + 1,
		.record = walk->record,
		.rows = walk->page.rows,
		.cursor = cursor_of(walk),
	};
	struct move_put_result result;
	enum outcome code;

	memcpy(cmd.casino_id, move->casino_id, sizeof(cmd.casino_id));
	memcpy(cmd.id, move->id, sizeof(cmd.id));
	code = move_ask(move, &move->to, COMMAND_MOVE_PUT, &cmd, &result);
	if (code != OUTCOME_DONE)
		return code;
	move->to.now.move.page = result.page;
	move->rows += walk->page.count;
	show_rows(move, move->rows);
	return OUTCOME_DONE;
}

enum outcome move_copy(struct move *move)
{
	const struct dealer_move *there = &move->to.now.move;
	unsigned int at = there->page ? kind_place(there->page_kind) : 0;
	struct bytes after = there->page ? there->after : (struct bytes){NULL, 0};
	enum outcome code = OUTCOME_DONE;

	/* Without a cursor the kind was complete. */
	if (there->page && !after.len)
		at++;
	pass_begin(move, "rows copied", move_walk_bytes(&move->from, false));
	for (unsigned int done = 0; done < at; done++)
		move->pass.bytes_kinds += kind_bytes(&move->from, move_records[done]);
	for (; code == OUTCOME_DONE && at < move_record_count; at++) {
		code = walk_kind(move, &move->from, move_records[at], MOVE_WANT_ROWS, after,
			put_page);
		after.len = 0;
	}
	return code;
}

/* ---- compare */

static enum outcome tally_kind(struct move *move, struct move_side *side, enum record record,
	struct move_tally *tally)
{
	struct kind_walk walk;
	enum outcome code = OUTCOME_DONE;

	walk_begin(&walk, move, side, record, MOVE_WANT_SUMS);
	while (code == OUTCOME_DONE && walk.page.more) {
		code = walk_next(&walk);
		if (code == OUTCOME_DONE)
			move->compared += walk.page.count;
		show_rows(move, move->compared);
	}
	*tally = walk.tally;
	buffer_free(&walk.cursor);
	return code;
}

static enum outcome compare_kind(struct move *move, enum record record)
{
	struct move_tally ours, theirs;
	char our_sum[SUM_TEXT_MAX], their_sum[SUM_TEXT_MAX];
	enum outcome code = tally_kind(move, &move->from, record, &ours);

	if (code == OUTCOME_DONE)
		code = tally_kind(move, &move->to, record, &theirs);
	if (code != OUTCOME_DONE)
		return code;
	move->tallies[record] = ours;
	if (ours.count == theirs.count && ours.amount == theirs.amount &&
		strcmp(ours.digest, theirs.digest) == 0)
		return OUTCOME_DONE;
	sum_format(ours.amount, 4, our_sum);
	sum_format(theirs.amount, 4, their_sum);
	return session_fail(move->from.session, OUTCOME_FAILED, "failed",
		"dealer %s: the rows of the kind %s differ: %" PRIu64
		" with the sum %s here, %" PRIu64 " with %s in the other ledger; %s",
		move->casino_id, record_infos[record].name, ours.count, our_sum, theirs.count,
		their_sum,
		move->from.now.move.state == MOVE_LEAVING
			? "nothing was given up: undo the move with --abort"
			: "neither ledger serves the dealer now: see dealer move in "
			  "creditbridgectl(8)");
}

enum outcome move_compare(struct move *move)
{
	enum outcome code = OUTCOME_DONE;

	pass_begin(move, "rows compared",
		move_walk_bytes(&move->from, true) + move_walk_bytes(&move->to, true));
	for (unsigned int at = 0; code == OUTCOME_DONE && at < move_record_count; at++) {
		if (!move_copies(move_records[at]))
			code = compare_kind(move, move_records[at]);
	}
	return code;
}

/* ---- delete */

static enum outcome drop_page(const struct kind_walk *walk)
{
	struct move *const move = walk->move;
	struct move_drop_cmd cmd = {
		.record = walk->record,
		.keys = walk->page.rows,
		.cursor = cursor_of(walk),
	};
	struct move_drop_result result;
	struct buffer keys;
	enum outcome code;

	memcpy(cmd.casino_id, move->casino_id, sizeof(cmd.casino_id));
	memcpy(cmd.id, move->id, sizeof(cmd.id));
	/* The keys are in the answer of the same connection. */
	buffer_init(&keys, FRAME_MAX);
	if (buffer_append(&keys, cmd.keys.data, cmd.keys.len)) {
		cmd.keys.data = keys.data;
		code = move_ask(move, walk->side, COMMAND_MOVE_DROP, &cmd, &result);
	} else {
		code = session_no_memory(move->from.session);
	}
	buffer_free(&keys);
	if (code != OUTCOME_DONE)
		return code;
	move->rows += result.dropped;
	show_rows(move, move->rows);
	return OUTCOME_DONE;
}

/* Returns true if rows of the kind stay: retired keys always, batches of results unless the move is undone. */
static bool row_stays(const struct move_side *side, enum record record)
{
	return record == RECORD_RETIRED_DIGEST ||
		(move_copies(record) && side->now.move.state == MOVE_REMOVING);
}

/* In the reverse order: a row goes before those by which its dealer is found. */
enum outcome move_delete(struct move *move, struct move_side *side)
{
	const unsigned int last = kind_place(side->now.move.page_kind);
	struct bytes after = side->now.move.after;
	unsigned int at = last;
	enum outcome code = OUTCOME_DONE;

	if (last < move_record_count && after.len)
		at = last + 1;
	pass_begin(move, "rows deleted", 0);
	for (unsigned int left = 0; left < at; left++) {
		if (!row_stays(side, move_records[left]))
			move->pass.bytes_all += kind_bytes(side, move_records[left]);
	}
	while (code == OUTCOME_DONE && at-- > 0) {
		if (!row_stays(side, move_records[at]))
			code = walk_kind(move, side, move_records[at], MOVE_WANT_KEYS, after,
				drop_page);
		after.len = 0;
	}
	return code;
}

enum outcome move_fetch_dealer(struct move *move)
{
	struct kind_walk walk;
	enum outcome code;

	walk_begin(&walk, move, &move->from, RECORD_DEALER, MOVE_WANT_ROWS);
	code = walk_next(&walk);
	buffer_reset(&move->dealer);
	if (code == OUTCOME_DONE &&
		!buffer_append(&move->dealer, walk.page.rows.data, walk.page.rows.len))
		code = session_no_memory(move->from.session);
	if (code == OUTCOME_DONE && walk.page.count != 1)
		code = session_fail(move->from.session, OUTCOME_FAILED, "dealer_not_found",
			"dealer %s: its row is not there", move->casino_id);
	buffer_free(&walk.cursor);
	return code;
}

/*
 * Tests replays of parked callbacks: what they select, the one attempt that each gets, the stop, and what a
 * restart leaves.
 */
#include "case_wagers.h"

#include "base/pack.h"
#include "base/text.h"
#include "ledger/replay.h"

#include <stdio.h>
#include <string.h>

#define PARKED_MAX 128

static uint64_t parked[PARKED_MAX];

/* Sends the due callback, which the dealer refuses. */
static void park(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		parked[i] = case_refused_result(i, 2 * CREDIT);
		case_park(parked[i]);
	}
}

struct find_row {
	uint64_t number;
	void *row;
	size_t size;
	bool found;
};

static void keep_row(void *context, const void *row)
{
	struct find_row *find = context;

	if (memcmp(row, &find->number, sizeof(find->number)) != 0)
		return;
	memcpy(find->row, row, find->size);
	find->found = true;
}

static struct callback callback_row(uint64_t event)
{
	struct callback row;
	struct find_row find = {event, &row, sizeof(row), false};

	case_list(RECORD_CALLBACK, false, 64, keep_row, &find);
	ck_assert(find.found);
	return row;
}

static struct replay replay_row(uint64_t id)
{
	struct replay row;
	struct find_row find = {id, &row, sizeof(row), false};

	case_list(RECORD_REPLAY, false, 64, keep_row, &find);
	ck_assert(find.found);
	return row;
}

static struct replay_preview_result preview_by(const struct replay_preview_cmd *cmd)
{
	static struct buffer out;
	struct slot *slot = case_run(COMMAND_REPLAY_PREVIEW, cmd);

	buffer_free(&out);
	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, slot, 1, &out);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	return slot->result.replay_preview;
}

static struct replay_preview_result preview(const struct replay_filter *filter, struct bytes events)
{
	const struct replay_preview_cmd cmd = {.filter = *filter, .events = events};

	return preview_by(&cmd);
}

static const struct bytes none = {NULL, 0};

/* Previews the parked ones of demo, and returns the command that starts what was counted. */
static struct replay_start_cmd begin_of(struct bytes events)
{
	struct replay_start_cmd cmd;
	struct replay_preview_result counted;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	strcpy(cmd.operator.reason, "dealer is up");
	strcpy(cmd.filter.casino_id, "demo");
	cmd.events = events;
	counted = preview(&cmd.filter, events);
	cmd.filter.first_event = counted.first_event;
	cmd.filter.last_event = counted.last_event;
	cmd.filter.parked_to_ms = counted.parked_to_ms;
	cmd.expected = replay_event_count(&counted.found);
	return cmd;
}

static struct replay_start_result start(const struct replay_start_cmd *cmd)
{
	return case_run(COMMAND_REPLAY_START, cmd)->result.replay_start;
}

static void step(void)
{
	case_pass(SECOND);
	ck_assert(replay_step(&case_ledger, case_moment()));
}

/* Sends what is due of the parked ones. Returns how many that were. */
static unsigned int send_due(unsigned int count)
{
	unsigned int sent = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (callback_row(parked[i]).state != CALLBACK_DUE)
			continue;
		case_refuse(parked[i]);
		sent++;
	}
	return sent;
}

START_TEST(each_gets_one_attempt_more)
{
	struct replay_start_cmd cmd;
	struct replay row;
	uint64_t id;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(20);
	cmd = begin_of(none);
	ck_assert_uint_eq(cmd.expected, 20);
	id = start(&cmd).id;
	ck_assert_uint_eq(id, 1);
	/* A form that is sent twice starts one replay. */
	ck_assert(start(&cmd).verdict.replay);
	ck_assert_uint_eq(start(&cmd).id, id);
	step();
	row = replay_row(id);
	ck_assert_uint_eq(row.made_due, REPLAY_STEP_MAX);
	/* No step before the rate allows it. */
	ck_assert(replay_step(&case_ledger, case_moment()));
	ck_assert_uint_eq(replay_row(id).made_due, REPLAY_STEP_MAX);
	if (_i == CASE_DISK)
		case_reopen();
	ck_assert_uint_eq(send_due(20), REPLAY_STEP_MAX);
	for (unsigned int i = 0; i < 4; i++)
		step();
	if (_i == CASE_DISK)
		case_reopen();
	ck_assert_uint_eq(send_due(20), 20 - REPLAY_STEP_MAX);
	for (unsigned int i = 0; i < 4; i++)
		step();
	ck_assert_uint_eq(send_due(20), 0);
	for (unsigned int i = 0; i < 20; i++) {
		ck_assert_uint_eq(callback_row(parked[i]).attempts, 4);
		ck_assert_int_eq(callback_row(parked[i]).state, CALLBACK_PARKED);
		ck_assert_uint_eq(callback_row(parked[i]).replay, 0);
	}
	row = replay_row(id);
	ck_assert_int_eq(row.state, REPLAY_DONE);
	ck_assert_uint_eq(row.made_due, 20);
	ck_assert_uint_eq(row.parked_again, 20);
	ck_assert_uint_eq(case_ledger.derived.replays.count, 0);
	case_prove();
	case_close();
}
END_TEST

START_TEST(what_is_parked_later_stays)
{
	struct replay_start_cmd cmd;
	uint64_t later;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(2);
	later = case_refused_result(2, 2 * CREDIT);
	cmd = begin_of(none);
	ck_assert_uint_eq(cmd.expected, 2);
	case_park(later);
	parked[2] = case_refused_result(3, 2 * CREDIT);
	case_park(parked[2]);
	start(&cmd);
	step();
	step();
	ck_assert_uint_eq(send_due(2), 2);
	ck_assert_uint_eq(callback_row(later).attempts, 3);
	ck_assert_uint_eq(callback_row(parked[2]).attempts, 3);
	ck_assert_uint_eq(replay_row(1).made_due, 2);
	case_prove();
	case_close();
}
END_TEST

/* The operator was shown one: the ledger sends no more, whatever range of events the command has. */
START_TEST(no_more_than_was_shown)
{
	struct replay_start_cmd cmd;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(3);
	cmd = begin_of(none);
	cmd.expected = 1;
	start(&cmd);
	for (unsigned int i = 0; i < 4; i++)
		step();
	ck_assert_uint_eq(send_due(3), 1);
	for (unsigned int i = 0; i < 4; i++)
		step();
	ck_assert_uint_eq(replay_row(1).made_due, 1);
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_stop_leaves_the_rest)
{
	struct replay_start_cmd cmd;
	struct replay_stop_cmd stop = {.id = 1};
	struct replay_stop_result stopped;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(20);
	cmd = begin_of(none);
	start(&cmd);
	step();
	stop.operator= case_operator();
	stopped = case_run(COMMAND_REPLAY_STOP, &stop)->result.replay_stop;
	ck_assert_int_eq(stopped.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(stopped.state, REPLAY_STOPPED);
	ck_assert_uint_eq(stopped.on_its_way, REPLAY_STEP_MAX);
	if (_i == CASE_DISK)
		case_reopen();
	for (unsigned int i = 0; i < 4; i++)
		step();
	ck_assert_uint_eq(send_due(20), REPLAY_STEP_MAX);
	ck_assert_uint_eq(replay_row(1).parked_again, REPLAY_STEP_MAX);
	ck_assert_str_eq(replay_row(1).stopped_by, replay_row(1).by);
	stop.id = 2;
	stop.operator= case_operator();
	stopped = case_run(COMMAND_REPLAY_STOP, &stop)->result.replay_stop;
	ck_assert_int_eq(stopped.verdict.refusal, REFUSAL_CALLBACK_NOT_FOUND);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_preview_says_what_is_sent)
{
	struct replay_filter filter = {.kinds = 0};
	struct replay_preview_result counted;
	struct replay_start_cmd cmd;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(3);
	ck_assert_int_eq(case_operate(parked[0], CALLBACK_HOLD), REFUSAL_NONE);
	strcpy(filter.casino_id, "demo");
	counted = preview(&filter, none);
	ck_assert_uint_eq(counted.sums[CALLBACK_BETTING_RESULT].count, 2);
	ck_assert(counted.sums[CALLBACK_BETTING_RESULT].amount == 4 * CREDIT);
	ck_assert_uint_eq(counted.held, 1);
	ck_assert(!counted.more);
	ck_assert_int_eq(counted.breaker, BREAKER_CLOSED);
	/* A filter that selects nothing starts nothing. */
	filter.kinds = 1u << CALLBACK_BETTING_REFUND;
	ck_assert_uint_eq(preview(&filter, none).found.len, 0);
	strcpy(filter.casino_id, "absent");
	ck_assert_int_eq(preview(&filter, none).verdict.refusal, REFUSAL_DEALER_NOT_FOUND);
	filter.last_event = TRANSACTION_ID_MAX + 1;
	counted = preview(&filter, none);
	ck_assert_int_eq(counted.verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_ptr_nonnull(strstr(counted.verdict.detail, "the last event is above"));
	cmd = begin_of(none);
	cmd.expected = 0;
	ck_assert_int_eq(start(&cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	cmd.expected = 1;
	cmd.filter.last_event += 1000;
	ck_assert_int_eq(start(&cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	cmd.filter.last_event -= 1000;
	cmd.filter.parked_to_ms += HOUR;
	ck_assert_int_eq(start(&cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_uint_eq(case_list(RECORD_REPLAY, false, 64, NULL, NULL), 0);
	case_close();
}
END_TEST

/* A preview that stops after so many: the next one goes on below them, and together they see each once. */
START_TEST(a_preview_stops_where_it_is_asked_to)
{
	struct replay_preview_cmd cmd = {.most = 2};
	struct replay_preview_result counted;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(5);
	ck_assert_int_eq(case_operate(parked[2], CALLBACK_HOLD), REFUSAL_NONE);
	strcpy(cmd.filter.casino_id, "demo");
	counted = preview_by(&cmd);
	ck_assert_uint_eq(replay_event_count(&counted.found), 2);
	ck_assert_uint_eq(counted.first_event, parked[3]);
	ck_assert_uint_eq(counted.held, 0);
	ck_assert(counted.more);
	cmd.below = counted.first_event;
	counted = preview_by(&cmd);
	ck_assert_uint_eq(replay_event_count(&counted.found), 2);
	ck_assert_uint_eq(replay_event_at(&counted.found, 1), parked[0]);
	ck_assert_uint_eq(counted.held, 1);
	ck_assert_uint_eq(counted.first_event, parked[0]);
	ck_assert(!counted.more);
	case_close();
}
END_TEST

START_TEST(marked_ones_are_sent_alone)
{
	struct replay_start_cmd cmd;
	struct buffer events;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(4);
	buffer_init(&events, 64);
	replay_event_add(&events, parked[1]);
	replay_event_add(&events, parked[3]);
	cmd = begin_of((struct bytes){events.data, (uint32_t)events.len});
	ck_assert_uint_eq(cmd.expected, 2);
	start(&cmd);
	if (_i == CASE_DISK)
		case_reopen();
	step();
	ck_assert_int_eq(callback_row(parked[1]).state, CALLBACK_DUE);
	ck_assert_int_eq(callback_row(parked[3]).state, CALLBACK_DUE);
	ck_assert_uint_eq(send_due(4), 2);
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	case_prove();
	buffer_free(&events);
	case_close();
}
END_TEST

/* One that an operator cancels before it is sent, and one that is delivered. */
START_TEST(ends_are_counted)
{
	struct callback_claim_result claimed;
	struct replay_start_cmd cmd;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(3);
	cmd = begin_of(none);
	start(&cmd);
	ck_assert_int_eq(case_operate(parked[2], CALLBACK_CANCEL), REFUSAL_NONE);
	step();
	ck_assert_int_eq(case_operate(parked[0], CALLBACK_CANCEL), REFUSAL_NONE);
	claimed = case_claim(parked[1]);
	case_end(&claimed.send, CALLBACK_SUCCESS);
	ck_assert_uint_eq(replay_row(1).made_due, 2);
	ck_assert_uint_eq(replay_row(1).delivered, 1);
	ck_assert_uint_eq(replay_row(1).withdrawn, 1);
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	case_prove();
	case_close();
}
END_TEST

/* The ledger starts again with a callback that cannot be read. */
static void reopen_with_damage(uint64_t event)
{
	const struct bytes damaged = {(const uint8_t *)"\xff", 1};
	const struct callback key = {.event = event};
	struct buffer packed;

	buffer_init(&packed, 64);
	ck_assert(pack_key(&packed, callback_fields, 1, &key));
	case_reopen_with_row(RECORD_CALLBACK, (struct bytes){packed.data, (uint32_t)packed.len},
		damaged);
	buffer_free(&packed);
}

/*
 * The second of three callbacks cannot be read: what is before it is sent, and the replay ends as failed.
 * The next replay of the dealer begins.
 */
START_TEST(a_row_that_cannot_be_read_ends_it)
{
	struct replay_start_cmd cmd, second;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	park(3);
	cmd = begin_of(none);
	second = cmd;
	second.operator= case_operator();
	strcpy(second.operator.reason, "only the newest");
	second.filter.first_event = parked[2];
	second.expected = 1;
	start(&cmd);
	start(&second);
	reopen_with_damage(parked[1]);
	for (unsigned int i = 0; i < 12; i++)
		step();
	ck_assert_int_eq(replay_row(1).state, REPLAY_FAILED);
	ck_assert_int_gt(replay_row(1).ended_ms, 0);
	ck_assert_uint_eq(replay_row(1).made_due, 1);
	ck_assert_uint_eq(replay_row(1).next_event, parked[0] + 1);
	ck_assert_int_eq(replay_row(2).state, REPLAY_DONE);
	ck_assert_uint_eq(case_ledger.derived.replays.count, 0);
	case_close();
}
END_TEST

/* A damaged callback after the last one that the replay reaches is no reason to fail. */
START_TEST(a_row_after_the_range_is_not_read)
{
	struct replay_start_cmd cmd;

	case_open_mode(CASE_DISK, WALLET_SEAMLESS);
	park(3);
	cmd = begin_of(none);
	cmd.filter.last_event = parked[1];
	cmd.expected = 2;
	start(&cmd);
	reopen_with_damage(parked[2]);
	for (unsigned int i = 0; i < 3; i++)
		step();
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	ck_assert_uint_eq(replay_row(1).made_due, 2);
	case_close();
}
END_TEST

/* A want of memory passes: the replay goes on. */
START_TEST(a_step_that_cannot_be_saved_is_repeated)
{
	struct replay_start_cmd cmd;

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	park(2);
	cmd = begin_of(none);
	start(&cmd);
	memory_store_fail(case_db, SAVE_FAULT, 2);
	step();
	ck_assert_uint_eq(replay_row(1).made_due, 0);
	for (unsigned int i = 0; i < 4; i++)
		step();
	ck_assert_uint_eq(replay_row(1).made_due, 2);
	ck_assert_uint_eq(send_due(2), 2);
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	case_prove();
	case_close();
}
END_TEST

/* Its time of parking is later than now: it is counted, not sent, and one retry sends it. */
START_TEST(what_a_clock_ahead_parked_is_counted)
{
	struct replay_filter filter = {.kinds = 0};
	struct replay_preview_result counted;
	struct replay_start_cmd cmd;
	struct replay row;

	case_open_mode(_i, WALLET_SEAMLESS);
	case_now_ms += DAY;
	park(2);
	case_now_ms -= DAY;
	parked[2] = case_refused_result(2, 2 * CREDIT);
	case_park(parked[2]);
	strcpy(filter.casino_id, "demo");
	counted = preview(&filter, none);
	ck_assert_uint_eq(counted.parked_later, 2);
	ck_assert_uint_eq(counted.sums[CALLBACK_BETTING_RESULT].count, 1);
	cmd = begin_of(none);
	cmd.parked_later = counted.parked_later;
	cmd.filter.first_event = 1;
	start(&cmd);
	if (_i == CASE_DISK)
		case_reopen();
	step();
	step();
	ck_assert_uint_eq(send_due(3), 1);
	row = replay_row(1);
	ck_assert_int_eq(row.state, REPLAY_DONE);
	ck_assert_uint_eq(row.parked_later, 2);
	ck_assert_uint_eq(row.left_out, 0);
	ck_assert_int_eq(case_operate(parked[0], CALLBACK_RETRY), REFUSAL_NONE);
	cmd = begin_of(none);
	cmd.parked_later = TRANSACTION_ID_MAX + 1;
	ck_assert_int_eq(start(&cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	/* The proof knows the rows when their time has come. */
	case_now_ms += 2 * DAY;
	case_prove();
	case_close();
}
END_TEST

static void see_nothing(void *context, const void *row)
{
	(void)context;
	(void)row;
}

static uint64_t rows_read;
static enum status (
	*scan_really)(struct store *, const struct store_range *, store_visit *, void *);

struct counted_visit {
	store_visit *visit;
	void *context;
};

static bool count_visit(void *context, struct bytes key, const void *row)
{
	const struct counted_visit *counted = context;

	rows_read++;
	return counted->visit(counted->context, key, row);
}

static enum status scan_counting(struct store *store, const struct store_range *range,
	store_visit *visit, void *context)
{
	struct counted_visit counted = {visit, context};

	return scan_really(store, range, count_visit, &counted);
}

/* Returns the number of rows that a start of the ledger reads by scans. */
static uint64_t rows_of_a_start(void)
{
	static struct ledger another;

	scan_really = case_db->scan;
	case_db->scan = scan_counting;
	rows_read = 0;
	ck_assert_int_eq(ledger_init(&another, case_db, 3, &case_outbox, case_moment()), STATUS_OK);
	case_db->scan = scan_really;
	ledger_free(&another);
	return rows_read;
}

/* A replay writes a row of the audit for each callback. A start does not read them. */
START_TEST(a_start_does_not_read_the_audit)
{
	struct replay_start_cmd cmd;
	uint64_t before;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(40);
	before = rows_of_a_start();
	cmd = begin_of(none);
	start(&cmd);
	for (unsigned int i = 0; i < 12; i++) {
		step();
		send_due(40);
	}
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	ck_assert_uint_ge(case_list(RECORD_AUDIT, false, 0, see_nothing, NULL), 41);
	/* The replay itself. */
	ck_assert_uint_eq(rows_of_a_start(), before + 1);
	ck_assert_uint_lt(before, 10);
	case_close();
}
END_TEST

/* The first 70 parked callbacks are of other rounds: a step looks at 64, and the next one goes on. */
START_TEST(a_step_goes_on_after_those_that_do_not_fit)
{
	struct replay_filter filter = {.kinds = 0};
	struct replay_preview_result counted;
	struct replay_start_cmd cmd;

	case_open_mode(_i, WALLET_SEAMLESS);
	park(71);
	strcpy(filter.casino_id, "demo");
	strcpy(filter.game_id, "pg70");
	counted = preview(&filter, none);
	ck_assert_uint_eq(counted.sums[CALLBACK_BETTING_RESULT].count, 1);
	ck_assert(!counted.more);
	cmd = begin_of(none);
	cmd.filter = filter;
	cmd.filter.first_event = 1;
	cmd.filter.last_event = counted.last_event;
	cmd.filter.parked_to_ms = counted.parked_to_ms;
	cmd.expected = 1;
	start(&cmd);
	for (unsigned int i = 0; i < 3; i++)
		step();
	ck_assert_int_eq(callback_row(parked[70]).state, CALLBACK_DUE);
	ck_assert_int_eq(callback_row(parked[69]).state, CALLBACK_PARKED);
	ck_assert_uint_eq(send_due(71), 1);
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	case_prove();
	case_close();
}
END_TEST

/* A dealer that answers nothing gets no pile of due callbacks. */
START_TEST(a_replay_waits_for_what_is_due)
{
	struct replay_start_cmd cmd;

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	park(REPLAY_AHEAD_MAX + 5);
	cmd = begin_of(none);
	ck_assert_uint_eq(cmd.expected, REPLAY_AHEAD_MAX + 5);
	start(&cmd);
	for (unsigned int i = 0; i < 12; i++)
		step();
	ck_assert_uint_eq(replay_row(1).made_due, REPLAY_AHEAD_MAX);
	ck_assert_uint_eq(send_due(REPLAY_AHEAD_MAX + 5), REPLAY_AHEAD_MAX);
	step();
	step();
	ck_assert_uint_eq(replay_row(1).made_due, REPLAY_AHEAD_MAX + 5);
	ck_assert_int_eq(replay_row(1).state, REPLAY_DONE);
	case_close();
}
END_TEST

/* A dealer begins to leave in the batch that starts a replay of it: no callback is changed under the copy. */
START_TEST(a_replay_waits_for_a_move)
{
	static struct slot batch[2];
	struct dealer_move_cmd cmd = {.operator= case_operator(),
		.action = MOVE_LEAVE,
		.casino_id = "demo",
		.id = "moveaaaaaaaaaaaaaaaa",
		.peer = "2"};

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	park(2);
	batch[0].command = COMMAND_DEALER_MOVE;
	batch[0].cmd.dealer_move = cmd;
	batch[1].command = COMMAND_REPLAY_START;
	batch[1].cmd.replay_start = begin_of(none);
	case_run_batch(batch, 2);
	ck_assert_int_eq(batch[0].result.verdict.refusal, 0);
	ck_assert_int_eq(batch[1].result.verdict.refusal, 0);
	step();
	ck_assert_int_eq(callback_row(parked[0]).state, CALLBACK_PARKED);
	cmd.action = MOVE_CUT;
	ck_assert_int_eq(case_run(COMMAND_DEALER_MOVE, &cmd)->result.verdict.refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	cmd.action = MOVE_STAY;
	ck_assert_int_eq(case_run(COMMAND_DEALER_MOVE, &cmd)->result.verdict.refusal, 0);
	step();
	ck_assert_int_eq(callback_row(parked[0]).state, CALLBACK_DUE);
	case_close();
}
END_TEST

Suite *replays_suite(void)
{
	Suite *suite = suite_create("replays");
	TCase *tests = tcase_create("replays");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, each_gets_one_attempt_more, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, what_is_parked_later_stays, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, no_more_than_was_shown, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_stop_leaves_the_rest, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_preview_says_what_is_sent, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_preview_stops_where_it_is_asked_to, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, marked_ones_are_sent_alone, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, ends_are_counted, 0, CASE_STORE_COUNT);
	if (case_can_damage()) {
		tcase_add_test(tests, a_row_that_cannot_be_read_ends_it);
		tcase_add_test(tests, a_row_after_the_range_is_not_read);
	}
	tcase_add_test(tests, a_step_that_cannot_be_saved_is_repeated);
	tcase_add_loop_test(tests, what_a_clock_ahead_parked_is_counted, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_start_does_not_read_the_audit, 0, CASE_STORE_COUNT);
	tcase_add_test(tests, a_replay_waits_for_what_is_due);
	tcase_add_loop_test(tests, a_step_goes_on_after_those_that_do_not_fit, 0, CASE_STORE_COUNT);
	tcase_add_test(tests, a_replay_waits_for_a_move);
	suite_add_tcase(suite, tests);
	return suite;
}

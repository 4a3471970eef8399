/*
 * Tests batches of results: one commit, an answer for each item, and the same answers to the same
 * batch.
 */
#include "case_wagers.h"

#include "base/pack.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX 80

/* A batch that is being made, and the answers to its newest run. */
static struct buffer items;
static struct settle_batch_cmd batch;
static struct settle_answer answers[ITEMS_MAX];
static struct settle_batch_result answered;

static void begin(const char *key)
{
	memset(&batch, 0, sizeof(batch));
	strcpy(batch.client_id, "slots");
	text_copy(batch.request_transaction_id, sizeof(batch.request_transaction_id), key);
	strcpy(batch.request_id, "call");
	strcpy(batch.digest, "digest");
	buffer_free(&items);
	buffer_init(&items, 1024 * 1024);
}

static void add_item(const char *game, enum round_result result, money_t payout)
{
	const struct round_settle_cmd of = case_settle_cmd("-", game, result, payout);
	struct settle_item item = {.player = of.player,
		.result = result,
		.payout_amount = payout,
		.user_bet = of.user_bet,
		.game_result = of.game_result,
		.user_bet_result = of.user_bet_result};

	strcpy(item.game_id, game);
	strcpy(item.remark, of.remark);
	ck_assert(pack_record(&items, settle_item_fields, &item));
	batch.count++;
}

/* Runs the batch, and reads its answers if it was not refused as a whole. */
static enum refusal run(void)
{
	struct bytes packed;

	batch.items = (struct bytes){items.data, (uint32_t)items.len};
	answered = case_run(COMMAND_SETTLE_BATCH, &batch)->result.settle_batch;
	packed = answered.answers;
	memset(answers, 0, sizeof(answers));
	if (answered.verdict.refusal != REFUSAL_NONE)
		return answered.verdict.refusal;
	ck_assert_uint_eq(answered.count, batch.count);
	ck_assert_str_eq(answered.request_id, "call");
	for (uint32_t at = 0; at < answered.count && at < ITEMS_MAX; at++)
		ck_assert(unpack_record(&packed, settle_answer_fields, &answers[at]));
	return REFUSAL_NONE;
}

/* Runs the batch again, as after a lost answer: no answer changes. */
static void run_again(void)
{
	struct settle_answer before[ITEMS_MAX];

	memcpy(before, answers, sizeof(before));
	strcpy(batch.request_id, "other");
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert(answered.verdict.replay);
	ck_assert_mem_eq(before, answers, sizeof(before));
	case_prove();
}

static enum refusal refusal_of(uint32_t at)
{
	return answers[at].verdict.refusal;
}

START_TEST(all_in_one_commit)
{
	uint64_t commits;
	char id[16];

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	begin("round-1");
	for (unsigned int game = 0; game < 20; game++) {
		snprintf(id, sizeof(id), "g%u", game);
		case_bet(id, id, CREDIT);
		add_item(id, game % 2 ? RESULT_LOSS : RESULT_WIN, game % 2 ? 0 : 3 * CREDIT);
	}
	commits = case_ledger.figures.commits;
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert(!answered.verdict.replay);
	ck_assert_uint_eq(case_ledger.figures.commits, commits + 1);
	for (uint32_t at = 0; at < 20; at++) {
		ck_assert_int_eq(refusal_of(at), REFUSAL_NONE);
		ck_assert_int_eq(answers[at].bet_amount, CREDIT);
		ck_assert_int_eq(answers[at].payout_amount, at % 2 ? 0 : 3 * CREDIT);
		ck_assert_int_eq(answers[at].callback_state, CALLBACK_DELIVERED);
		ck_assert_int_eq(answers[at].transaction_id != 0, at % 2 == 0);
	}
	ck_assert_int_eq(case_balance("alice").balance, 110 * CREDIT);
	case_prove();
	run_again();
	ck_assert_uint_eq(case_ledger.figures.commits, commits + 1);
	if (_i == CASE_DISK)
		case_reopen();
	run_again();
	ck_assert_int_eq(case_balance("alice").balance, 110 * CREDIT);
	/* A correction of such a round is a request of its own. */
	struct round_correct_cmd cmd = case_correct_cmd("c1", "g1", 1, RESULT_WIN, 2 * CREDIT);
	ck_assert_int_eq(case_run(COMMAND_ROUND_CORRECT, &cmd)->result.verdict.refusal, 0);
	run_again();
	case_close();
}
END_TEST

START_TEST(refused_items_stay_refused)
{
	struct bet_place_cmd other = case_bet_cmd("other", "theirs", CREDIT);

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", 10 * CREDIT);
	case_bet("b2", "g2", 10 * CREDIT);
	strcpy(other.client_id, "cards");
	case_run(COMMAND_BET_PLACE, &other);
	begin("round-1");
	add_item("g1", RESULT_WIN, 20 * CREDIT);
	add_item("g1", RESULT_WIN, 20 * CREDIT);
	add_item("theirs", RESULT_LOSS, 0);
	add_item("later", RESULT_WIN, 5 * CREDIT);
	add_item("g2", RESULT_WIN, CREDIT / 1000);
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert_int_eq(refusal_of(0), REFUSAL_NONE);
	ck_assert_int_eq(refusal_of(1), REFUSAL_ALREADY_SETTLED);
	ck_assert_int_eq(refusal_of(2), REFUSAL_GAME_NOT_FOUND);
	ck_assert_int_eq(refusal_of(3), REFUSAL_GAME_NOT_FOUND);
	ck_assert_int_eq(refusal_of(4), REFUSAL_INVALID_AMOUNT);
	ck_assert_ptr_nonnull(strstr(answers[4].verdict.detail, "2 decimals"));
	case_prove();
	case_bet("b3", "later", CREDIT);
	run_again();
	/* The round is not lost: a result by itself settles it. */
	ck_assert_int_eq(case_settle("s1", "later", RESULT_LOSS, 0).verdict.refusal, 0);
	ck_assert_int_eq(case_settle("s2", "g2", RESULT_LOSS, 0).verdict.refusal, 0);
	run_again();
	case_close();
}
END_TEST

START_TEST(a_pending_bet_is_tried_again)
{
	struct bet_place_result placed, accepted;
	struct settle_answer first;

	case_open_mode(_i, WALLET_SEAMLESS);
	accepted = case_bet("b1", "g1", 10 * CREDIT);
	case_end(&accepted.send, CALLBACK_SUCCESS);
	placed = case_bet("b2", "g2", 10 * CREDIT);
	begin("round-1");
	add_item("g1", RESULT_LOSS, 0);
	add_item("g2", RESULT_WIN, 30 * CREDIT);
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert_int_eq(refusal_of(0), REFUSAL_NONE);
	ck_assert_int_eq(answers[0].callback_state, CALLBACK_DUE);
	ck_assert_int_eq(refusal_of(1), REFUSAL_BET_IN_PROGRESS);
	first = answers[0];
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert(!answered.verdict.replay);
	ck_assert_int_eq(refusal_of(1), REFUSAL_BET_IN_PROGRESS);
	case_end(&placed.send, CALLBACK_SUCCESS);
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert(!answered.verdict.replay);
	ck_assert_mem_eq(&first, &answers[0], sizeof(first));
	ck_assert_int_eq(refusal_of(1), REFUSAL_NONE);
	ck_assert_int_eq(answers[1].win_amount, 20 * CREDIT);
	ck_assert_int_eq(answers[1].callback_state, CALLBACK_DUE);
	case_prove();
	run_again();
	case_close();
}
END_TEST

/* Claims and delivers what the sweeper finds. Returns the number. */
static unsigned int sweep(void)
{
	struct callback_find_cmd cmd = {.most = 0};
	struct callback_claim_result claimed;
	struct due_entry entry;
	struct bytes entries;
	struct buffer out;
	struct slot *slot;
	uint8_t copy[4096];
	unsigned int count;

	buffer_init(&out, FRAME_MAX);
	slot = case_run(COMMAND_CALLBACK_FIND, &cmd);
	ledger_answer(&case_ledger, slot, 1, &out);
	entries = slot->result.callback_find.entries;
	count = slot->result.callback_find.count;
	ck_assert_uint_le(entries.len, sizeof(copy));
	memcpy(copy, entries.data, entries.len);
	entries.data = copy;
	while (unpack_record(&entries, due_entry_fields, &entry)) {
		claimed = case_claim(entry.event);
		ck_assert_int_eq(case_end(&claimed.send, CALLBACK_SUCCESS).state,
			CALLBACK_DELIVERED);
	}
	buffer_free(&out);
	return count;
}

START_TEST(the_sweeper_sends_them)
{
	struct bet_place_result placed;
	char id[16];

	case_open_mode(_i, WALLET_SEAMLESS);
	begin("round-1");
	for (unsigned int game = 0; game < 20; game++) {
		snprintf(id, sizeof(id), "g%u", game);
		placed = case_bet(id, id, CREDIT);
		case_end(&placed.send, CALLBACK_SUCCESS);
		add_item(id, RESULT_WIN, 2 * CREDIT);
	}
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert_int_eq(answers[0].callback_state, CALLBACK_DUE);
	case_prove();
	/* All at once: the dealer accepts 20 calls at a time, and none is under way. */
	ck_assert_uint_eq(sweep(), 20);
	ck_assert_uint_eq(sweep(), 0);
	run_again();
	case_close();
}
END_TEST

START_TEST(a_key_is_of_one_batch)
{
	struct round_correct_cmd cmd = case_correct_cmd("round-1", "g1", 1, RESULT_LOSS, 0);
	struct round_settle_cmd forged = case_settle_cmd("round-1", "g1", RESULT_LOSS, 0);
	struct round_settle_result settled;

	case_open(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "g1", CREDIT);
	case_bet("round-1#0", "g2", CREDIT);
	begin("round-1");
	add_item("g1", RESULT_LOSS, 0);
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert_int_eq(refusal_of(0), REFUSAL_NONE);
	strcpy(batch.digest, "another");
	ck_assert_int_eq(run(), REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(answered.verdict.field, "results");
	/* Other operations know the key, and the batch knows theirs. */
	settled = case_settle("round-1", "g2", RESULT_LOSS, 0);
	ck_assert_int_eq(settled.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(settled.verdict.field, "operation");
	ck_assert_int_eq(case_bet("round-1", "g3", CREDIT).verdict.refusal,
		REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_int_eq(case_run(COMMAND_ROUND_CORRECT, &cmd)->result.verdict.refusal,
		REFUSAL_TRANSACTION_CONFLICT);
	begin("b1");
	add_item("g2", RESULT_LOSS, 0);
	ck_assert_int_eq(run(), REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(answered.verdict.field, "operation");
	/* A key of an ordinary request may look like that of an item. */
	ck_assert_int_eq(case_settle("s1", "g2", RESULT_LOSS, 0).verdict.refusal, 0);
	forged.item = 1;
	ck_assert_int_eq(case_run(COMMAND_ROUND_SETTLE, &forged)->result.verdict.refusal,
		REFUSAL_BAD_REQUEST);
	case_prove();
	case_close();
}
END_TEST

START_TEST(the_longest_key_and_the_most_items)
{
	char key[EXTERNAL_ID_SIZE], id[16];

	case_open(_i);
	case_in("alice", "in", 1000 * CREDIT);
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	begin(key);
	for (unsigned int game = 0; game < BATCH_RESULTS_MAX; game++) {
		snprintf(id, sizeof(id), "g%u", game);
		case_bet(id, id, CREDIT);
		add_item(id, RESULT_WIN, 2 * CREDIT);
	}
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert_int_eq(case_balance("alice").balance, 1500 * CREDIT);
	run_again();
	ck_assert_int_eq(case_balance("alice").balance, 1500 * CREDIT);
	add_item("g0", RESULT_LOSS, 0);
	ck_assert_int_eq(run(), REFUSAL_BAD_REQUEST);
	begin("none");
	ck_assert_int_eq(run(), REFUSAL_BAD_REQUEST);
	add_item("g0", RESULT_LOSS, 0);
	batch.count = 2;
	ck_assert_int_eq(run(), REFUSAL_BAD_REQUEST);
	case_close();
}
END_TEST

/* Places @count bets of the game in batches of commands. */
static void place_bets(const char *game, unsigned int count)
{
	struct slot *slots = calloc(ROUND_BETS_MAX, sizeof(*slots));
	char id[32];

	ck_assert_ptr_nonnull(slots);
	for (unsigned int bet = 0; bet < count; bet++) {
		snprintf(id, sizeof(id), "%s-%u", game, bet);
		slots[bet].command = COMMAND_BET_PLACE;
		slots[bet].cmd.bet_place = case_bet_cmd(id, game, CREDIT);
	}
	case_run_batch(slots, count);
	free(slots);
}

START_TEST(the_bets_are_bounded)
{
	const unsigned int rounds = BATCH_BETS_MAX / ROUND_BETS_MAX;
	char game[16];

	case_open(_i);
	case_in("alice", "in", 100000 * CREDIT);
	begin("round-1");
	/* The first round has one bet, so that the last of the others does not fit. */
	for (unsigned int at = 0; at <= rounds; at++) {
		snprintf(game, sizeof(game), "g%u", at);
		place_bets(game, at ? ROUND_BETS_MAX : 1);
		add_item(game, RESULT_LOSS, 0);
	}
	case_bet("small", "small", CREDIT);
	add_item("small", RESULT_LOSS, 0);
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert_int_eq(refusal_of(0), REFUSAL_NONE);
	ck_assert_int_eq(refusal_of(rounds - 1), REFUSAL_NONE);
	ck_assert_int_eq(refusal_of(rounds), REFUSAL_PAYLOAD_TOO_LARGE);
	ck_assert_ptr_nonnull(strstr(answers[rounds].verdict.detail, "16384 bets"));
	/* What is smaller fits still. */
	ck_assert_int_eq(refusal_of(rounds + 1), REFUSAL_NONE);
	/* The proof of the cases would take too long for so many bets. */
	ck_assert_int_eq(run(), REFUSAL_NONE);
	ck_assert(answered.verdict.replay);
	snprintf(game, sizeof(game), "g%u", rounds);
	ck_assert_int_eq(case_settle("s1", game, RESULT_LOSS, 0).verdict.refusal, 0);
	case_close();
}
END_TEST

Suite *result_batches_suite(void)
{
	Suite *suite = suite_create("result batches");
	TCase *tests = tcase_create("result batches");

	tcase_add_loop_test(tests, all_in_one_commit, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, refused_items_stay_refused, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_pending_bet_is_tried_again, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, the_sweeper_sends_them, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_key_is_of_one_batch, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, the_longest_key_and_the_most_items, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, the_bets_are_bounded, CASE_DISK, CASE_STORE_COUNT);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return suite;
}

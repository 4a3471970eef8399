/*
 * Tests transfer-inquire and the seal (contract, "Final answer about a transfer"), and transfers out of the
 * whole balance.
 *
 * CB_SEAL_RACES=N runs N races of a delayed transfer against a seal in place of 10,000.
 */
#include "case.h"

#include "base/text.h"
#include "chance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREDIT MONEY_UNITS_PER_CREDIT

static struct transfer_inquire_cmd inquiry_cmd(const char *id, bool seal)
{
	struct transfer_inquire_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.casino_id, "demo");
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	cmd.seal = seal;
	return cmd;
}

static struct transfer_inquire_result inquire_of(const char *id, bool seal)
{
	struct transfer_inquire_cmd cmd = inquiry_cmd(id, seal);

	return case_run(COMMAND_TRANSFER_INQUIRE, &cmd)->result.transfer_inquire;
}

static struct transfer_result out_all(const char *user, const char *id)
{
	struct transfer_cmd cmd = case_transfer_cmd(ENTRY_TRANSFER_OUT, user, id, 0);

	cmd.all = true;
	return case_run(COMMAND_TRANSFER, &cmd)->result.transfer;
}

static void take_request(void *context, const void *row)
{
	memcpy(context, row, sizeof(struct request));
}

/* Returns the number of request rows, and copies the last one. */
static unsigned int requests(struct request *last)
{
	struct request ignored;

	return case_list(RECORD_REQUEST, false, 0, take_request, last ? last : &ignored);
}

START_TEST(an_inquiry_gives_the_answer_of_a_repeat)
{
	struct transfer_inquire_result found;
	struct transfer_result again;

	case_open(_i);
	found = inquire_of("r1", false);
	ck_assert_int_eq(found.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(found.state, TRANSFER_UNKNOWN);
	ck_assert_uint_eq(requests(NULL), 0);
	case_in("alice", "r1", 100 * CREDIT);
	case_out("alice", "r2", 30 * CREDIT);
	case_out("alice", "r3", 71 * CREDIT);
	case_in("alice", "r4", 5 * CREDIT);
	for (int id = 1; id < 4; id++) {
		char name[] = {'r', (char)('0' + id), '\0'};

		again = id == 1   ? case_in("alice", name, 100 * CREDIT)
			: id == 2 ? case_out("alice", name, 30 * CREDIT)
				  : case_out("alice", name, 71 * CREDIT);
		found = inquire_of(name, id % 2 == 0);
		ck_assert_int_eq(found.state, id == 3 ? TRANSFER_REFUSED : TRANSFER_DONE);
		ck_assert(!found.again);
		ck_assert_mem_eq(&found.transfer, &again, sizeof(again));
	}
	ck_assert_int_eq(found.transfer.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(found.transfer.verdict.current_balance, 70 * CREDIT);
	ck_assert_uint_eq(requests(NULL), 4);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_sealed_id_moves_nothing)
{
	struct transfer_result late;
	struct request row;

	case_open(_i);
	case_in("alice", "r0", 100 * CREDIT);
	ck_assert_int_eq(inquire_of("r1", true).state, TRANSFER_SEALED);
	ck_assert_uint_eq(requests(&row), 2);
	ck_assert_str_eq(row.request_transaction_id, "r1");
	ck_assert_int_eq(row.kind, ENTRY_SEAL);
	ck_assert_int_eq(row.outcome, REFUSAL_TRANSACTION_SEALED);
	ck_assert_str_eq(row.player_id, "");
	ck_assert_int_eq(row.time_ms, case_now_ms);
	case_now_ms++;
	for (int i = 0; i < 2; i++) {
		late = case_in("alice", "r1", 100 * CREDIT);
		ck_assert_int_eq(late.verdict.refusal, REFUSAL_TRANSACTION_SEALED);
		ck_assert(!late.verdict.replay);
		ck_assert_int_eq(case_in("nobody", "r1", 1).verdict.refusal,
			REFUSAL_TRANSACTION_SEALED);
		ck_assert_int_eq(case_out("alice", "r1", CREDIT).verdict.refusal,
			REFUSAL_TRANSACTION_SEALED);
		ck_assert_int_eq(out_all("alice", "r1").verdict.refusal,
			REFUSAL_TRANSACTION_SEALED);
		ck_assert_int_eq(inquire_of("r1", false).state, TRANSFER_SEALED);
		ck_assert_int_eq(inquire_of("r1", true).state, TRANSFER_SEALED);
	}
	ck_assert_int_eq(case_balance("alice").balance, 100 * CREDIT);
	ck_assert_uint_eq(requests(&row), 2);
	ck_assert_int_eq(row.time_ms, case_now_ms - 1);
	if (_i == CASE_DISK)
		case_reopen();
	ck_assert_int_eq(inquire_of("r1", false).state, TRANSFER_SEALED);
	case_prove();
	case_close();
}
END_TEST

/* The operator's operation ids and the keys of game servers are other key spaces. */
START_TEST(a_seal_is_of_one_dealer)
{
	struct transfer_inquire_cmd cmd = inquiry_cmd("r1", true);
	struct dealer_put_cmd dealer;

	case_open(_i);
	dealer = case_dealer_cmd("other");
	case_run(COMMAND_DEALER_PUT, &dealer);
	strcpy(cmd.casino_id, "other");
	ck_assert_int_eq(case_run(COMMAND_TRANSFER_INQUIRE, &cmd)->result.transfer_inquire.state,
		TRANSFER_SEALED);
	ck_assert_int_eq(inquire_of("r1", false).state, TRANSFER_UNKNOWN);
	ck_assert_int_eq(case_in("alice", "r1", CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_adjust("alice", CREDIT, "op-1").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(inquire_of("op-1", true).state, TRANSFER_SEALED);
	strcpy(cmd.casino_id, "nobody");
	ck_assert_int_eq(case_run(COMMAND_TRANSFER_INQUIRE, &cmd)->result.verdict.refusal,
		REFUSAL_INVALID_SIGNATURE);
	cmd = inquiry_cmd("", true);
	ck_assert_int_eq(case_run(COMMAND_TRANSFER_INQUIRE, &cmd)->result.verdict.refusal,
		REFUSAL_BAD_REQUEST);
	case_prove();
	case_close();
}
END_TEST

/* What a dealer may not do any more, it may still ask for and seal. */
START_TEST(a_seal_needs_no_wallet)
{
	struct dealer seamless = {.mode = WALLET_SEAMLESS};

	case_open(_i);
	case_in("alice", "r1", CREDIT);
	case_suspend_player("alice", true);
	case_suspend_dealer(true);
	ck_assert_int_eq(inquire_of("r1", true).state, TRANSFER_DONE);
	ck_assert_int_eq(inquire_of("r2", true).state, TRANSFER_SEALED);
	case_suspend_player("alice", false);
	case_suspend_dealer(false);
	ck_assert_int_eq(case_in("alice", "r2", CREDIT).verdict.refusal,
		REFUSAL_TRANSACTION_SEALED);
	case_out("alice", "r3", CREDIT);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &seamless).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(inquire_of("r3", false).state, TRANSFER_DONE);
	ck_assert_int_eq(inquire_of("r4", true).state, TRANSFER_SEALED);
	ck_assert_int_eq(case_in("alice", "r4", CREDIT).verdict.refusal,
		REFUSAL_TRANSACTION_SEALED);
	case_prove();
	case_close();
}
END_TEST

/* Only the seal writes. */
START_TEST(a_seal_needs_the_disk)
{
	struct transfer_inquire_result found;

	case_open(_i);
	case_in("alice", "r1", CREDIT);
	case_ledger.storage_low = true;
	ck_assert_int_eq(inquire_of("r1", true).state, TRANSFER_DONE);
	ck_assert_int_eq(inquire_of("r2", false).state, TRANSFER_UNKNOWN);
	found = inquire_of("r2", true);
	ck_assert_int_eq(found.verdict.refusal, REFUSAL_STORAGE_FULL);
	case_ledger.storage_low = false;
	ck_assert_int_eq(inquire_of("r2", false).state, TRANSFER_UNKNOWN);
	case_close();
}
END_TEST

static struct slot slots[8];

static void put_transfer(unsigned int at, const struct transfer_cmd *cmd)
{
	slots[at].command = COMMAND_TRANSFER;
	slots[at].cmd.transfer = *cmd;
}

static void put_inquiry(unsigned int at, const char *id, bool seal)
{
	slots[at].command = COMMAND_TRANSFER_INQUIRE;
	slots[at].cmd.transfer_inquire = inquiry_cmd(id, seal);
}

START_TEST(in_one_batch_the_first_wins)
{
	struct transfer_cmd in = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "r1", CREDIT);
	const struct transfer_inquire_result *found;
	uint64_t commits;

	case_open(_i);
	put_transfer(0, &in);
	put_inquiry(1, "r1", true);
	commits = case_ledger.figures.commits;
	case_run_batch(slots, 2);
	ck_assert_uint_eq(case_ledger.figures.commits, commits + 1);
	found = &slots[1].result.transfer_inquire;
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(found->state, TRANSFER_DONE);
	/* The row of the player's name was not declared: the worker asks again. */
	ck_assert(found->again);
	ck_assert(!inquire_of("r1", true).again);

	strcpy(in.request_transaction_id, "r2");
	put_inquiry(0, "r2", true);
	put_transfer(1, &in);
	put_transfer(2, &in);
	commits = case_ledger.figures.commits;
	case_run_batch(slots, 3);
	ck_assert_uint_eq(case_ledger.figures.commits, commits + 1);
	ck_assert_int_eq(slots[0].result.transfer_inquire.state, TRANSFER_SEALED);
	ck_assert_int_eq(slots[1].result.verdict.refusal, REFUSAL_TRANSACTION_SEALED);
	ck_assert_int_eq(slots[2].result.verdict.refusal, REFUSAL_TRANSACTION_SEALED);
	case_prove();
	case_close();
}
END_TEST

/* A refused transfer that consumes no key leaves the id to the seal. */
START_TEST(in_one_batch_a_refused_call_does_not_win)
{
	struct transfer_cmd in = case_transfer_cmd(ENTRY_TRANSFER_IN, "nobody", "r1", CREDIT);

	case_open(_i);
	put_transfer(0, &in);
	put_inquiry(1, "r1", true);
	put_inquiry(2, "r1", true);
	case_run_batch(slots, 3);
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_USER_NOT_FOUND);
	ck_assert_int_eq(slots[1].result.transfer_inquire.state, TRANSFER_SEALED);
	ck_assert_int_eq(slots[2].result.transfer_inquire.state, TRANSFER_SEALED);
	ck_assert_uint_eq(requests(NULL), 1);

	/* The id is known, and the batch assumed that it is new. */
	case_in("alice", "r2", CREDIT);
	in = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "r2", CREDIT);
	put_transfer(0, &in);
	put_inquiry(1, "r2", true);
	case_run_batch(slots, 2);
	ck_assert(slots[0].result.verdict.replay);
	ck_assert_int_eq(slots[1].result.transfer_inquire.state, TRANSFER_DONE);
	ck_assert(!slots[1].result.transfer_inquire.again);
	ck_assert_str_eq(slots[1].result.transfer_inquire.transfer.user_id, "alice");
	case_prove();
	case_close();
}
END_TEST

/* ---- the whole balance */

START_TEST(all_moves_the_whole_balance)
{
	struct transfer_result first, again;
	struct request row;

	case_open(_i);
	case_in("alice", "r1", 100 * CREDIT);
	first = out_all("alice", "r2");
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(first.amount, 100 * CREDIT);
	ck_assert_int_eq(first.before_balance, 100 * CREDIT);
	ck_assert_int_eq(first.current_balance, 0);
	requests(&row);
	ck_assert(row.all);
	case_in("alice", "r3", 7 * CREDIT);
	again = out_all("alice", "r2");
	ck_assert(again.verdict.replay);
	again.verdict = first.verdict;
	ck_assert_mem_eq(&first, &again, sizeof(first));
	ck_assert_int_eq(case_balance("alice").balance, 7 * CREDIT);
	ck_assert_int_eq(inquire_of("r2", true).transfer.amount, 100 * CREDIT);
	/* The same amount, but another request. */
	again = case_out("alice", "r2", 100 * CREDIT);
	ck_assert_int_eq(again.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(again.verdict.field, "amount");
	case_out("alice", "r4", 7 * CREDIT);
	again = out_all("alice", "r4");
	ck_assert_int_eq(again.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	ck_assert_str_eq(again.verdict.field, "amount");
	case_prove();
	case_close();
}
END_TEST

START_TEST(all_of_nothing_is_insufficient)
{
	struct transfer_result result;
	struct transfer_cmd in;

	case_open(_i);
	for (int i = 0; i < 2; i++) {
		result = out_all("alice", "r1");
		ck_assert_int_eq(result.verdict.refusal, REFUSAL_INSUFFICIENT_BALANCE);
		ck_assert_int_eq(result.verdict.current_balance, 0);
		ck_assert(result.verdict.replay == (i == 1));
		case_in("alice", i ? "r3" : "r2", CREDIT);
	}
	ck_assert_int_eq(inquire_of("r1", false).state, TRANSFER_REFUSED);
	ck_assert_int_eq(out_all("nobody", "r4").verdict.refusal, REFUSAL_USER_NOT_FOUND);
	case_suspend_player("alice", true);
	ck_assert_int_eq(out_all("alice", "r5").verdict.refusal, REFUSAL_USER_SUSPENDED);
	case_suspend_player("alice", false);
	case_suspend_dealer(true);
	ck_assert_int_eq(out_all("alice", "r5").verdict.refusal, REFUSAL_DEALER_SUSPENDED);
	case_suspend_dealer(false);
	in = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "r6", 0);
	in.all = true;
	ck_assert_int_eq(case_run(COMMAND_TRANSFER, &in)->result.verdict.refusal,
		REFUSAL_BAD_REQUEST);
	in = case_transfer_cmd(ENTRY_TRANSFER_OUT, "alice", "r6", CREDIT);
	in.all = true;
	ck_assert_int_eq(case_run(COMMAND_TRANSFER, &in)->result.verdict.refusal,
		REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(out_all("alice", "r6").amount, 2 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(all_of_a_seamless_dealer)
{
	struct dealer seamless = {.mode = WALLET_SEAMLESS};

	case_open(_i);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &seamless).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(out_all("alice", "r1").verdict.refusal, REFUSAL_WRONG_WALLET_MODE);
	ck_assert_uint_eq(requests(NULL), 0);
	case_close();
}
END_TEST

/* ---- races of a delayed transfer against a seal */

#define BLOCK 500 /* races on one ledger */

/* A fault of the ledger that the races must find. */
enum plant {
	PLANT_NOTHING,
	PLANT_BLIND_SEAL, /* the seal is written whatever is there */
};

struct race {
	struct transfer_cmd transfer;
	bool seal_first;
	bool one_batch;
	unsigned int copies; /* of the transfer, which a network may deliver */
};

static uint64_t state;
static money_t books; /* the balance as the answers make it */

static struct race random_race(unsigned int number)
{
	struct race race;
	char id[16];

	snprintf(id, sizeof(id), "race-%u", number);
	race.transfer =
		case_transfer_cmd(chance_below(&state, 8) ? ENTRY_TRANSFER_IN : ENTRY_TRANSFER_OUT,
			"alice", id, (money_t)(1 + chance_below(&state, 50)) * CREDIT);
	if (race.transfer.kind == ENTRY_TRANSFER_OUT && chance_below(&state, 2)) {
		race.transfer.all = true;
		race.transfer.amount = 0;
	}
	race.seal_first = chance_below(&state, 2);
	race.one_batch = chance_below(&state, 2);
	race.copies = 1 + (unsigned int)chance_below(&state, 3);
	return race;
}

/* Deletes the key, so that the seal does not see it. */
static void plant_blind(const char *id)
{
	static struct ws ws;
	struct request key;

	memset(&key, 0, sizeof(key));
	strcpy(key.owner, "demo");
	text_copy(key.request_transaction_id, sizeof(key.request_transaction_id), id);
	ws_init(&ws);
	ws_want(&ws, RECORD_REQUEST, &key);
	case_db->load(case_db, &ws);
	ws_drop(&ws, RECORD_REQUEST, &key);
	case_db->save(case_db, &ws);
	ws_free(&ws);
}

/* Runs the commands of a race. The seal is slots[*seal]. */
static unsigned int run_race(const struct race *race, enum plant plant, unsigned int *seal)
{
	const unsigned int count = race->copies + 1;

	*seal = race->seal_first ? 0 : race->copies;
	for (unsigned int i = 0; i < count; i++)
		put_transfer(i, &race->transfer);
	put_inquiry(*seal, race->transfer.request_transaction_id, true);
	if (race->one_batch && plant == PLANT_NOTHING) {
		case_run_batch(slots, count);
		return count;
	}
	for (unsigned int i = 0; i < count; i++) {
		if (i == *seal && plant == PLANT_BLIND_SEAL)
			plant_blind(race->transfer.request_transaction_id);
		case_run_batch(&slots[i], 1);
	}
	return count;
}

/* Returns what a caller of the transfer was answered: TRANSFER_UNKNOWN: nothing that may be. */
static enum transfer_state heard(const struct transfer_result *result)
{
	if (result->verdict.refusal == REFUSAL_NONE)
		return TRANSFER_DONE;
	if (result->verdict.refusal == REFUSAL_INSUFFICIENT_BALANCE)
		return TRANSFER_REFUSED;
	return result->verdict.refusal == REFUSAL_TRANSACTION_SEALED ? TRANSFER_SEALED
								     : TRANSFER_UNKNOWN;
}

/* Returns what is wrong with the answers of a race, or NULL. */
static const char *judge_race(const struct race *race, unsigned int count, unsigned int seal)
{
	const enum transfer_state told = slots[seal].result.transfer_inquire.state;
	const struct transfer_result *answer = NULL, *other;
	struct transfer_inquire_result found;

	for (unsigned int i = 0; i < count; i++) {
		if (i == seal)
			continue;
		other = &slots[i].result.transfer;
		if (heard(other) != told)
			return "the transfer and the seal are answered differently";
		if (answer && told == TRANSFER_DONE &&
			(other->transaction_id != answer->transaction_id || !other->verdict.replay))
			return "a copy of the transfer is answered differently";
		if (!answer)
			answer = other;
	}
	if (told == TRANSFER_UNKNOWN || (race->seal_first && told != TRANSFER_SEALED))
		return "the seal did not seal";
	if (!race->seal_first && told == TRANSFER_SEALED)
		return "the seal won against a transfer before it";
	found = inquire_of(race->transfer.request_transaction_id, true);
	if (found.state != told || found.again ||
		(told == TRANSFER_DONE && found.transfer.transaction_id != answer->transaction_id))
		return "a later inquiry is answered differently";
	if (told == TRANSFER_DONE)
		books +=
			race->transfer.kind == ENTRY_TRANSFER_IN ? answer->amount : -answer->amount;
	return case_balance("alice").balance == books ? NULL
						      : "the balance is not that of the answers";
}

/* Runs races. Returns what is wrong with one of them, or NULL. */
static const char *run_races(unsigned int from, unsigned int count, enum plant plant)
{
	const char *wrong = NULL;
	unsigned int seal;

	books = case_balance("alice").balance;
	for (unsigned int number = from; number < from + count && !wrong; number++) {
		const struct race race = random_race(number);
		const unsigned int slots_used = run_race(&race, plant, &seal);

		wrong = judge_race(&race, slots_used, seal);
		case_now_ms++;
	}
	return wrong;
}

static unsigned int races(void)
{
	const char *given = getenv("CB_SEAL_RACES");

	return given ? (unsigned int)strtoul(given, NULL, 10) : 20 * BLOCK;
}

START_TEST(one_of_transfer_and_seal_wins)
{
	const unsigned int all = races();
	const char *wrong;

	state = 17;
	for (unsigned int from = 0, block = 0; from < all; from += BLOCK, block++) {
		/* Every eighth block is on Berkeley DB. */
		case_open(block % 8 ? CASE_MEMORY : CASE_DISK);
		wrong = run_races(from, all - from < BLOCK ? all - from : BLOCK, PLANT_NOTHING);
		ck_assert_msg(!wrong, "races from %u on: %s", from, wrong);
		case_prove();
		case_close();
	}
}
END_TEST

START_TEST(a_seal_without_compare_and_set_is_found)
{
	const char *wrong;

	case_open(CASE_MEMORY);
	state = 17;
	wrong = run_races(0, BLOCK, PLANT_BLIND_SEAL);
	ck_assert_ptr_nonnull(wrong);
	ck_assert_str_eq(wrong, "the transfer and the seal are answered differently");
	case_close();
}
END_TEST

Suite *seal_suite(void)
{
	Suite *suite = suite_create("seal");
	TCase *tc = tcase_create("seal");

	tcase_add_loop_test(tc, an_inquiry_gives_the_answer_of_a_repeat, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_sealed_id_moves_nothing, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_seal_is_of_one_dealer, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_seal_needs_no_wallet, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_seal_needs_the_disk, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, in_one_batch_the_first_wins, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, in_one_batch_a_refused_call_does_not_win, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, all_moves_the_whole_balance, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, all_of_nothing_is_insufficient, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, all_of_a_seamless_dealer, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, one_of_transfer_and_seal_wins);
	tcase_add_test(tc, a_seal_without_compare_and_set_is_found);
	tcase_set_timeout(tc, races() > 100 * BLOCK ? 3600 : 120);
	suite_add_tcase(suite, tc);
	return suite;
}

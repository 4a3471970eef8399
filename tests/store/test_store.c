/*
 * Tests the promises of store.h with the same cases for every store.
 */
#include "base/pack.h"
#include "domain/aside.h"
#include "domain/bet_index.h"
#include "every_store.h"
#include "memory_store.h"
#include "scratch.h"
#include "store/claim.h"
#include "store/bdb/env/fatal.h"
#include "store/bdb/schema.h"
#include "store/store.h"
#include "suites.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { KIND_MEMORY, KIND_BDB, KIND_COUNT };

static char directory[64];
struct store *store;
struct ws ws;

static const struct store_options store_options = {
	.directory = directory,
	.cache_mib = 8,
	.checkpoint_kib = 8192,
	.checkpoint_interval_ms = 1000,
	.log_keep_mib = 64,
	.create = true,
};

void open_kind(int kind)
{
	char why[256] = "";

	scratch_make(directory);
	if (kind == KIND_MEMORY)
		store = memory_store_new();
	else
		ck_assert_msg(store_open(&store_options, &store, why, sizeof(why)) == STATUS_OK,
			"%s", why);
	ws_init(&ws);
}

void close_kind(void)
{
	ws_free(&ws);
	store->close(store);
	scratch_remove(directory);
}

void leave_kind(void)
{
	scratch_remove(directory);
}

/* How often a directory was synced; the function below replaces libc's. */
static unsigned int directories_synced;

int fsync(int fd)
{
	struct stat info;

	if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
		directories_synced++;
	return (int)syscall(SYS_fsync, fd);
}

/*
 * If a process was killed between creating a log file and syncing its name, the next one syncs
 * it.
 */
START_TEST(names_that_are_there_are_synced)
{
	char why[256] = "";

	open_kind(KIND_BDB);
	save_player("alice", 1);
	store->close(store);
	directories_synced = 0;
	ck_assert_msg(store_open(&store_options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	ck_assert_uint_eq(directories_synced, 1);
	ck_assert_int_eq(load_player("alice")->balance, 1);
	close_kind();
}
END_TEST

/* Tests the promises of ws.h for undeclared rows. The store never receives such a batch. */
/* ---- cases for Berkeley DB only, because they need a disk */

static enum status reopen(char *why, size_t size)
{
	store->close(store);
	store = NULL;
	return store_open(&store_options, &store, why, size);
}

START_TEST(bdb_keeps_rows_over_a_restart)
{
	char why[256];

	open_kind(KIND_BDB);
	save_player("alice", 77);
	ck_assert_int_eq(reopen(why, sizeof(why)), STATUS_OK);
	ck_assert_int_eq(load_player("alice")->balance, 77);
	close_kind();
}
END_TEST

static enum status load_without_memory(struct store *any, struct ws *wanted)
{
	(void)any;
	ws_fail(wanted, "no memory");
	return STATUS_OK;
}

/*
 * If the schema could not be read because memory is exhausted, it is not damage, which would halt
 * the service until a restore.
 */
START_TEST(a_schema_needs_memory)
{
	struct store starving = {.load = load_without_memory};
	char why[128] = "";
	uint64_t number = 0;

	ck_assert_int_eq(schema_check(&starving, false, &number, why, sizeof(why)), STATUS_NOMEM);
	ck_assert_str_eq(why, "cannot read the schema: out of memory");
	ck_assert_int_eq(schema_read(&starving, &number, why, sizeof(why)), STATUS_NOMEM);
}
END_TEST

START_TEST(bdb_refuses_a_newer_schema)
{
	struct counter schema = {.name = "schema", .value = STORE_SCHEMA + 1};
	char why[256] = "";

	open_kind(KIND_BDB);
	ws_want(&ws, RECORD_COUNTER, &schema);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ws_put(&ws, RECORD_COUNTER, &schema);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ck_assert_int_eq(reopen(why, sizeof(why)), STATUS_CONFIG);
	ck_assert_str_eq(why,
		"the data was written by a newer creditbridge (schema 7; this one "
		"knows up to 6): install that version again");
	ws_free(&ws);
	scratch_remove(directory);
}
END_TEST

static void put_row(enum record record, const void *row)
{
	ws_reset(&ws);
	ws_want(&ws, record, row);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ws_put(&ws, record, row);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
}

static enum save_result (*save_really)(struct store *, struct ws *);
static unsigned int saves_left;

static enum save_result save_until_full(struct store *any, struct ws *changed)
{
	return saves_left-- ? save_really(any, changed) : SAVE_FULL;
}

/*
 * A raise of the schema that stops after @_i of its saves. The data has the schema of the newest row
 * in it, so an older program refuses it and does not report damage. The next start goes on.
 */
START_TEST(an_interrupted_raise_goes_on)
{
	const struct counter due = {.name = "recount"};
	const struct counter schema = {.name = "schema", .value = 2};
	struct total total = {.casino_id = "demo", .seamless_staked = 5};
	const struct total *stored;
	uint64_t number = 0;
	char why[256] = "";

	open_kind(KIND_BDB);
	put_row(RECORD_TOTAL, &total);
	put_row(RECORD_COUNTER, &schema);
	save_really = store->save;
	store->save = save_until_full;
	saves_left = (unsigned int)_i;
	ck_assert_int_eq(schema_raise(store, why, sizeof(why)), STATUS_FULL);
	store->save = save_really;
	ck_assert_int_eq(schema_read(store, &number, why, sizeof(why)), STATUS_OK);
	ck_assert_uint_eq(number, _i ? STORE_SCHEMA : 2);
	ck_assert_int_eq(reopen(why, sizeof(why)), STATUS_OK);
	ck_assert_int_eq(schema_read(store, &number, why, sizeof(why)), STATUS_OK);
	ck_assert_uint_eq(number, STORE_SCHEMA);
	ws_reset(&ws);
	ws_want(&ws, RECORD_TOTAL, &total);
	ws_want(&ws, RECORD_COUNTER, &due);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	stored = ws_get(&ws, RECORD_TOTAL, &total);
	ck_assert(stored && stored->seamless_staked == 0);
	ck_assert_ptr_null(ws_get(&ws, RECORD_COUNTER, &due));
	close_kind();
}
END_TEST

/*
 * A raise from schema 3 makes the rows of callbacks that are parked or held, and leaves the sums as they are. @_i: 1: the
 * raise to schema 3 was not complete, so that the sums are computed, too; 2: the raise is interrupted and goes on.
 */
START_TEST(a_raise_lists_what_is_set_aside)
{
	static const enum callback_state states[] = {CALLBACK_DELIVERED, CALLBACK_PARKED,
		CALLBACK_HELD, CALLBACK_DUE};
	const struct counter schema = {.name = "schema", .value = 3};
	const struct counter due = {.name = "recount", .value = 1};
	struct total total = {.casino_id = "demo", .seamless_staked = 5};
	struct callback callback = {.casino_id = "demo"};
	const struct aside *aside;
	const struct total *stored;
	struct aside key;
	char why[256] = "";

	open_kind(KIND_BDB);
	put_row(RECORD_TOTAL, &total);
	put_row(RECORD_COUNTER, &schema);
	if (_i == 1)
		put_row(RECORD_COUNTER, &due);
	for (uint32_t i = 0; i < 4; i++) {
		callback.event = i + 1;
		callback.state = states[i];
		put_row(RECORD_CALLBACK, &callback);
	}
	if (_i == 2) {
		save_really = store->save;
		store->save = save_until_full;
		saves_left = 1;
		ck_assert_int_eq(schema_raise(store, why, sizeof(why)), STATUS_FULL);
		store->save = save_really;
	}
	ck_assert_int_eq(reopen(why, sizeof(why)), STATUS_OK);
	ws_reset(&ws);
	ws_want(&ws, RECORD_TOTAL, &total);
	ws_want(&ws, RECORD_COUNTER, &due);
	for (uint32_t i = 0; i < 4; i++) {
		callback.event = i + 1;
		key = aside_of(&callback);
		ws_want(&ws, RECORD_ASIDE, &key);
	}
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ck_assert_ptr_null(ws_get(&ws, RECORD_COUNTER, &due));
	stored = ws_get(&ws, RECORD_TOTAL, &total);
	ck_assert(stored && stored->seamless_staked == (_i == 1 ? 0 : 5));
	for (uint32_t i = 0; i < 4; i++) {
		callback.event = i + 1;
		key = aside_of(&callback);
		aside = ws_get(&ws, RECORD_ASIDE, &key);
		ck_assert_int_eq(aside != NULL, callback_is_aside(states[i]));
		ck_assert(!aside || aside->held == (states[i] == CALLBACK_HELD));
	}
	close_kind();
}
END_TEST

/*
 * A raise from schema 4 makes the rows by which bets are found, more of them than are saved at a time. @_i: 1: the
 * raise is interrupted and goes on.
 */
START_TEST(a_raise_makes_the_index_of_bets)
{
	enum { ROUNDS = 1001 };
	const struct counter schema = {.name = "schema", .value = 4};
	const struct game_player *by_game;
	const struct player_bet *by_time;
	struct transaction bet;
	struct bet_index index;
	char why[256] = "";

	open_kind(KIND_BDB);
	put_row(RECORD_COUNTER, &schema);
	for (uint32_t i = 0; i <= 2 * ROUNDS; i++) {
		memset(&bet, 0, sizeof(bet));
		strcpy(bet.player_id, "alice");
		snprintf(bet.game_id, sizeof(bet.game_id), "game-%04u", i / 2);
		/* The last one is a result. */
		bet.kind = i < 2 * ROUNDS ? ENTRY_BET : ENTRY_PAYOUT;
		bet.bet_number = i < 2 * ROUNDS ? 1 + i % 2 : 0;
		bet.transaction_id = 100 + i;
		ws_append(&ws, RECORD_TRANSACTION, &bet);
	}
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	if (_i == 1) {
		save_really = store->save;
		store->save = save_until_full;
		saves_left = 3;
		ck_assert_int_eq(schema_raise(store, why, sizeof(why)), STATUS_FULL);
		store->save = save_really;
	}
	ck_assert_int_eq(reopen(why, sizeof(why)), STATUS_OK);
	for (uint32_t i = 0; i <= 2 * ROUNDS; i++) {
		memset(&bet, 0, sizeof(bet));
		strcpy(bet.player_id, "alice");
		snprintf(bet.game_id, sizeof(bet.game_id), "game-%04u", i / 2);
		bet.kind = ENTRY_BET;
		bet.bet_number = 1 + i % 2;
		bet.transaction_id = 100 + i;
		ck_assert(bet_index_of_transaction(&bet, &index));
		ws_reset(&ws);
		ws_want(&ws, RECORD_GAME_PLAYER, &index.by_game);
		ws_want(&ws, RECORD_PLAYER_BET, &index.by_time);
		ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
		by_game = ws_get(&ws, RECORD_GAME_PLAYER, &index.by_game);
		by_time = ws_get(&ws, RECORD_PLAYER_BET, &index.by_time);
		ck_assert(i == 2 * ROUNDS ? !by_game && !by_time : by_game && by_time);
		if (i == 2 * ROUNDS)
			continue;
		ck_assert_uint_eq(by_game->transaction_id, 100 + i - i % 2);
		ck_assert_mem_eq(by_time, &index.by_time, sizeof(*by_time));
	}
	close_kind();
}
END_TEST

/* An empty table in place of a lost one would let every request move its credit again. */
START_TEST(bdb_refuses_a_missing_table)
{
	struct store_options again = store_options;
	char file[96], why[256] = "";

	open_kind(KIND_BDB);
	save_player("alice", 77);
	store->close(store);
	snprintf(file, sizeof(file), "%s/request.db", directory);
	ck_assert_int_eq(unlink(file), 0);
	again.create = false;
	ck_assert_int_eq(store_open(&again, &store, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_ptr_nonnull(strstr(why,
		"/request.db is missing: the data is not complete; mount or restore it"));
	ws_free(&ws);
	scratch_remove(directory);
}
END_TEST

START_TEST(bdb_refuses_an_emptied_directory)
{
	struct store_options again = store_options;
	char why[256] = "";

	scratch_make(directory);
	again.create = false;
	ck_assert_int_eq(store_open(&again, &store, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_ptr_nonnull(strstr(why, "/counter.db is missing"));
	scratch_remove(directory);
}
END_TEST

/* Reopens the store with a wrong byte in a page of players, and reads alice's row. */
static void open_damaged(bool ends)
{
	struct store_options again = store_options;
	char file[96], why[256] = "";
	struct player key = make_player("alice", 0);
	FILE *table;

	open_kind(KIND_BDB);
	save_player("alice", 77);
	store->close(store);
	snprintf(file, sizeof(file), "%s/player.db", directory);
	table = fopen(file, "r+");
	ck_assert_ptr_nonnull(table);
	/* The second page: the first describes the table. */
	fseek(table, 4096 + 3000, SEEK_SET);
	fputc('!', table);
	fclose(table);
	again.create = false;
	again.ends = ends;
	ck_assert_int_eq(store_open(&again, &store, why, sizeof(why)), STATUS_OK);
	/* Open files stay readable. */
	scratch_remove(directory);
	ck_assert(!bdb_met_damage());
	ws_reset(&ws);
	ws_want(&ws, RECORD_PLAYER, &key);
}

/* A wrong byte in a page is detected when the page is read, and reported as damage. */
START_TEST(bdb_notices_a_damaged_page)
{
	open_damaged(false);
	ck_assert_int_ne(store->load(store, &ws), STATUS_OK);
	ck_assert(bdb_met_damage());
	/*
	 * A panicked environment cannot be closed; only the last line ends the process this way.
	 */
	raise(SIGKILL);
}
END_TEST

/* Otherwise the ledger would answer every command with a fault from then on. */
START_TEST(bdb_ends_with_a_damaged_page)
{
	open_damaged(true);
	store->load(store, &ws);
	ck_abort_msg("the process goes on");
}
END_TEST

/* Every row of a large batch is stored, or the process ends. */
START_TEST(bdb_saves_a_large_batch)
{
	struct transaction entry;

	open_kind(KIND_BDB);
	for (unsigned int round = 0; round < 20; round++) {
		ws_reset(&ws);
		for (uint64_t seq = 1; seq <= 1000; seq++) {
			memset(&entry, 0, sizeof(entry));
			snprintf(entry.player_id, sizeof(entry.player_id), "%020u", round);
			entry.transaction_id = 1000 * round + seq;
			memset(entry.request_transaction_id, 'r', 128);
			ws_append(&ws, RECORD_TRANSACTION, &entry);
		}
		ck_assert(!ws_faulty(&ws));
		ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	}
	ws_reset(&ws);
	ws_want(&ws, RECORD_TRANSACTION, &entry);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ck_assert_ptr_nonnull(ws_get(&ws, RECORD_TRANSACTION, &entry));
	close_kind();
}
END_TEST

/* Returns which part of the transactions has smaller ids than @id, in millionths. */
static uint32_t part_before(uint64_t id)
{
	const struct record_info *info = &record_infos[RECORD_TRANSACTION];
	const struct transaction row = {.transaction_id = id};
	struct buffer key;
	uint32_t part;

	buffer_init(&key, 64);
	ck_assert(pack_key(&key, info->fields, info->key_count, &row));
	part = store->part_before(store, RECORD_TRANSACTION,
		(struct bytes){key.data, (uint32_t)key.len});
	buffer_free(&key);
	return part;
}

START_TEST(bdb_estimates_the_part_before_a_key)
{
	struct transaction entry = {.player_id = "p"};

	open_kind(KIND_BDB);
	ck_assert_uint_eq(part_before(1), 0);
	for (uint64_t id = 1; id <= 4000; id++) {
		entry.transaction_id = id;
		if (id % 1000 == 1)
			ws_reset(&ws);
		ws_append(&ws, RECORD_TRANSACTION, &entry);
		if (id % 1000 == 0)
			ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	}
	ck_assert_uint_lt(part_before(1), 50000);
	for (uint64_t id = 1000; id <= 3000; id += 1000) {
		ck_assert_uint_gt(part_before(id), id * 250 - 150000);
		ck_assert_uint_lt(part_before(id), id * 250 + 150000);
	}
	ck_assert_uint_gt(part_before(4000), 900000);
	ck_assert_uint_le(part_before(5000), 1000000);
	close_kind();
}
END_TEST

/* The rows of a batch are spread over the buckets, also where the keys are numbers in a sequence. */
START_TEST(rows_are_spread)
{
	unsigned int longest = 0;

	ws_init(&ws);
	for (uint64_t id = 1; id <= WS_BUCKETS; id++) {
		const struct transaction entry = {.transaction_id = id};

		ws_want(&ws, RECORD_TRANSACTION, &entry);
	}
	ck_assert(!ws_faulty(&ws));
	for (unsigned int i = 0; i < WS_BUCKETS; i++) {
		unsigned int count = 0;

		for (const struct ws_row *row = ws.buckets[i]; row; row = row->next_in_bucket)
			count++;
		longest = count > longest ? count : longest;
	}
	ck_assert_uint_lt(longest, 20);
	ws_free(&ws);
}
END_TEST

static Suite *store_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *bdb = tcase_create("bdb");

	tcase_add_test(bdb, bdb_keeps_rows_over_a_restart);
	tcase_add_test(bdb, names_that_are_there_are_synced);
	tcase_add_test(bdb, a_schema_needs_memory);
	tcase_add_test(bdb, bdb_refuses_a_newer_schema);
	tcase_add_loop_test(bdb, an_interrupted_raise_goes_on, 0, 3);
	tcase_add_loop_test(bdb, a_raise_lists_what_is_set_aside, 0, 3);
	tcase_add_loop_test(bdb, a_raise_makes_the_index_of_bets, 0, 2);
	tcase_add_test(bdb, bdb_refuses_a_missing_table);
	tcase_add_test(bdb, bdb_refuses_an_emptied_directory);
	tcase_add_test_raise_signal(bdb, bdb_notices_a_damaged_page, SIGKILL);
	tcase_add_exit_test(bdb, bdb_ends_with_a_damaged_page, STORE_EXIT_DAMAGED);
	tcase_add_test(bdb, bdb_saves_a_large_batch);
	tcase_add_test(bdb, bdb_estimates_the_part_before_a_key);
	tcase_add_test(bdb, rows_are_spread);
	tcase_set_timeout(bdb, 30);
	suite_add_tcase(suite, every_store_cases(KIND_COUNT));
	suite_add_tcase(suite, bdb);
	return suite;
}

/* A turn that stands still for the whole time, a holder that left, or an engine of one's own. */
START_TEST(a_ledger_claims_in_time)
{
	struct claim_rule rule = {.run = 7, .takeover_ms = 2000};
	struct store_cell cell = {.epoch = 3, .turn = 100, .run = 5, .holder = "a"};

	ck_assert(!claim_may(&rule, &cell, 10000));
	ck_assert(!claim_may(&rule, &cell, 11999));
	cell.turn++;
	ck_assert(!claim_may(&rule, &cell, 12500));
	ck_assert(!claim_may(&rule, &cell, 14499));
	/* The time in which the server did not answer does not count. */
	claim_forget(&rule);
	ck_assert(!claim_may(&rule, &cell, 14600));
	ck_assert(!claim_may(&rule, &cell, 16599));
	ck_assert(claim_may(&rule, &cell, 16600));
	cell.epoch++;
	ck_assert(!claim_may(&rule, &cell, 16700));
	cell.run = 7;
	ck_assert(claim_may(&rule, &cell, 16700));
	cell.run = 5;
	ck_assert(!claim_may(&rule, &cell, 16700));
	cell.holder[0] = '\0';
	ck_assert(claim_may(&rule, &cell, 16700));
}
END_TEST

static Suite *claim_suite(void)
{
	Suite *suite = suite_create("claim");
	TCase *tests = tcase_create("claim");

	tcase_add_test(tests, a_ledger_claims_in_time);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return tap_main((Suite *(*const[])(void)){store_suite, env_suite, hang_suite, log_suite,
		writeback_suite, log_prealloc_suite, split_suite, claim_suite, NULL});
}

/*
 * Tests the promises of store.h with the same cases for every store.
 */
#include "base/pack.h"
#include "memory_store.h"
#include "scratch.h"
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
static struct store *store;
static struct ws ws;

static const struct store_options store_options = {
	.directory = directory,
	.cache_mib = 8,
	.checkpoint_kib = 8192,
	.checkpoint_interval_ms = 1000,
	.log_keep_mib = 64,
	.create = true,
};

static void open_kind(int kind)
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

static void close_kind(void)
{
	ws_free(&ws);
	store->close(store);
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

static struct player make_player(const char *user, money_t balance)
{
	struct player player;

	memset(&player, 0, sizeof(player));
	strcpy(player.casino_id, "demo");
	snprintf(player.user_id, sizeof(player.user_id), "%s", user);
	strcpy(player.player_id, "aaaaaaaaaaaaaaaaaaaa");
	player.balance = balance;
	return player;
}

static void save_player(const char *user, money_t balance)
{
	struct player player = make_player(user, balance);

	ws_reset(&ws);
	ws_want(&ws, RECORD_PLAYER, &player);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ws_put(&ws, RECORD_PLAYER, &player);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
}

static const struct player *load_player(const char *user)
{
	struct player key = make_player(user, 0);

	ws_reset(&ws);
	ws_want(&ws, RECORD_PLAYER, &key);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	return ws_get(&ws, RECORD_PLAYER, &key);
}

START_TEST(rows_come_back)
{
	open_kind(_i);
	ck_assert_ptr_null(load_player("alice"));
	save_player("alice", 12345);
	ck_assert_ptr_nonnull(load_player("alice"));
	ck_assert_int_eq(load_player("alice")->balance, 12345);
	save_player("alice", -1);
	ck_assert_int_eq(load_player("alice")->balance, -1);
	ck_assert_ptr_null(load_player("bob"));
	close_kind();
}
END_TEST

START_TEST(append_twice_is_refused)
{
	struct transaction entry = {.player_id = "aaaaaaaaaaaaaaaaaaaa",
		.transaction_id = 1,
		.amount = 5};
	struct player player = make_player("alice", 1);

	open_kind(_i);
	ws_append(&ws, RECORD_TRANSACTION, &entry);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	ws_want(&ws, RECORD_PLAYER, &player);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ws_put(&ws, RECORD_PLAYER, &player);
	ws_append(&ws, RECORD_TRANSACTION, &entry);
	ck_assert_int_eq(store->save(store, &ws), SAVE_FAULT);
	/* All or nothing: the player of the same batch was not written. */
	ck_assert_ptr_null(load_player("alice"));
	close_kind();
}
END_TEST

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
START_TEST(undeclared_rows_are_faults)
{
	struct player player = make_player("alice", 1);

	open_kind(_i);
	ck_assert_ptr_null(ws_get(&ws, RECORD_PLAYER, &player));
	ck_assert(ws_faulty(&ws));
	ws_reset(&ws);
	ck_assert(!ws_faulty(&ws));
	ws_put(&ws, RECORD_PLAYER, &player);
	ck_assert(ws_faulty(&ws));
	ws_reset(&ws);
	ws_want(&ws, RECORD_PLAYER, &player);
	/* Declared, but not loaded yet. */
	ck_assert_ptr_null(ws_get(&ws, RECORD_PLAYER, &player));
	ck_assert(ws_faulty(&ws));
	ck_assert_str_eq(ws.fault_text, "undeclared read of a player row");
	close_kind();
}
END_TEST

/* Invariants of base/check.h: a bug of a command or of the store ends the process with SIGABRT. */
START_TEST(a_faulty_working_set_is_not_saved)
{
	struct player player = make_player("alice", 1);

	open_kind(_i);
	ws_put(&ws, RECORD_PLAYER, &player);
	ck_assert(ws_faulty(&ws));
	scratch_remove(directory);
	store->save(store, &ws);
}
END_TEST

START_TEST(a_row_that_is_not_loaded_is_not_saved)
{
	struct player player = make_player("alice", 1);

	open_kind(_i);
	ws_want(&ws, RECORD_PLAYER, &player);
	ws.first->dirty = ws.dirty = true;
	scratch_remove(directory);
	store->save(store, &ws);
}
END_TEST

START_TEST(a_stored_row_is_not_appended)
{
	struct player player = make_player("alice", 1);

	open_kind(_i);
	save_player("alice", 1);
	ck_assert_ptr_nonnull(load_player("alice"));
	ws.first->appended = true;
	scratch_remove(directory);
	ws_put(&ws, RECORD_PLAYER, &player);
}
END_TEST

START_TEST(a_written_row_is_not_loaded_again)
{
	struct player player = make_player("alice", 1);

	open_kind(_i);
	ws_append(&ws, RECORD_PLAYER, &player);
	scratch_remove(directory);
	ws_row_fill(&ws, ws.first);
}
END_TEST

START_TEST(commands_of_a_batch_see_each_other)
{
	struct transaction entry = {.player_id = "aaaaaaaaaaaaaaaaaaaa",
		.transaction_id = 7,
		.amount = 5};
	const struct transaction *seen;

	open_kind(_i);
	ws_want(&ws, RECORD_TRANSACTION, &entry);
	ws_want(&ws, RECORD_TRANSACTION, &entry);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ck_assert_ptr_null(ws_get(&ws, RECORD_TRANSACTION, &entry));
	ws_append(&ws, RECORD_TRANSACTION, &entry);
	seen = ws_get(&ws, RECORD_TRANSACTION, &entry);
	ck_assert_ptr_nonnull(seen);
	ck_assert_int_eq(seen->amount, 5);
	ws_append(&ws, RECORD_TRANSACTION, &entry);
	ck_assert(ws_faulty(&ws));
	close_kind();
}
END_TEST

START_TEST(dropped_rows_are_gone)
{
	struct due due = {.event = 7, .casino_id = "demo", .due_ms = 5};
	struct due other = {.event = 8, .casino_id = "demo"};

	open_kind(_i);
	ws_append(&ws, RECORD_DUE, &due);
	ws_append(&ws, RECORD_DUE, &other);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	ws_want(&ws, RECORD_DUE, &due);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ws_drop(&ws, RECORD_DUE, &due);
	ck_assert_ptr_null(ws_get(&ws, RECORD_DUE, &due));
	ws_drop(&ws, RECORD_DUE, &due);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	ws_want(&ws, RECORD_DUE, &due);
	ws_want(&ws, RECORD_DUE, &other);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ck_assert_ptr_null(ws_get(&ws, RECORD_DUE, &due));
	ck_assert_ptr_nonnull(ws_get(&ws, RECORD_DUE, &other));
	/* A row dropped and created again in one batch, and one created and dropped. */
	ws_drop(&ws, RECORD_DUE, &other);
	other.due_ms = 99;
	ws_append(&ws, RECORD_DUE, &other);
	ws_append(&ws, RECORD_DUE, &due);
	ws_drop(&ws, RECORD_DUE, &due);
	ck_assert(!ws_faulty(&ws));
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	ws_want(&ws, RECORD_DUE, &due);
	ws_want(&ws, RECORD_DUE, &other);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ck_assert_ptr_null(ws_get(&ws, RECORD_DUE, &due));
	ck_assert_int_eq(((const struct due *)ws_get(&ws, RECORD_DUE, &other))->due_ms, 99);
	close_kind();
}
END_TEST

/* Bytes are copied by ws_put(), so the source may be freed. Tests 64 KiB and more. */
START_TEST(bytes_are_kept)
{
	struct callback_body body = {.event = 1}, key = {.event = 1};
	const struct callback_body *stored;
	uint8_t *text = malloc(100000);

	open_kind(_i);
	ck_assert_ptr_nonnull(text);
	memset(text, 'x', 100000);
	body.body = (struct bytes){text, 100000};
	ws_append(&ws, RECORD_CALLBACK_BODY, &body);
	memset(text, 'y', 100000);
	free(text);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	ws_want(&ws, RECORD_CALLBACK_BODY, &key);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	stored = ws_get(&ws, RECORD_CALLBACK_BODY, &key);
	ck_assert_ptr_nonnull(stored);
	ck_assert_uint_eq(stored->body.len, 100000);
	for (uint32_t i = 0; i < stored->body.len; i++)
		ck_assert_uint_eq(stored->body.data[i], 'x');
	close_kind();
}
END_TEST

static char visited[512];
static unsigned int visit_most;

static bool note(void *context, struct bytes key, const void *row)
{
	struct bytes *last = context;
	static uint8_t bytes[512];

	strcat(visited, ((const struct player *)row)->user_id);
	memcpy(bytes, key.data, key.len);
	*last = (struct bytes){bytes, key.len};
	return --visit_most > 0;
}

static const char *scan(const char *casino, bool reverse, struct bytes after, unsigned int most,
	struct bytes *last)
{
	struct buffer prefix;
	struct player key;
	struct store_range range = {.record = RECORD_PLAYER, .reverse = reverse, .after = after};

	memset(&key, 0, sizeof(key));
	strcpy(key.casino_id, casino);
	buffer_init(&prefix, 512);
	if (casino[0]) {
		pack_key(&prefix, player_fields, 1, &key);
		range.prefix = (struct bytes){prefix.data, (uint32_t)prefix.len};
	}
	visited[0] = '\0';
	visit_most = most;
	ck_assert_int_eq(store->scan(store, &range, note, last), STATUS_OK);
	buffer_free(&prefix);
	return visited;
}

START_TEST(ranges_are_ordered)
{
	static const char *const users[] = {"b", "d", "a", "c"};
	struct bytes none = {NULL, 0}, last = {NULL, 0};
	struct player other = make_player("x", 0);

	open_kind(_i);
	for (size_t i = 0; i < 4; i++)
		save_player(users[i], 1);
	/* Neighbours with the same prefix belong to another dealer. */
	ws_reset(&ws);
	strcpy(other.casino_id, "demo2");
	ws_append(&ws, RECORD_PLAYER, &other);
	strcpy(other.casino_id, "dem");
	ws_append(&ws, RECORD_PLAYER, &other);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);

	ck_assert_str_eq(scan("demo", false, none, 99, &last), "abcd");
	ck_assert_str_eq(scan("demo", true, none, 99, &last), "dcba");
	ck_assert_str_eq(scan("", false, none, 99, &last), "xabcdx");
	ck_assert_str_eq(scan("", true, none, 99, &last), "xdcbax");
	ck_assert_str_eq(scan("nobody", false, none, 99, &last), "");
	ck_assert_str_eq(scan("nobody", true, none, 99, &last), "");
	ck_assert_str_eq(scan("demo", false, none, 2, &last), "ab");
	ck_assert_str_eq(scan("demo", false, last, 99, &last), "cd");
	ck_assert_str_eq(scan("demo", false, last, 99, &last), "");
	ck_assert_str_eq(scan("demo", true, none, 3, &last), "dcb");
	ck_assert_str_eq(scan("demo", true, last, 99, &last), "a");
	ck_assert_str_eq(scan("demo", true, last, 99, &last), "");
	close_kind();
}
END_TEST

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

	ck_assert_int_eq(schema_check(&starving, false, why, sizeof(why)), STATUS_NOMEM);
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
		"the data was written by a newer creditbridge (schema 3; this one "
		"knows up to 2): install that version again");
	ws_free(&ws);
	scratch_remove(directory);
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

static Suite *store_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *all = tcase_create("every store"), *bdb = tcase_create("bdb");

	tcase_add_loop_test(all, rows_come_back, 0, KIND_COUNT);
	tcase_add_loop_test(all, append_twice_is_refused, 0, KIND_COUNT);
	tcase_add_loop_test(all, undeclared_rows_are_faults, 0, KIND_COUNT);
	tcase_add_loop_test_raise_signal(all, a_faulty_working_set_is_not_saved, SIGABRT, 0,
		KIND_COUNT);
	tcase_add_loop_test_raise_signal(all, a_row_that_is_not_loaded_is_not_saved, SIGABRT, 0,
		KIND_COUNT);
	tcase_add_loop_test_raise_signal(all, a_stored_row_is_not_appended, SIGABRT, 0, KIND_COUNT);
	tcase_add_loop_test_raise_signal(all, a_written_row_is_not_loaded_again, SIGABRT, 0,
		KIND_COUNT);
	tcase_add_loop_test(all, commands_of_a_batch_see_each_other, 0, KIND_COUNT);
	tcase_add_loop_test(all, dropped_rows_are_gone, 0, KIND_COUNT);
	tcase_add_loop_test(all, bytes_are_kept, 0, KIND_COUNT);
	tcase_add_loop_test(all, ranges_are_ordered, 0, KIND_COUNT);
	tcase_add_test(bdb, bdb_keeps_rows_over_a_restart);
	tcase_add_test(bdb, names_that_are_there_are_synced);
	tcase_add_test(bdb, a_schema_needs_memory);
	tcase_add_test(bdb, bdb_refuses_a_newer_schema);
	tcase_add_test(bdb, bdb_refuses_a_missing_table);
	tcase_add_test(bdb, bdb_refuses_an_emptied_directory);
	tcase_add_test_raise_signal(bdb, bdb_notices_a_damaged_page, SIGKILL);
	tcase_add_exit_test(bdb, bdb_ends_with_a_damaged_page, STORE_EXIT_DAMAGED);
	tcase_add_test(bdb, bdb_saves_a_large_batch);
	tcase_set_timeout(all, 30);
	tcase_set_timeout(bdb, 30);
	suite_add_tcase(suite, all);
	suite_add_tcase(suite, bdb);
	return suite;
}

int main(void)
{
	return tap_main((Suite *(*const[])(void)){store_suite, env_suite, hang_suite, log_suite,
		writeback_suite, log_prealloc_suite, split_suite, NULL});
}

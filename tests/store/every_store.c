/*
 * Cases for every store. The program that uses them says how a store of a kind is opened.
 */
#include "every_store.h"

#include "base/pack.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct player make_player(const char *user, money_t balance)
{
	struct player player;

	memset(&player, 0, sizeof(player));
	strcpy(player.casino_id, "demo");
	snprintf(player.user_id, sizeof(player.user_id), "%s", user);
	strcpy(player.player_id, "aaaaaaaaaaaaaaaaaaaa");
	player.balance = balance;
	return player;
}

void save_player(const char *user, money_t balance)
{
	struct player player = make_player(user, balance);

	ws_reset(&ws);
	ws_want(&ws, RECORD_PLAYER, &player);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ws_put(&ws, RECORD_PLAYER, &player);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
}

const struct player *load_player(const char *user)
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
	leave_kind();
	store->save(store, &ws);
}
END_TEST

START_TEST(a_row_that_is_not_loaded_is_not_saved)
{
	struct player player = make_player("alice", 1);

	open_kind(_i);
	ws_want(&ws, RECORD_PLAYER, &player);
	ws.first->dirty = ws.dirty = true;
	leave_kind();
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
	leave_kind();
	ws_put(&ws, RECORD_PLAYER, &player);
}
END_TEST

START_TEST(a_written_row_is_not_loaded_again)
{
	struct player player = make_player("alice", 1);

	open_kind(_i);
	ws_append(&ws, RECORD_PLAYER, &player);
	leave_kind();
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

TCase *every_store_cases(int kinds)
{
	TCase *all = tcase_create("every store");

	tcase_add_loop_test(all, rows_come_back, 0, kinds);
	tcase_add_loop_test(all, append_twice_is_refused, 0, kinds);
	tcase_add_loop_test(all, undeclared_rows_are_faults, 0, kinds);
	tcase_add_loop_test_raise_signal(all, a_faulty_working_set_is_not_saved, SIGABRT, 0, kinds);
	tcase_add_loop_test_raise_signal(all, a_row_that_is_not_loaded_is_not_saved, SIGABRT, 0,
		kinds);
	tcase_add_loop_test_raise_signal(all, a_stored_row_is_not_appended, SIGABRT, 0, kinds);
	tcase_add_loop_test_raise_signal(all, a_written_row_is_not_loaded_again, SIGABRT, 0, kinds);
	tcase_add_loop_test(all, commands_of_a_batch_see_each_other, 0, kinds);
	tcase_add_loop_test(all, dropped_rows_are_gone, 0, kinds);
	tcase_add_loop_test(all, bytes_are_kept, 0, kinds);
	tcase_add_loop_test(all, ranges_are_ordered, 0, kinds);
	tcase_set_timeout(all, 30);
	return all;
}

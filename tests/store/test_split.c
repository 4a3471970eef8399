/*
 * Tests a bet's large user_bet, which the Berkeley DB store keeps in a separate row
 * (store/bdb/split_row.h).
 */
#include "base/pack.h"
#include "scratch.h"
#include "store/bdb/env/env.h"
#include "store/bdb/split_row.h"
#include "store/store.h"
#include "suites.h"
#include "tap.h"

#include <db.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE   60000
#define KEY_MAX 512
#define OTHER   '2' /* the bytes of a changed object */

static char directory[64];
static struct store *store;
static struct ws ws;
static char object[LARGE];

static void open_store(void)
{
	const struct store_options options = {
		.directory = directory,
		.cache_mib = 8,
		.checkpoint_kib = 8192,
		.checkpoint_interval_ms = 1000,
		.log_keep_mib = 64,
		.create = true,
	};
	char why[256] = "";

	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
}

static void setup(void)
{
	memset(object, '1', sizeof(object));
	scratch_make(directory);
	open_store();
	ws_init(&ws);
}

static void teardown(void)
{
	ws_free(&ws);
	store->close(store);
	scratch_remove(directory);
}

static struct bet bet_with(uint32_t number, uint32_t object_len)
{
	struct bet bet = {.player_id = "aaaaaaaaaaaaaaaaaaaa",
		.game_id = "g",
		.number = number,
		.mode = WALLET_TRANSFER,
		.state = BET_ACCEPTED,
		.bet_amount = 1,
		.transaction_id = number,
		.refund_dropped = true};

	bet.user_bet = (struct bytes){(const uint8_t *)object, object_len};
	return bet;
}

static void append(uint32_t number, uint32_t object_len)
{
	const struct bet bet = bet_with(number, object_len);

	ws_reset(&ws);
	ws_append(&ws, RECORD_BET, &bet);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
}

static const struct bet *load(uint32_t number)
{
	const struct bet key = bet_with(number, 0);

	ws_reset(&ws);
	ws_want(&ws, RECORD_BET, &key);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	return ws_get(&ws, RECORD_BET, &key);
}

static void put(const struct bet *bet)
{
	ck_assert_ptr_nonnull(load(bet->number));
	ws_put(&ws, RECORD_BET, bet);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
}

/* Fails the test unless the bet exists with @state and the first @len bytes of the object. */
static void expect(uint32_t number, enum bet_state state, uint32_t len)
{
	const struct bet *bet = load(number);

	ck_assert_ptr_nonnull(bet);
	ck_assert_int_eq(bet->state, state);
	ck_assert_uint_eq(bet->transaction_id, number);
	ck_assert(bet->refund_dropped && !bet->dropped);
	ck_assert_uint_eq(bet->user_bet.len, len);
	ck_assert(!len || memcmp(bet->user_bet.data, object, len) == 0);
}

static const uint32_t lens[] = {0, 1, SPLIT_MIN - 1, SPLIT_MIN, SPLIT_MIN + 1, LARGE};
#define LENS (sizeof(lens) / sizeof(lens[0]))

START_TEST(every_length_comes_back)
{
	struct bet bet;

	for (uint32_t i = 0; i < LENS; i++)
		append(i + 1, lens[i]);
	for (uint32_t i = 0; i < LENS; i++) {
		expect(i + 1, BET_ACCEPTED, lens[i]);
		bet = bet_with(i + 1, lens[i]);
		bet.state = BET_SETTLED;
		put(&bet);
		expect(i + 1, BET_SETTLED, lens[i]);
	}
	/* From each length to each other. */
	for (uint32_t i = 0; i < LENS; i++) {
		for (uint32_t to = 0; to < LENS; to++) {
			bet = bet_with(i + 1, lens[to]);
			put(&bet);
			expect(i + 1, BET_ACCEPTED, lens[to]);
		}
	}
	store->close(store);
	open_store();
	for (uint32_t i = 0; i < LENS; i++)
		expect(i + 1, BET_ACCEPTED, LARGE);
}
END_TEST

START_TEST(a_changed_object_is_kept)
{
	const struct bet bet = bet_with(1, LARGE);

	append(1, LARGE);
	object[LARGE - 1] = OTHER;
	put(&bet);
	expect(1, BET_ACCEPTED, LARGE);
}
END_TEST

/* No part of a dropped row remains that could conflict with a new row of the same key. */
START_TEST(a_dropped_row_leaves_nothing)
{
	const struct bet key = bet_with(1, 0);

	append(1, LARGE);
	ck_assert_ptr_nonnull(load(1));
	ws_drop(&ws, RECORD_BET, &key);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ck_assert_ptr_null(load(1));
	append(1, LARGE);
	expect(1, BET_ACCEPTED, LARGE);
}
END_TEST

/* ---- rows without their object */

static const struct bet *load_without(uint32_t number)
{
	const struct bet key = bet_with(number, 0);

	ws_reset(&ws);
	ws_want_without_object(&ws, RECORD_BET, &key);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	return ws_get(&ws, RECORD_BET, &key);
}

/* A result changes bets whose objects it did not load. */
START_TEST(an_object_that_was_left_out_stays)
{
	struct bet bet;

	for (uint32_t i = 0; i < LENS; i++) {
		append(i + 1, lens[i]);
		bet = *load_without(i + 1);
		ck_assert_uint_eq(bet.user_bet.len, lens[i] < SPLIT_MIN ? lens[i] : 0);
		bet.state = BET_SETTLED;
		ws_put(&ws, RECORD_BET, &bet);
		ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
		expect(i + 1, BET_SETTLED, lens[i]);
	}
	ck_assert_ptr_null(load_without(LENS + 1));
}
END_TEST

/* The object is there for a command that declares the whole row, in either order. */
START_TEST(one_command_of_a_batch_needs_the_object)
{
	const struct bet key = bet_with(1, 0);
	struct bet bet;

	append(1, LARGE);
	ws_reset(&ws);
	ws_want_without_object(&ws, RECORD_BET, &key);
	ws_want(&ws, RECORD_BET, &key);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ck_assert_uint_eq(((const struct bet *)ws_get(&ws, RECORD_BET, &key))->user_bet.len, LARGE);
	ck_assert_uint_eq(load_without(1)->user_bet.len, 0);
	/* The later command of a batch declares the row when it is loaded. */
	ws_want(&ws, RECORD_BET, &key);
	ck_assert(ws_pending(&ws) && !ws_loaded(&ws, RECORD_BET, &key));
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	bet = *(const struct bet *)ws_get(&ws, RECORD_BET, &key);
	ck_assert_uint_eq(bet.user_bet.len, LARGE);
	ws_want_without_object(&ws, RECORD_BET, &key);
	bet.state = BET_SETTLED;
	ws_put(&ws, RECORD_BET, &bet);
	ck_assert(!ws_pending(&ws) && !ws_faulty(&ws));
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	expect(1, BET_SETTLED, LARGE);
}
END_TEST

/* Commands that would lose an object, or leave it without its row, are faults. */
START_TEST(a_left_out_object_cannot_be_changed)
{
	const struct bet key = bet_with(1, 0), with = bet_with(1, LARGE);

	append(1, LARGE);
	ck_assert_ptr_nonnull(load_without(1));
	ws_put(&ws, RECORD_BET, &with);
	ck_assert(ws_faulty(&ws));
	ck_assert_ptr_nonnull(load_without(1));
	ws_drop(&ws, RECORD_BET, &key);
	ck_assert(ws_faulty(&ws));
	ck_assert_ptr_nonnull(load_without(1));
	ws_put(&ws, RECORD_BET, &key);
	ck_assert(!ws_faulty(&ws));
	ws_want(&ws, RECORD_BET, &key);
	ck_assert(ws_faulty(&ws));
	expect(1, BET_ACCEPTED, LARGE);
}
END_TEST

/* ---- ranges */

struct seen {
	char numbers[32];
	unsigned int most;
	uint8_t last[KEY_MAX];
	uint32_t last_len;
};

static bool visit(void *context, struct bytes key, const void *row)
{
	struct seen *seen = context;
	const struct bet *bet = row;
	const size_t len = strlen(seen->numbers);

	ck_assert_uint_eq(bet->user_bet.len, lens[bet->number - 1]);
	ck_assert(!bet->user_bet.len || memcmp(bet->user_bet.data, object, bet->user_bet.len) == 0);
	snprintf(seen->numbers + len, sizeof(seen->numbers) - len, "%u", bet->number);
	ck_assert_uint_le(key.len, KEY_MAX);
	memcpy(seen->last, key.data, key.len);
	seen->last_len = key.len;
	return --seen->most > 0;
}

/*
 * Returns the numbers of the bets of a range; with @go_on, after the last one of the previous
 * call.
 */
static const char *scan(struct seen *seen, const struct bet *of, unsigned int members, bool reverse,
	bool go_on, unsigned int most)
{
	struct store_range range = {.record = RECORD_BET, .reverse = reverse};
	uint8_t after[KEY_MAX];
	struct buffer prefix;

	buffer_init(&prefix, KEY_MAX);
	ck_assert(pack_key(&prefix, bet_fields, members, of));
	range.prefix = (struct bytes){prefix.data, (uint32_t)prefix.len};
	if (go_on) {
		memcpy(after, seen->last, seen->last_len);
		range.after = (struct bytes){after, seen->last_len};
	}
	seen->numbers[0] = '\0';
	seen->most = most;
	ck_assert_int_eq(store->scan(store, &range, visit, seen), STATUS_OK);
	buffer_free(&prefix);
	return seen->numbers;
}

START_TEST(ranges_have_whole_rows_only)
{
	const struct bet large = bet_with(4, 0);
	struct seen seen;

	for (uint32_t i = 0; i < LENS; i++)
		append(i + 1, lens[i]);
	ck_assert_str_eq(scan(&seen, &large, 2, false, false, 99), "123456");
	ck_assert_str_eq(scan(&seen, &large, 2, true, false, 99), "654321");
	ck_assert_str_eq(scan(&seen, &large, 3, false, false, 99), "4");
	ck_assert_str_eq(scan(&seen, &large, 3, true, false, 99), "4");
	ck_assert_str_eq(scan(&seen, &large, 2, false, false, 4), "1234");
	ck_assert_str_eq(scan(&seen, &large, 2, false, true, 99), "56");
	ck_assert_str_eq(scan(&seen, &large, 2, true, false, 2), "65");
	ck_assert_str_eq(scan(&seen, &large, 2, true, true, 99), "4321");
}
END_TEST

/* ---- on disk */

/* Returns the bytes that this process has written since it started. */
static unsigned long long written(void)
{
	unsigned long long bytes = 0;
	char line[64];
	FILE *file = fopen("/proc/self/io", "r");

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "wchar: %llu", &bytes);
	fclose(file);
	return bytes;
}

/* This is the cost of a result for each bet of its round. */
START_TEST(a_changed_state_does_not_write_the_object)
{
	struct bet bet = bet_with(1, LARGE);
	unsigned long long before;

	append(1, LARGE);
	/* Pages of the first save are written before the second one begins. */
	store->close(store);
	open_store();
	ck_assert_ptr_nonnull(load(1));
	before = written();
	bet.state = BET_SETTLED;
	ws_put(&ws, RECORD_BET, &bet);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ck_assert_uint_lt(written() - before, LARGE / 2);
}
END_TEST

/* The table of bets itself, while no store has it open. */
struct raw {
	DB_ENV *env;
	DB *table;
	struct buffer key;
};

static void raw_open(struct raw *raw, uint32_t number)
{
	const struct bet bet = bet_with(number, 0);

	store->close(store);
	buffer_init(&raw->key, KEY_MAX);
	ck_assert(pack_key(&raw->key, bet_fields, 3, &bet));
	ck_assert_int_eq(bdb_env_make(&raw->env, directory, BDB_ENV_FLAGS | DB_RECOVER, 8), 0);
	ck_assert_int_eq(db_create(&raw->table, raw->env, 0), 0);
	ck_assert_int_eq(raw->table->open(raw->table, NULL, "bet.db", NULL, DB_BTREE,
				 DB_AUTO_COMMIT, 0600),
		0);
}

static void raw_close(struct raw *raw)
{
	ck_assert_int_eq(raw->table->close(raw->table, 0), 0);
	ck_assert_int_eq(raw->env->close(raw->env, 0), 0);
	buffer_free(&raw->key);
	open_store();
}

/* An older row was written whole, whatever its size. It stays whole until it is changed. */
START_TEST(whole_rows_are_read)
{
	const uint8_t version = record_version(RECORD_BET);
	struct bet bet = bet_with(1, LARGE);
	struct buffer value;
	DBT key = {.size = 0}, data = {.size = 0};
	struct raw raw;

	buffer_init(&value, 2 * LARGE);
	ck_assert(buffer_append(&value, &version, 1) && pack_record(&value, bet_fields + 3, &bet));
	raw_open(&raw, 1);
	key.data = raw.key.data;
	key.size = (u_int32_t)raw.key.len;
	data.data = value.data;
	data.size = (u_int32_t)value.len;
	ck_assert_int_eq(raw.table->put(raw.table, NULL, &key, &data, 0), 0);
	raw_close(&raw);
	buffer_free(&value);
	expect(1, BET_ACCEPTED, LARGE);
	for (int i = 0; i < 2; i++) {
		bet.state = i ? BET_ACCEPTED : BET_SETTLED;
		put(&bet);
		expect(1, bet.state, LARGE);
	}
}
END_TEST

static bool visit_none(void *context, struct bytes key, const void *row)
{
	(void)context;
	(void)key;
	(void)row;
	ck_abort_msg("a damaged row was visited");
}

/* An object that is missing or has another length is damage. */
START_TEST(a_lost_object_is_damage)
{
	const struct store_range range = {.record = RECORD_BET};
	const struct bet wanted = bet_with(1, 0);
	uint8_t bytes[] = {SPLIT_OBJECT, 'x'};
	DBT key = {.size = 0}, data = {.data = bytes, .size = sizeof(bytes)};
	struct raw raw;

	append(1, LARGE);
	raw_open(&raw, 1);
	ck_assert(buffer_append(&raw.key, "", 1));
	key.data = raw.key.data;
	key.size = (u_int32_t)raw.key.len;
	ck_assert_int_eq(raw.table->del(raw.table, NULL, &key, 0), 0);
	if (_i)
		ck_assert_int_eq(raw.table->put(raw.table, NULL, &key, &data, 0), 0);
	raw_close(&raw);
	ws_reset(&ws);
	ws_want(&ws, RECORD_BET, &wanted);
	ck_assert_int_eq(store->load(store, &ws), STATUS_CORRUPT);
	ck_assert_int_eq(store->scan(store, &range, visit_none, NULL), STATUS_CORRUPT);
}
END_TEST

Suite *split_suite(void)
{
	Suite *suite = suite_create("split");
	TCase *tcase = tcase_create("split");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, every_length_comes_back);
	tcase_add_test(tcase, a_changed_object_is_kept);
	tcase_add_test(tcase, a_dropped_row_leaves_nothing);
	tcase_add_test(tcase, an_object_that_was_left_out_stays);
	tcase_add_test(tcase, one_command_of_a_batch_needs_the_object);
	tcase_add_test(tcase, a_left_out_object_cannot_be_changed);
	tcase_add_test(tcase, ranges_have_whole_rows_only);
	tcase_add_test(tcase, a_changed_state_does_not_write_the_object);
	tcase_add_test(tcase, whole_rows_are_read);
	tcase_add_loop_test(tcase, a_lost_object_is_damage, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

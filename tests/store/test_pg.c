/*
 * Tests the store on PostgreSQL with a private server: the cases of every store, all columns, and what
 * happens to a batch whose connection breaks.
 */
#include "base/pack.h"
#include "every_store.h"
#include "pg_proxy.h"
#include "pg_server.h"
#include "base/clock.h"
#include "store/pg/cell.h"
#include "store/pg/column.h"
#include "store/pg/pg.h"
#include "store/pg/sql.h"
#include "store/pg/watch.h"
#include "suites.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct store *store;
struct ws ws;
static struct pg_options options;

static void open_again(void)
{
	char why[512] = "";

	ck_assert_msg(pg_store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
}

void open_kind(int kind)
{
	(void)kind;
	pg_server_schema(&options);
	open_again();
	ws_init(&ws);
}

void close_kind(void)
{
	ws_free(&ws);
	store->close(store);
	pg_server_drop();
}

/* The session of the case holds no lock outside a batch. */
void leave_kind(void)
{
	pg_server_drop();
}

/* ---- columns */

/* Fills the members of a struct with numbers that differ from column to column. */
static void fill_row(enum record record, void *row, unsigned int seed)
{
	const struct column_table *table = column_table_of(record);
	static char text[COLUMNS_MAX][16];

	memset(row, 0, record_infos[record].size);
	for (unsigned int i = 0; i < table->count; i++) {
		const struct column *column = &table->columns[i];
		uint8_t *member = (uint8_t *)row + column->offset;
		const uint64_t number = seed + i;
		struct bytes bytes = {(const uint8_t *)text[i], 0};
		wide_t sum = -((wide_t)number << 90) - number;

		switch (column->field->type) {
		case FIELD_BOOL:
			*(bool *)member = number % 2;
			break;
		case FIELD_ENUM:
			field_store_number(member, column->field->size,
				number % column->field->count);
			break;
		case FIELD_U64:
			field_store_number(member, 8, UINT64_MAX - number);
			break;
		case FIELD_MONEY:
		case FIELD_TIME_MS:
			field_store_number(member, 8, (uint64_t)INT64_MIN + number);
			break;
		case FIELD_I32:
			field_store_number(member, 4, (uint64_t)INT32_MIN + number);
			break;
		case FIELD_SUM:
			memcpy(member, &sum, sizeof(sum));
			break;
		case FIELD_STR:
		case FIELD_SECRET:
			snprintf((char *)member, column->field->size, "%u",
				(unsigned int)number % 97);
			break;
		case FIELD_BYTES:
		case FIELD_JSON:
			snprintf(text[i], sizeof(text[i]), "{\"n\":%u}", (unsigned int)number % 97);
			bytes.len = (uint32_t)strlen(text[i]);
			memcpy(member, &bytes, sizeof(bytes));
			break;
		default:
			field_store_number(member, column->field->size, number % 200);
		}
	}
}

static void check_equal(enum record record, const void *stored, const void *row)
{
	struct buffer a, b;

	buffer_init(&a, 1 << 20);
	buffer_init(&b, 1 << 20);
	ck_assert(pack_record(&a, record_infos[record].fields, stored));
	ck_assert(pack_record(&b, record_infos[record].fields, row));
	ck_assert_uint_eq(a.len, b.len);
	ck_assert_msg(memcmp(a.data, b.data, a.len) == 0, "%s", record_infos[record].name);
	buffer_free(&a);
	buffer_free(&b);
}

struct seen {
	enum record record;
	const void *row;
	unsigned int rows;
};

static bool see_row(void *context, struct bytes key, const void *row)
{
	struct seen *seen = context;

	(void)key;
	check_equal(seen->record, row, seen->row);
	seen->rows++;
	return true;
}

/* Each kind of row: inserted, loaded, changed, and read by a scan. */
START_TEST(every_column_comes_back)
{
	const enum record record = (enum record)_i;
	void *row = malloc(record_infos[record].size), *other = malloc(record_infos[record].size);
	const struct store_range range = {.record = record};
	struct seen seen = {.record = record, .row = other};

	open_kind(0);
	fill_row(record, row, 1);
	ws_append(&ws, record, row);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	ws_want(&ws, record, row);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	/* A struct whose numbers are out of range is a fault of the rows, as on every store. */
	if (!ws_faulty(&ws)) {
		ck_assert_ptr_nonnull(ws_get(&ws, record, row));
		check_equal(record, ws_get(&ws, record, row), row);
		fill_row(record, other, 40);
		for (unsigned int i = 0; i < column_table_of(record)->key_count; i++) {
			const struct column *column = &column_table_of(record)->columns[i];

			memcpy((uint8_t *)other + column->offset, (uint8_t *)row + column->offset,
				column->field->size);
		}
		ws_put(&ws, record, other);
		ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
		ck_assert_int_eq(store->scan(store, &range, see_row, &seen), STATUS_OK);
		ck_assert_uint_eq(seen.rows, 1);
	}
	free(row);
	free(other);
	close_kind();
}
END_TEST

/* ---- one writer */

START_TEST(a_replaced_writer_saves_nothing)
{
	struct store *old;

	open_kind(0);
	save_player("alice", 1);
	old = store;
	open_again();
	save_player("alice", 2);
	{
		struct player player = make_player("alice", 99);
		struct store *new = store;

		store = old;
		ws_reset(&ws);
		ws_want(&ws, RECORD_PLAYER, &player);
		ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
		ws_put(&ws, RECORD_PLAYER, &player);
		ck_assert_int_eq(store->save(store, &ws), SAVE_LOST);
		old->close(old);
		store = new;
	}
	ck_assert_int_eq(load_player("alice")->balance, 2);
	close_kind();
}
END_TEST

#define TERMINATE_OTHERS                                                                           \
	"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "    \
	"AND backend_type = 'client backend'"

START_TEST(a_broken_connection_is_made_again)
{
	open_kind(0);
	save_player("alice", 1);
	pg_server_run(TERMINATE_OTHERS);
	ck_assert_int_eq(load_player("alice")->balance, 1);
	pg_server_run(TERMINATE_OTHERS);
	save_player("alice", 2);
	ck_assert_int_eq(load_player("alice")->balance, 2);
	close_kind();
}
END_TEST

/*
 * The connection breaks before or after the server has the batch, also several times in turn: the row is
 * saved once.
 */
START_TEST(a_batch_in_doubt_is_saved_once)
{
	const enum proxy_cut cut = _i % 2 ? PROXY_CUTS_ANSWER : PROXY_CUTS_REQUEST;
	const unsigned int times = 1 + (unsigned int)_i / 2;
	struct transaction entry = {.player_id = "aaaaaaaaaaaaaaaaaaaa", .transaction_id = 1};

	pg_server_schema(&options);
	options.servers[0] = pg_proxy_start(pg_server_directory());
	open_again();
	ws_init(&ws);
	pg_proxy_cut(cut, times);
	ws_append(&ws, RECORD_TRANSACTION, &entry);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ck_assert_uint_ge(pg_store_doubts(store), 1);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM \"transaction\""), 1);
	/* The store goes on: its turn is that of the cell. */
	save_player("alice", 5);
	pg_proxy_cut(cut, times);
	ck_assert_int_eq(load_player("alice")->balance, 5);
	close_kind();
	pg_proxy_stop();
}
END_TEST

static bool ignore_row(void *context, struct bytes key, const void *row)
{
	(void)context;
	(void)key;
	(void)row;
	return true;
}

static void open_is_refused(const char *expected)
{
	struct store *opened = NULL;
	char why[512] = "";

	ck_assert_int_ne(pg_store_open(&options, &opened, why, sizeof(why)), STATUS_OK);
	ck_assert_msg(strstr(why, expected) != NULL, "%s", why);
}

START_TEST(wrong_settings_are_refused)
{
	open_kind(0);
	options.durability = PG_QUORUM;
	open_is_refused("synchronous_standby_names is empty");
	options.durability = PG_LOCAL;
	options.installation = "another";
	open_is_refused("belong to installation");
	options.installation = NULL;
	pg_server_run("UPDATE cell SET schema = schema + 1");
	open_is_refused("the tables have schema");
	pg_server_run("UPDATE cell SET schema = schema - 1");
	options.patience_ms = 300;
	options.servers[0] = "host=/nonexistent dbname=postgres";
	open_is_refused("no server of the store takes writes");
	options.servers[0] = pg_server_conninfo();
	close_kind();
}
END_TEST

/* Once another store has claimed, nothing that this one read may leave it. */
START_TEST(a_replaced_writer_vouches_for_nothing)
{
	const struct store_range players = {.record = RECORD_PLAYER};
	struct store *next;
	char why[512] = "";

	open_kind(0);
	ck_assert_uint_gt(store->epoch, 0);
	save_player("alice", 5);
	ck_assert_int_eq(store->vouch(store, 0), STATUS_OK);
	ck_assert_msg(!pg_store_open(&options, &next, why, sizeof(why)), "%s", why);
	ck_assert_uint_eq(next->epoch, store->epoch + 1);
	/* Within the lease nothing is asked; the next one waits for longer than that. */
	store->read_lease_ms = 60000;
	ck_assert_int_eq(store->vouch(store, store->read_lease_ms), STATUS_OK);
	ck_assert_int_eq(store->scan(store, &players, ignore_row, NULL), STATUS_OK);
	ck_assert(!store->fenced);
	store->read_lease_ms = 0;
	store->vouched_ms = 0;
	ck_assert_int_eq(store->scan(store, &players, ignore_row, NULL), STATUS_IO);
	ck_assert(store->fenced);
	ck_assert_int_eq(next->vouch(next, -1), STATUS_OK);
	next->close(next);
	close_kind();
}
END_TEST

/*
 * A beat whose outcome stays unknown may still be committed, and the next batch would have its turn. So the store
 * saves and reads nothing any more, though the server is back.
 */
START_TEST(a_lost_beat_ends_the_store)
{
	const struct store_range players = {.record = RECORD_PLAYER};
	struct transaction entry = {.player_id = "aaaaaaaaaaaaaaaaaaaa", .transaction_id = 1};

	pg_server_schema(&options);
	options.servers[0] = pg_proxy_start(pg_server_directory());
	open_again();
	ws_init(&ws);
	save_player("alice", 5);
	store->vouched_ms = 0;
	options.patience_ms = 300;
	pg_proxy_cut(PROXY_CUTS_REQUEST, 1000000);
	ck_assert_int_eq(store->vouch(store, 0), STATUS_IO);
	pg_proxy_cut(PROXY_CUTS_REQUEST, 0);
	ck_assert(!store->fenced && store->lost);
	ws_append(&ws, RECORD_TRANSACTION, &entry);
	ck_assert_int_eq(store->save(store, &ws), SAVE_LOST);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM \"transaction\""), 0);
	ck_assert_int_eq(store->scan(store, &players, ignore_row, NULL), STATUS_IO);
	ck_assert_int_eq(store->vouch(store, 0), STATUS_IO);
	close_kind();
	pg_proxy_stop();
}
END_TEST

/* Of several candidates one wins; a store that is closed leaves the cell to the next one. */
START_TEST(a_claim_names_what_it_saw)
{
	struct store_claim claim = {.member = "b", .address = "127.0.0.1:1", .run = 7};
	struct store_watch *watch;
	struct store_member members[STORE_MEMBERS_MAX];
	struct store_cell cell;
	unsigned int count;
	char why[512] = "";

	open_kind(0);
	watch = watch_new(&options);
	ck_assert_ptr_nonnull(watch);
	ck_assert_msg(!watch->look(watch, &cell, why, sizeof(why)), "%s", why);
	ck_assert_str_ne(cell.holder, "");
	claim.looked = true;
	claim.epoch = cell.epoch;
	claim.turn = cell.turn;
	save_player("alice", 5);
	options.claim = &claim;
	open_is_refused("another ledger serves the data");
	claim.turn++;
	pg_server_run("UPDATE cell SET wall_ms = 1234");
	store->close(store);
	open_again();
	ck_assert_int_eq(store->wall_ms, 1234);
	ck_assert_int_eq(watch->look(watch, &cell, why, sizeof(why)), STATUS_OK);
	ck_assert_str_eq(cell.holder, "b");
	ck_assert_str_eq(cell.address, "127.0.0.1:1");
	ck_assert_int_eq(cell.run, 7);
	ck_assert_int_eq(watch->note(watch, &claim), STATUS_OK);
	ck_assert_int_eq(watch->members(watch, members, &count), STATUS_OK);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(members[0].name, "b");
	store->close(store);
	ck_assert_int_eq(watch->look(watch, &cell, why, sizeof(why)), STATUS_OK);
	ck_assert_str_eq(cell.holder, "");
	watch->close(watch);
	options.claim = NULL;
	open_again();
	close_kind();
}
END_TEST

START_TEST(tables_are_made_only_when_asked)
{
	pg_server_schema(&options);
	options.create = false;
	open_is_refused("there are no tables");
	pg_server_drop();
}
END_TEST

/* Leaves the data as schema 3 had them, without the tables of later schemas. */
static void make_schema_3(void)
{
	const struct transaction bet = {.transaction_id = 9,
		.player_id = "alice",
		.kind = ENTRY_BET,
		.game_id = "game",
		.bet_number = 1};
	static const enum callback_state states[] = {CALLBACK_DELIVERED, CALLBACK_PARKED,
		CALLBACK_HELD};
	struct callback callback = {.casino_id = "demo"};

	for (uint64_t i = 0; i < 3; i++) {
		callback.event = i + 1;
		callback.state = states[i];
		ws_append(&ws, RECORD_CALLBACK, &callback);
	}
	ws_append(&ws, RECORD_TRANSACTION, &bet);
	ck_assert_int_eq(store->save(store, &ws), SAVE_OK);
	ws_reset(&ws);
	store->close(store);
	pg_server_run("DROP TABLE aside");
	pg_server_run("DROP TABLE game_player, player_bet, dealer_move");
	pg_server_run("UPDATE cell SET schema = 3, wall_ms = 1234");
}

/* The first ledger of this version makes the table of callbacks that are parked or held, and fills it. */
START_TEST(data_of_an_older_schema_is_raised)
{
	open_kind(0);
	make_schema_3();
	open_again();
	/* The time of the books does not run back. */
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM cell WHERE schema = 6 AND wall_ms = 1234"),
		1);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM aside"), 2);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM aside WHERE event = 2 AND NOT held"), 1);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM aside WHERE event = 3 AND held"), 1);
	ck_assert_int_eq(
		pg_server_run(
			"SELECT 1 FROM game_player WHERE game_id = 'game' AND transaction_id = 9"),
		1);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM game_player WHERE transaction_id = 9"), 1);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM player_bet WHERE bet_number = 1"), 1);
	save_player("alice", 5);
	store->close(store);
	/* A raise that was interrupted, after which the older version delivered the callback 2 and placed a bet. */
	pg_server_run("UPDATE cell SET schema = 3");
	pg_server_run("UPDATE callback SET state = 2 WHERE event = 2");
	pg_server_run("UPDATE transaction SET transaction_id = 10, game_id = 'next'");
	open_again();
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM aside"), 1);
	ck_assert_int_eq(pg_server_run(
				 "SELECT 1 FROM game_player WHERE game_id IN ('game', 'next')"),
		2);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM player_bet"), 2);
	ck_assert_int_eq(load_player("alice")->balance, 5);
	close_kind();
}
END_TEST

/* A ledger whose role may make no table says what the superuser does, and goes on once that is done. */
START_TEST(tables_of_a_superuser_are_raised_by_one)
{
	char limited[512];
	struct buffer sql;

	open_kind(0);
	make_schema_3();
	pg_server_run(
		"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'limited') THEN "
		"CREATE ROLE limited LOGIN; END IF; END $$");
	pg_server_run(
		"DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO limited', current_schema()); "
		"EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO limited', "
		"current_schema()); END $$");
	snprintf(limited, sizeof(limited), "%s user=limited", pg_server_conninfo());
	options.servers[0] = limited;
	open_is_refused("creditbridgectl schema --sql");
	buffer_init(&sql, 65536);
	ck_assert(sql_create_newer(&sql, 3) && buffer_append(&sql, "", 1));
	pg_server_run((const char *)sql.data);
	buffer_free(&sql);
	pg_server_run(
		"GRANT SELECT, INSERT, UPDATE, DELETE ON aside, game_player, player_bet, dealer_move TO limited");
	open_again();
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM aside"), 2);
	options.servers[0] = pg_server_conninfo();
	close_kind();
}
END_TEST

/* A ledger that was replaced during its raise empties no table of the one that serves. */
START_TEST(a_replaced_ledger_empties_nothing)
{
	struct cell cell = {.epoch = 1, .schema = 3};
	struct pg_connection connection;

	open_kind(0);
	store->close(store);
	open_again();
	ck_assert_uint_eq(store->epoch, 2);
	pg_server_run("INSERT INTO aside VALUES ('demo', 1, false)");
	connection = (struct pg_connection){.options = &options};
	ck_assert_int_eq(connection_open(&connection, clock_boot_ms() + 10000), STATUS_OK);
	ck_assert_int_eq(cell_empty_newer(&connection, &cell), STATUS_IO);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM aside"), 1);
	cell.epoch = 2;
	ck_assert_int_eq(cell_empty_newer(&connection, &cell), STATUS_OK);
	ck_assert_int_eq(pg_server_run("SELECT 1 FROM aside"), 0);
	connection_close(&connection);
	close_kind();
}
END_TEST

static Suite *pg_suite(void)
{
	Suite *suite = suite_create("postgresql");
	TCase *tests = tcase_create("postgresql");

	suite_add_tcase(suite, every_store_cases(1));
	tcase_add_loop_test(tests, every_column_comes_back, 0, RECORD_COUNT);
	tcase_add_test(tests, a_replaced_writer_saves_nothing);
	tcase_add_test(tests, a_broken_connection_is_made_again);
	tcase_add_loop_test(tests, a_batch_in_doubt_is_saved_once, 0, 8);
	tcase_add_test(tests, wrong_settings_are_refused);
	tcase_add_test(tests, tables_are_made_only_when_asked);
	tcase_add_test(tests, a_replaced_writer_vouches_for_nothing);
	tcase_add_test(tests, a_lost_beat_ends_the_store);
	tcase_add_test(tests, a_claim_names_what_it_saw);
	tcase_add_test(tests, data_of_an_older_schema_is_raised);
	tcase_add_test(tests, tables_of_a_superuser_are_raised_by_one);
	tcase_add_test(tests, a_replaced_ledger_empties_nothing);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	int code;

	if (!pg_server_start())
		return 77;
	code = tap_main((Suite *(*const[])(void)){pg_suite, pg_proof_suite, NULL});
	pg_server_stop();
	return code;
}

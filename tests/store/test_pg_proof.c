/*
 * Tests when the store on PostgreSQL serves nothing: no standby shows what it wrote, or the servers have
 * less than this host has served.
 */
#include "base/clock.h"
#include "every_store.h"
#include "pg_server.h"
#include "store/pg/pg.h"
#include "suites.h"
#include "tap.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPT    "/tests/store/pg_copies.sh"
#define READY_S   30
#define PAUSE_US  20000
#define SHORT_MS  1500
#define PLENTY_MS 20000

static struct pg_options options;

/* ---- copies of the server */

struct copy {
	char directory[64];
	char conninfo[128];
	pid_t pid;
};

static void copy_start(struct copy *copy, const char *kind)
{
	const char *source = getenv("CB_SRCDIR"), *temporary = getenv("TMPDIR");
	char script[512];

	snprintf(copy->directory, sizeof(copy->directory), "%s/creditbridge-pg.XXXXXX",
		temporary ? temporary : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(copy->directory));
	snprintf(copy->conninfo, sizeof(copy->conninfo),
		"host=%s dbname=postgres user=creditbridge", copy->directory);
	snprintf(script, sizeof(script), "%s%s", source ? source : SRCDIR, SCRIPT);
	copy->pid = fork();
	if (copy->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execl(script, script, pg_server_directory(), copy->directory, kind, (char *)NULL);
		_exit(127);
	}
}

static void copy_await(const struct copy *copy)
{
	for (int i = 0; i < READY_S * 1000000 / PAUSE_US; i++) {
		if (PQping(copy->conninfo) == PQPING_OK)
			return;
		usleep(PAUSE_US);
	}
	ck_abort_msg("no standby in %s", copy->directory);
}

static void copy_stop(const struct copy *copy)
{
	char command[128];

	kill(copy->pid, SIGINT);
	waitpid(copy->pid, NULL, 0);
	snprintf(command, sizeof(command), "rm -rf %s", copy->directory);
	ck_assert_int_eq(system(command), 0);
}

static void await_rows(const char *sql)
{
	for (int i = 0; i < READY_S * 1000000 / PAUSE_US; i++) {
		if (pg_server_run(sql) > 0)
			return;
		usleep(PAUSE_US);
	}
	ck_abort_msg("no row: %s", sql);
}

static enum status try_open(char *why, size_t why_size)
{
	why[0] = '\0';
	return pg_store_open(&options, &store, why, why_size);
}

static void open_now(void)
{
	char why[512];

	ck_assert_msg(try_open(why, sizeof(why)) == STATUS_OK, "%s", why);
}

/* ---- the proof */

/*
 * Each commit is acknowledged by the archive. A standby that shows nothing of them proves nothing; as soon
 * as one follows, the store opens, saves, and goes on after a lost connection.
 */
START_TEST(what_no_standby_shows_is_not_served)
{
	struct copy archive, alone, follows;
	char why[512];

	pg_server_schema(&options);
	open_now();
	store->close(store);
	copy_start(&archive, "archive");
	copy_start(&alone, "alone");
	copy_await(&alone);
	await_rows("SELECT 1 FROM pg_stat_replication WHERE application_name = 'archive'");
	pg_server_run("ALTER SYSTEM SET synchronous_standby_names = 'archive'");
	pg_server_run("SELECT pg_reload_conf()");
	await_rows("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");

	options.durability = PG_QUORUM;
	ck_assert_int_eq(try_open(why, sizeof(why)), STATUS_CONFIG);
	ck_assert_msg(strstr(why, "name the standbys as well") != NULL, "%s", why);
	options.servers[1] = alone.conninfo;
	options.server_count = 2;
	options.patience_ms = SHORT_MS;
	/* While the disk is slow, the archive does not even acknowledge the claim in that time. */
	for (int tries = 0; tries < 20; tries++) {
		ck_assert_int_eq(try_open(why, sizeof(why)), STATUS_IO);
		if (!strstr(why, "cannot claim the cell"))
			break;
	}
	ck_assert_msg(strstr(why, "no standby of postgresql_hosts shows barrier") != NULL, "%s",
		why);

	copy_start(&follows, "follow");
	copy_await(&follows);
	options.servers[2] = follows.conninfo;
	options.server_count = 3;
	options.patience_ms = PLENTY_MS;
	open_now();
	ws_init(&ws);
	save_player("alice", 1);
	pg_server_run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
		      "pg_backend_pid() AND backend_type = 'client backend'");
	save_player("alice", 2);
	ck_assert_int_eq(load_player("alice")->balance, 2);

	/* The same with a standby that stopped to follow. */
	copy_stop(&follows);
	options.patience_ms = SHORT_MS;
	pg_server_run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
		      "pg_backend_pid() AND backend_type = 'client backend'");
	ws_reset(&ws);
	{
		struct player player = make_player("alice", 3);

		ws_want(&ws, RECORD_PLAYER, &player);
		ck_assert_int_eq(store->load(store, &ws), STATUS_IO);
	}
	pg_server_run("ALTER SYSTEM RESET synchronous_standby_names");
	pg_server_run("SELECT pg_reload_conf()");
	copy_stop(&archive);
	copy_stop(&alone);
	ws_free(&ws);
	store->close(store);
	pg_server_drop();
}
END_TEST

/* ---- without a quorum */

static void name_standby(const char *name)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "ALTER SYSTEM SET synchronous_standby_names = '%s'", name);
	pg_server_run(sql);
	pg_server_run("SELECT pg_reload_conf()");
	snprintf(sql, sizeof(sql),
		"SELECT 1 WHERE current_setting('synchronous_standby_names') = '%s'", name);
	await_rows(sql);
	if (name[0])
		pg_server_await_waiting();
}

static enum save_result save_balance(money_t balance)
{
	struct player player = make_player("alice", balance);

	ws_reset(&ws);
	ws_want(&ws, RECORD_PLAYER, &player);
	ck_assert_int_eq(store->load(store, &ws), STATUS_OK);
	ws_put(&ws, RECORD_PLAYER, &player);
	return store->save(store, &ws);
}

/*
 * Commits wait for a standby that is not there. The store ends after its patience, or at once when it is to
 * end, and leaves no more sessions than wait anyway. The batch was not answered; the next store reads it
 * whole.
 */
START_TEST(without_a_quorum_sessions_do_not_pile_up)
{
	const bool stops = _i > 0;
	const int64_t begun_ms = clock_boot_ms();
	int stop[2];

	ck_assert_int_eq(pipe(stop), 0);
	pg_server_schema(&options);
	open_now();
	ws_init(&ws);
	save_player("alice", 1);
	name_standby("absent");
	/* Of the store that is open, too. */
	options.trip_ms = 400;
	options.patience_ms = stops ? 600000 : 5000;
	options.stop_fd = stops ? stop[0] : -1;
	if (stops)
		ck_assert_int_eq(write(stop[1], "x", 1), 1);
	ck_assert_int_eq(save_balance(2), SAVE_LOST);
	ck_assert(stops ? clock_boot_ms() - begun_ms < 60000 : clock_boot_ms() - begun_ms >= 5000);
	await_rows("SELECT 1 WHERE (SELECT count(*) FROM pg_stat_activity WHERE "
		   "backend_type = 'client backend' AND pid <> pg_backend_pid()) <= 2");
	store->close(store);

	name_standby("");
	options.trip_ms = 5000;
	options.patience_ms = PLENTY_MS;
	options.stop_fd = -1;
	open_now();
	ck_assert_int_eq(load_player("alice")->balance, 2);
	ws_free(&ws);
	store->close(store);
	pg_server_drop();
}
END_TEST

/* ---- what was served */

START_TEST(servers_with_less_than_was_served_are_refused)
{
	char directory[] = "/tmp/creditbridge-served.XXXXXX", command[128], why[512];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	pg_server_schema(&options);
	options.state_directory = directory;
	open_now();
	ws_init(&ws);
	save_player("alice", 1);
	save_player("alice", 2);
	store->close(store);

	/* As after a restore to the batch before. */
	pg_server_run("UPDATE cell SET turn = turn - 1");
	ck_assert_int_eq(try_open(why, sizeof(why)), STATUS_CORRUPT);
	ck_assert_msg(strstr(why, "the servers lack acknowledged batches") != NULL, "%s", why);
	ck_assert_ptr_nonnull(strstr(why, "creditbridgectl adopt"));
	pg_server_run("UPDATE cell SET turn = turn + 1, epoch = epoch - 1");
	ck_assert_int_eq(try_open(why, sizeof(why)), STATUS_CORRUPT);

	options.accept_older = true;
	open_now();
	store->close(store);
	options.accept_older = false;
	pg_server_run(
		"UPDATE cell SET turn = turn + 5, epoch = epoch + 1"); /* another host served */
	open_now();
	save_player("alice", 3);
	ws_free(&ws);
	store->close(store);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
	pg_server_drop();
}
END_TEST

Suite *pg_proof_suite(void)
{
	Suite *suite = suite_create("postgresql proof");
	TCase *tests = tcase_create("postgresql proof");

	tcase_add_test(tests, servers_with_less_than_was_served_are_refused);
	tcase_add_test(tests, what_no_standby_shows_is_not_served);
	tcase_add_loop_test(tests, without_a_quorum_sessions_do_not_pile_up, 0, 2);
	tcase_set_timeout(tests, 120);
	suite_add_tcase(suite, tests);
	return suite;
}

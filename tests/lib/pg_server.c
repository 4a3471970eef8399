#include "pg_server.h"

#include "scratch.h"

#include <check.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_TRIES 600 /* of 50 ms */
#define SCRIPT      "/tests/lib/pg_server.sh"

static char directory[64];
static char conninfo[192];
static char schema[64];
static pid_t server;

const char *pg_server_directory(void)
{
	return directory;
}

const char *pg_server_conninfo(void)
{
	return conninfo;
}

static void run_server(void)
{
	const char *source = getenv("CB_SRCDIR");
	char script[512];

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(script, sizeof(script), "%s%s", source ? source : SRCDIR, SCRIPT);
	execl(script, script, directory, (char *)NULL);
	_exit(127);
}

bool pg_server_start(void)
{
	if (access("/usr/lib/postgresql", X_OK) != 0) {
		printf("# there is no PostgreSQL server\n");
		return false;
	}
	scratch_make(directory);
	snprintf(conninfo, sizeof(conninfo),
		"host=%s dbname=postgres user=creditbridge "
		"options='-c client_min_messages=warning'",
		directory);
	fflush(stdout);
	server = fork();
	if (server == 0)
		run_server();
	for (int i = 0; i < START_TRIES; i++) {
		if (PQping(conninfo) == PQPING_OK)
			return true;
		if (waitpid(server, NULL, WNOHANG) == server)
			break;
		usleep(50000);
	}
	printf("# PostgreSQL did not start: see %s\n", directory);
	server = 0;
	return false;
}

void pg_server_stop(void)
{
	char command[128];

	if (server > 0) {
		kill(server, SIGINT); /* fast shutdown: it ends the sessions */
		waitpid(server, NULL, 0);
		snprintf(command, sizeof(command), "rm -rf %s", directory);
		if (system(command) != 0)
			fprintf(stderr, "cannot remove %s\n", directory);
	}
}

int pg_server_run(const char *sql)
{
	PGconn *conn = PQconnectdb(conninfo);
	PGresult *result;
	char path[128];
	int rows;

	ck_assert_msg(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
	snprintf(path, sizeof(path), "SET search_path = %s", schema);
	PQclear(PQexec(conn, path));
	result = PQexec(conn, sql);
	ck_assert_msg(PQresultStatus(result) == PGRES_COMMAND_OK ||
			PQresultStatus(result) == PGRES_TUPLES_OK,
		"%s: %s", sql, PQerrorMessage(conn));
	rows = PQresultStatus(result) == PGRES_TUPLES_OK ? PQntuples(result)
							 : atoi(PQcmdTuples(result));
	PQclear(result);
	PQfinish(conn);
	return rows;
}

void pg_server_await_waiting(void)
{
	PGconn *conn = PQconnectdb(conninfo);
	PGcancel *cancel = PQgetCancel(conn);
	PGresult *result;
	bool waits = false;
	char sql[128], why[256];

	ck_assert_msg(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
	snprintf(sql, sizeof(sql),
		"SELECT 1 FROM pg_stat_activity WHERE pid = %d AND wait_event = 'SyncRep'",
		PQbackendPID(conn));
	for (int tries = 0; tries < 1000 && !waits; tries++) {
		ck_assert_int_eq(PQsendQuery(conn,
					 "SELECT pg_logical_emit_message(true, 'probe', '')"),
			1);
		do {
			usleep(10000);
			waits = pg_server_run(sql) > 0;
			ck_assert_int_eq(PQconsumeInput(conn), 1);
		} while (!waits && PQisBusy(conn));
		if (waits)
			ck_assert_msg(PQcancel(cancel, why, sizeof(why)) == 1, "%s", why);
		while ((result = PQgetResult(conn)))
			PQclear(result);
	}
	ck_assert(waits);
	PQfreeCancel(cancel);
	PQfinish(conn);
}

void pg_server_schema(struct pg_options *options)
{
	char sql[128];

	snprintf(schema, sizeof(schema), "case_%d", (int)getpid());
	snprintf(sql, sizeof(sql), "CREATE SCHEMA %s", schema);
	pg_server_run(sql);
	*options = (struct pg_options){.servers = {conninfo},
		.server_count = 1,
		.schema = schema,
		.durability = PG_LOCAL,
		.trip_ms = 5000,
		.patience_ms = 20000,
		.stop_fd = -1,
		.create = true};
}

void pg_server_drop(void)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "DROP SCHEMA %s CASCADE", schema);
	pg_server_run(sql);
}

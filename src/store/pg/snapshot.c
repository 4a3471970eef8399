#include "store/pg/snapshot.h"

#include "base/clock.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_MS 2000
#define REPLAY_MS  5000 /* how long a standby may take to replay what was committed */
#define PAUSE_MS   50

/* Of the snapshot, which lives as long as the process. */
static struct pg_options own;

static bool query_number(struct pg_connection *connection, const char *sql, int64_t *number)
{
	struct pg_params none;
	PGresult *result;
	bool found;

	params_init(&none);
	if (connection_query(connection, sql, &none, &result) != TRIP_DONE)
		return false;
	found = PQntuples(result) == 1 && !PQgetisnull(result, 0, 0);
	if (found)
		*number = result_number(result, 0, 0);
	PQclear(result);
	return found;
}

static bool begin_reading(struct pg_connection *connection)
{
	return connection_run(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY") ==
		TRIP_DONE;
}

/* Waits until a standby has replayed the log up to @position. */
static bool has_replayed(struct pg_connection *connection, int64_t position)
{
	static const char sql[] = "SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint";
	const int64_t deadline_ms = clock_boot_ms() + REPLAY_MS;
	int64_t replayed = -1;

	while (query_number(connection, sql, &replayed) && replayed < position) {
		if (clock_boot_ms() >= deadline_ms)
			return false;
		clock_sleep_ms(PAUSE_MS);
	}
	return replayed >= position;
}

/* Returns false if this server is no standby, or lacks something that was committed. */
static bool open_standby(struct pg_connection *connection, const char *server, int64_t position)
{
	own.servers[0] = server;
	own.server_count = 1;
	if (connection_open(connection, clock_boot_ms() + CONNECT_MS) != STATUS_OK)
		return false;
	if (connection_is_standby(connection->conn) && has_replayed(connection, position) &&
		begin_reading(connection))
		return true;
	connection_close(connection);
	return false;
}

static enum status find_server(struct pg_connection *connection, const struct pg_options *options,
	char *why, size_t why_size)
{
	int64_t position = 0;
	enum status status = connection_open(connection, clock_boot_ms() + options->patience_ms);

	if (status ||
		!query_number(connection,
			"SELECT (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint", &position)) {
		snprintf(why, why_size, "no server of the store takes writes: %s", connection->why);
		return STATUS_IO;
	}
	connection_close(connection);
	own.purpose = PG_READS;
	for (unsigned int i = 0; i < options->server_count; i++) {
		if (open_standby(connection, options->servers[i], position))
			return STATUS_OK;
	}
	own = *options;
	own.trip_ms = options->patience_ms;
	if (!connection_open(connection, clock_boot_ms() + options->patience_ms) &&
		begin_reading(connection))
		return STATUS_OK;
	snprintf(why, why_size, "cannot begin to read: %s", connection->why);
	return STATUS_IO;
}

enum status snapshot_open(struct pg_connection *connection, const struct pg_options *options,
	char *why, size_t why_size)
{
	enum status status;
	struct store_cell cell = {.schema = 0};

	own = *options;
	own.trip_ms = options->patience_ms;
	connection->options = &own;
	status = find_server(connection, options, why, why_size);
	if (!status)
		status = cell_read(connection, &cell, why, why_size);
	if (!status && cell.schema < STORE_SCHEMA) {
		snprintf(why, why_size,
			"the tables have schema %" PRId64
			", and this program uses schema %d: start the ledger of this version first",
			cell.schema, STORE_SCHEMA);
		status = STATUS_CONFIG;
	}
	return status == STATUS_NOT_FOUND ? STATUS_CONFIG : status;
}

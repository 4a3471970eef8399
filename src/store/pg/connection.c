#include "store/pg/connection.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "store/pg/sql.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How long one attempt to connect to a server may take, and the pause before the next one. A single server has more
 * time: giving up early would find no other one.
 */
#define CONNECT_MS     700
#define CONNECT_ONE_MS 3000
#define PAUSE_MS       50
#define PARAMS_MAX     (256u * 1024 * 1024)
#define SETTING_COUNT  3
/*
 * The part of a trip's time for which a session may wait for the lock of a row. Without a quorum
 * one session waits for the standbys and keeps the lock of the row `cell`. The server ends the
 * sessions that wait for this lock, so that they do not pile up while this store connects again and
 * again.
 */
#define LOCK_PERCENT 75
/*
 * Generic plans: a plan for each call would take longer than the statement. No statement has a timeout, for
 * a cancelled wait for the standbys would leave a commit that no standby has.
 */
#define SESSION                                                                                    \
	"-c plan_cache_mode=force_generic_plan -c jit=off -c enable_hashjoin=off "                 \
	"-c enable_mergejoin=off -c synchronous_commit=on -c statement_timeout=0 "                 \
	"-c client_connection_check_interval=0 "                                                   \
	"-c idle_in_transaction_session_timeout=5s"
#define SESSION_READS                                                                              \
	" -c idle_in_transaction_session_timeout=0 -c default_transaction_read_only=on "           \
	"-c default_transaction_isolation=repeatable\\ read"

struct opening {
	PGconn *conn;
	PostgresPollingStatusType wants;
	int64_t begun_ms; /* of the attempt; of the pause if there is no connection */
};

/* ---- parameters */

void params_init(struct pg_params *params)
{
	memset(params, 0, sizeof(*params));
	buffer_init(&params->values, PARAMS_MAX);
}

void params_free(struct pg_params *params)
{
	buffer_free(&params->values);
}

void params_reset(struct pg_params *params)
{
	params->count = 0;
	buffer_reset(&params->values);
}

bool params_end(struct pg_params *params, uint32_t type, size_t begin)
{
	if (params->values.failed || params->count == STATEMENT_PARAMS_MAX)
		return false;
	params->types[params->count] = type;
	params->offsets[params->count] = begin;
	params->lengths[params->count] = (int)(params->values.len - begin);
	params->count++;
	return true;
}

bool params_add_number(struct pg_params *params, int64_t number)
{
	const size_t begin = params->values.len;
	uint8_t bytes[8];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)((uint64_t)number >> (8 * (7 - i)));
	return buffer_append(&params->values, bytes, sizeof(bytes)) &&
		params_end(params, 20, begin);
}

bool params_add_text(struct pg_params *params, const char *text)
{
	const size_t begin = params->values.len;

	return buffer_append_str(&params->values, text) && params_end(params, 25, begin);
}

/* ---- failures */

/* The server's text may quote a row, so only its code is kept. */
static void note_server_error(struct pg_connection *connection, const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);

	snprintf(connection->sqlstate, sizeof(connection->sqlstate), "%s", state ? state : "");
	snprintf(connection->why, sizeof(connection->why), "SQLSTATE %s%s%s",
		state ? state : "unknown", constraint ? " of " : "", constraint ? constraint : "");
}

static void note_broken(struct pg_connection *connection, const char *what)
{
	connection->sqlstate[0] = '\0';
	snprintf(connection->why, sizeof(connection->why), "%s", what);
}

/* libpq's message about a failed attempt to connect; its lines become one. */
static void note_connect_error(struct pg_connection *connection, PGconn *conn)
{
	snprintf(connection->why, sizeof(connection->why), "%s", PQerrorMessage(conn));
	for (char *at = connection->why; *at; at++) {
		if (*at == '\n')
			*at = at[1] ? ' ' : '\0';
	}
}

static void take_notice(void *context, const PGresult *result)
{
	struct pg_connection *connection = context;
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (!state || strncmp(state, "01", 2) != 0)
		return;
	connection->warned = true;
	log_line(LOG_LEVEL_WARNING, "store_warning", "sqlstate=%s", state);
}

/* ---- connecting */

PGconn *connection_start(const struct pg_options *options, unsigned int server)
{
	static const char *const sessions[] =
		{[PG_WRITES] = SESSION, [PG_READS] = SESSION SESSION_READS, [PG_LOOKS] = ""};
	const uint32_t lock_ms =
		options->purpose == PG_WRITES ? options->trip_ms * LOCK_PERCENT / 100 : 0;
	char session[sizeof(SESSION SESSION_READS) + 192];
	const char *names[SETTING_COUNT + 1] = {"dbname", "options", "client_encoding", NULL};
	const char *values[SETTING_COUNT + 1] = {options->servers[server], session, "UTF8", NULL};
	PGconn *conn;

	snprintf(session, sizeof(session), "%s -c lock_timeout=%" PRIu32 " -c search_path=%s",
		sessions[options->purpose], lock_ms,
		options->schema ? options->schema : "creditbridge");
	conn = PQconnectStartParams(names, values, 1);
	if (conn && PQstatus(conn) == CONNECTION_BAD)
		return conn;
	if (conn)
		PQsetnonblocking(conn, 1);
	return conn;
}

/* Returns whether the server will do. Standbys report at connect that they are. */
bool connection_is_standby(PGconn *conn)
{
	const char *standby = PQparameterStatus(conn, "in_hot_standby");

	return standby && strcmp(standby, "on") == 0;
}

static bool is_suitable(const struct pg_options *options, PGconn *conn)
{
	const char *standby = PQparameterStatus(conn, "in_hot_standby");
	const char *read_only = PQparameterStatus(conn, "default_transaction_read_only");

	if (options->purpose != PG_WRITES)
		return true;
	return standby && strcmp(standby, "off") == 0 && read_only && strcmp(read_only, "off") == 0;
}

static void end_opening(struct opening *attempt, int64_t now_ms)
{
	PQfinish(attempt->conn);
	*attempt = (struct opening){.begun_ms = now_ms};
}

/* Advances one attempt. Returns true if its connection can be used. */
static bool advance_opening(struct pg_connection *connection, struct opening *attempt,
	unsigned int server, int64_t now_ms, bool ready)
{
	if (!attempt->conn) {
		if (attempt->begun_ms && now_ms < attempt->begun_ms + PAUSE_MS)
			return false;
		*attempt = (struct opening){.conn = connection_start(connection->options, server),
			.wants = PGRES_POLLING_WRITING,
			.begun_ms = now_ms};
		if (!attempt->conn || PQstatus(attempt->conn) != CONNECTION_BAD)
			return false;
		note_connect_error(connection, attempt->conn);
		end_opening(attempt, now_ms);
		return false;
	}
	if (now_ms >= attempt->begun_ms +
			(connection->options->server_count > 1 ? CONNECT_MS : CONNECT_ONE_MS)) {
		note_broken(connection, "a server did not answer");
		end_opening(attempt, now_ms);
		return false;
	}
	if (!ready)
		return false;
	attempt->wants = PQconnectPoll(attempt->conn);
	if (attempt->wants == PGRES_POLLING_OK && is_suitable(connection->options, attempt->conn))
		return true;
	if (attempt->wants == PGRES_POLLING_OK)
		note_broken(connection, "no server takes writes: all that answer are standbys");
	else if (attempt->wants == PGRES_POLLING_FAILED)
		note_connect_error(connection, attempt->conn);
	else
		return false;
	end_opening(attempt, now_ms);
	return false;
}

/* Waits until an attempt can go on, the caller is to stop, or a pause is over. */
static bool wait_for_attempts(const struct pg_options *options, const struct opening *attempts,
	bool *ready)
{
	struct pollfd fds[PG_SERVERS_MAX + 1];

	for (unsigned int i = 0; i < options->server_count; i++) {
		fds[i].fd = attempts[i].conn ? PQsocket(attempts[i].conn) : -1;
		fds[i].events = attempts[i].wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
		fds[i].revents = 0;
	}
	fds[options->server_count] = (struct pollfd){.fd = options->stop_fd, .events = POLLIN};
	poll(fds, options->server_count + 1, PAUSE_MS);
	for (unsigned int i = 0; i < options->server_count; i++)
		ready[i] = fds[i].revents != 0;
	return options->stop_fd >= 0 && fds[options->server_count].revents;
}

static PGconn *connect_first(struct pg_connection *connection, int64_t deadline_ms)
{
	const struct pg_options *options = connection->options;
	struct opening attempts[PG_SERVERS_MAX] = {{NULL, 0, 0}};
	bool ready[PG_SERVERS_MAX] = {false};
	PGconn *found = NULL;

	while (!found && clock_boot_ms() < deadline_ms) {
		for (unsigned int i = 0; i < options->server_count && !found; i++) {
			if (!advance_opening(connection, &attempts[i], i, clock_boot_ms(),
				    ready[i]))
				continue;
			found = attempts[i].conn;
			attempts[i].conn = NULL;
		}
		if (!found && wait_for_attempts(options, attempts, ready)) {
			note_broken(connection, "the process is to end");
			break;
		}
	}
	for (unsigned int i = 0; i < options->server_count; i++)
		PQfinish(attempts[i].conn);
	return found;
}

enum status connection_open(struct pg_connection *connection, int64_t deadline_boot_ms)
{
	CHECK(connection->options->server_count <= PG_SERVERS_MAX);
	connection_close(connection);
	connection->conn = connect_first(connection, deadline_boot_ms);
	if (!connection->conn)
		return STATUS_IO;
	PQsetNoticeReceiver(connection->conn, take_notice, connection);
	return STATUS_OK;
}

bool connection_pause(const struct pg_options *options, uint32_t ms)
{
	struct pollfd stop = {.fd = options->stop_fd, .events = POLLIN};

	return poll(&stop, 1, (int)ms) > 0;
}

void connection_close(struct pg_connection *connection)
{
	PQfinish(connection->conn);
	connection->conn = NULL;
}

/* ---- round trips */

bool trip_begin(struct pg_connection *connection)
{
	connection->warned = false;
	if (connection->conn && PQenterPipelineMode(connection->conn))
		return true;
	note_broken(connection, "there is no connection");
	return false;
}

static void values_of(const struct pg_params *params, const char *values[STATEMENT_PARAMS_MAX],
	int formats[STATEMENT_PARAMS_MAX])
{
	static const char none[1] = "";

	for (unsigned int i = 0; i < params->count; i++) {
		values[i] = params->lengths[i]
			? (const char *)params->values.data + params->offsets[i]
			: none;
		formats[i] = 1;
	}
}

bool trip_add(struct pg_connection *connection, const char *name, const struct pg_params *params)
{
	const char *values[STATEMENT_PARAMS_MAX];
	int formats[STATEMENT_PARAMS_MAX];

	values_of(params, values, formats);
	return PQsendQueryPrepared(connection->conn, name, (int)params->count, values,
		params->lengths, formats, 1);
}

/* Waits until the connection can be read or written, or @deadline_ms. Returns false if not. */
static bool wait_for_server(struct pg_connection *connection, bool writing, int64_t deadline_ms)
{
	struct pollfd server = {.fd = PQsocket(connection->conn),
		.events = (short)(POLLIN | (writing ? POLLOUT : 0))};
	const int64_t left_ms = deadline_ms - clock_boot_ms();
	int count = left_ms > 0 ? poll(&server, 1, (int)left_ms) : 0;

	if (count < 0)
		return errno == EINTR;
	if (count == 0)
		note_broken(connection, "the server did not answer in time");
	return count > 0;
}

/* Sends what is queued and waits until a result can be taken without waiting. */
static bool await_result(struct pg_connection *connection, int64_t deadline_ms)
{
	for (;;) {
		const int flush = PQflush(connection->conn);

		if (flush < 0 || !PQconsumeInput(connection->conn)) {
			note_broken(connection, "the connection broke");
			return false;
		}
		if (!PQisBusy(connection->conn))
			return true;
		if (!wait_for_server(connection, flush > 0, deadline_ms))
			return false;
	}
}

/* SQLSTATEs after which the outcome is in doubt: the server ends, or it became a standby. */
static bool is_doubtful(const char *sqlstate)
{
	return !sqlstate[0] || strncmp(sqlstate, "08", 2) == 0 ||
		strncmp(sqlstate, "57P0", 4) == 0 || strcmp(sqlstate, "25006") == 0;
}

struct trip_taking {
	trip_result *take;
	void *context;
	unsigned int number;
	enum trip trip;
};

/* Takes one result. Returns true if it was the synchronisation: the trip is over. */
static bool take_one(struct pg_connection *connection, const PGresult *result,
	struct trip_taking *taking)
{
	switch (PQresultStatus(result)) {
	case PGRES_PIPELINE_SYNC:
		return true;
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
		if (taking->take && taking->trip == TRIP_DONE &&
			!taking->take(taking->context, taking->number, result)) {
			note_broken(connection, "the server's answer is not as it must be");
			taking->trip = TRIP_FAILED;
		}
		taking->number++;
		break;
	case PGRES_PIPELINE_ABORTED:
		break;
	default:
		if (taking->trip == TRIP_DONE) {
			note_server_error(connection, result);
			taking->trip = is_doubtful(connection->sqlstate) ? TRIP_DOUBT : TRIP_FAILED;
		}
	}
	return false;
}

static enum trip drop_connection(struct pg_connection *connection)
{
	connection_close(connection);
	return TRIP_DOUBT;
}

enum trip trip_end(struct pg_connection *connection, trip_result *take, void *context)
{
	struct trip_taking taking = {.take = take, .context = context, .trip = TRIP_DONE};
	const int64_t deadline_ms = clock_boot_ms() + connection->options->trip_ms;
	bool over = false;

	if (!PQpipelineSync(connection->conn)) {
		note_broken(connection, "the connection broke");
		return drop_connection(connection);
	}
	while (!over) {
		PGresult *result;

		if (!await_result(connection, deadline_ms))
			return drop_connection(connection);
		result = PQgetResult(connection->conn);
		if (!result && PQstatus(connection->conn) == CONNECTION_BAD) {
			note_broken(connection, "the connection broke");
			return drop_connection(connection);
		}
		if (result)
			over = take_one(connection, result, &taking);
		PQclear(result);
	}
	if (taking.trip == TRIP_DOUBT || !PQexitPipelineMode(connection->conn))
		return drop_connection(connection);
	if (taking.trip == TRIP_DONE && connection->warned) {
		note_broken(connection, "the server committed with a warning");
		return drop_connection(connection);
	}
	return taking.trip;
}

/* Takes the results of a statement that was sent outside a pipeline; keeps the first. */
static enum trip take_all(struct pg_connection *connection, PGresult **kept)
{
	const int64_t deadline_ms = clock_boot_ms() + connection->options->trip_ms;
	struct trip_taking taking = {.trip = TRIP_DONE};

	*kept = NULL;
	for (;;) {
		PGresult *result;

		if (!await_result(connection, deadline_ms)) {
			PQclear(*kept);
			*kept = NULL;
			return drop_connection(connection);
		}
		result = PQgetResult(connection->conn);
		if (!result)
			break;
		take_one(connection, result, &taking);
		if (*kept)
			PQclear(result);
		else
			*kept = result;
	}
	if (taking.trip == TRIP_DONE && connection->warned)
		taking.trip = TRIP_DOUBT;
	if (taking.trip != TRIP_DONE) {
		PQclear(*kept);
		*kept = NULL;
	}
	return taking.trip == TRIP_DOUBT ? drop_connection(connection) : taking.trip;
}

enum trip connection_query(struct pg_connection *connection, const char *sql,
	const struct pg_params *params, PGresult **result)
{
	const char *values[STATEMENT_PARAMS_MAX];
	int formats[STATEMENT_PARAMS_MAX];

	connection->warned = false;
	*result = NULL;
	values_of(params, values, formats);
	if (!connection->conn ||
		!PQsendQueryParams(connection->conn, sql, (int)params->count, params->types, values,
			params->lengths, formats, 1)) {
		note_broken(connection, "there is no connection");
		return drop_connection(connection);
	}
	return take_all(connection, result);
}

int64_t result_number(const PGresult *result, int row, int column)
{
	const uint8_t *value = (const uint8_t *)PQgetvalue(result, row, column);
	uint64_t number = 0;

	for (unsigned int i = 0; i < 8; i++)
		number = number << 8 | value[i];
	return (int64_t)number;
}

enum trip connection_run(struct pg_connection *connection, const char *sql)
{
	PGresult *result;
	enum trip trip;

	connection->warned = false;
	if (!connection->conn || !PQsendQuery(connection->conn, sql)) {
		note_broken(connection, "there is no connection");
		return drop_connection(connection);
	}
	trip = take_all(connection, &result);
	PQclear(result);
	return trip;
}

#include "store/pg/cell.h"

#include "base/clock.h"
#include "base/text.h"
#include "store/pg/sql.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREATE_MAX (1024 * 1024)
#define TURN_NAME  "turn"
/* The holder while a command of an operator has the data. */
#define COMMAND_HOLDER "command"

static enum status report_failure(const struct pg_connection *connection, const char *what,
	char *why, size_t why_size)
{
	snprintf(why, why_size, "%s: %s", what, connection->why);
	return STATUS_IO;
}

/* ---- the row */

static const char read_sql[] =
	"SELECT epoch, turn, run, schema, wall_ms, installation, state, holder, address "
	"FROM cell WHERE id = 1";
enum {
	ROW_EPOCH,
	ROW_TURN,
	ROW_RUN,
	ROW_SCHEMA,
	ROW_WALL,
	ROW_INSTALLATION,
	ROW_STATE,
	ROW_HOLDER,
	ROW_ADDRESS
};

/* Reads the row. Returns STATUS_NOT_FOUND if there are no tables. */
static enum status read_row(struct pg_connection *connection, PGresult **result, char *why,
	size_t why_size)
{
	struct pg_params none;

	params_init(&none);
	if (connection_query(connection, read_sql, &none, result) == TRIP_DONE)
		return STATUS_OK;
	if (strcmp(connection->sqlstate, SQLSTATE_NO_TABLE) != 0)
		return report_failure(connection, "cannot read the table cell", why, why_size);
	snprintf(why, why_size,
		"there are no tables: run creditbridgectl init, then start the ledger");
	return STATUS_NOT_FOUND;
}

static bool put_literal(struct pg_connection *connection, struct buffer *out, const char *text)
{
	char *literal = PQescapeLiteral(connection->conn, text, strlen(text));
	bool done = literal && buffer_append_str(out, literal);

	PQfreemem(literal);
	return done;
}

/* ---- tables of a newer version */

/*
 * Sets @missing to whether a table is missing that was added after @schema. CREATE TABLE IF NOT EXISTS needs the right to
 * make tables even where it makes none.
 */
static enum status look_for_tables(struct pg_connection *connection, int64_t schema, bool *missing)
{
	struct pg_params none;
	struct buffer sql;
	PGresult *result;
	enum status status = STATUS_NOMEM;

	params_init(&none);
	buffer_init(&sql, CREATE_MAX);
	buffer_append_str(&sql, "SELECT (");
	sql_count_newer(&sql, schema);
	if (buffer_append(&sql, ")::bigint", sizeof(")::bigint")))
		status = connection_query(connection, (const char *)sql.data, &none, &result) ==
				TRIP_DONE
			? STATUS_OK
			: STATUS_IO;
	buffer_free(&sql);
	if (status)
		return status;
	*missing = result_number(result, 0, 0) != 0;
	PQclear(result);
	return STATUS_OK;
}

enum status cell_make_newer_tables(struct pg_connection *connection, int64_t schema, char *why,
	size_t why_size)
{
	bool missing = false;
	struct buffer sql;
	enum status status;

	if (schema >= STORE_SCHEMA)
		return STATUS_OK;
	status = look_for_tables(connection, schema, &missing);
	if (status)
		return report_failure(connection, "cannot look for the tables", why, why_size);
	if (!missing)
		return STATUS_OK;
	buffer_init(&sql, CREATE_MAX);
	sql_create_newer(&sql, schema);
	if (!buffer_append(&sql, "", 1))
		status = STATUS_NOMEM;
	else if (connection_run(connection, (const char *)sql.data) != TRIP_DONE)
		status = STATUS_IO;
	buffer_free(&sql);
	if (!status)
		return STATUS_OK;
	if (strcmp(connection->sqlstate, SQLSTATE_NOT_ALLOWED) != 0)
		return report_failure(connection, "cannot make the tables of this version", why,
			why_size);
	snprintf(why, why_size,
		"this version has more tables, and the ledger's role may not make them: give what "
		"`creditbridgectl schema --sql` prints to psql once more, as a superuser, and start the "
		"ledger again");
	return STATUS_CONFIG;
}

/* ---- making the tables */

enum status cell_create(struct pg_connection *connection, char *why, size_t why_size)
{
	const char *installation = connection->options->installation;
	struct buffer sql;
	bool made = false; /* by a superuser (ddl.h): the tables are empty then */
	PGresult *result;
	enum trip trip;
	enum status status = read_row(connection, &result, why, why_size);

	if (!status) {
		made = PQntuples(result) == 0;
		PQclear(result);
		if (made)
			status =
				cell_make_newer_tables(connection, SQL_FIRST_SCHEMA, why, why_size);
	}
	if (!status && !made && connection->options->fill) {
		snprintf(why, why_size,
			"the schema %s has tables already: name an empty one in postgresql_schema, or "
			"drop this one and make it again",
			connection->options->schema);
		return STATUS_CONFIG;
	}
	if (status != STATUS_NOT_FOUND && (status || !made))
		return status;
	buffer_init(&sql, CREATE_MAX);
	if (!made) {
		sql_create(&sql);
		sql_create_newer(&sql, SQL_FIRST_SCHEMA);
	}
	buffer_append_str(&sql, "INSERT INTO cell VALUES (1, ");
	put_literal(connection, &sql, installation ? installation : "");
	buffer_printf(&sql, ", %d, '%s', 0, 0, 0, 0, '', '', 0);", STORE_SCHEMA,
		connection->options->fill ? "filling" : "serving");
	if (!buffer_append(&sql, "", 1)) {
		buffer_free(&sql);
		return STATUS_NOMEM;
	}
	trip = connection_run(connection, (const char *)sql.data);
	buffer_free(&sql);
	return trip == TRIP_DONE
		? STATUS_OK
		: report_failure(connection,
			  "cannot make the tables (the schema must exist, and its owner must be "
			  "this user)",
			  why, why_size);
}

/* ---- settings of the server */

/* A setting that must not have a value, and the remedy. */
static const struct bad_setting {
	const char *name;
	const char *value;
	bool quorum; /* only where a commit waits for standbys */
	const char *why;
} bad_settings[] = {
	{"fsync", "off", false,
		"fsync is off, so a power cut loses commits: set fsync = on in postgresql.conf"},
	{"full_page_writes", "off", false,
		"full_page_writes is off, so a power cut can damage pages: set it to on"},
	{"synchronous_commit", "off", false,
		"synchronous_commit is off, so a crash loses commits: set it to on"},
	{"synchronous_commit", "local", true,
		"synchronous_commit is local, so the loss of this server loses commits: set it to on"},
	{"synchronous_commit", "remote_write", true,
		"synchronous_commit is remote_write, so a standby may lose commits: set it to on"},
	{"synchronous_standby_names", "", true,
		"synchronous_standby_names is empty, so no standby has what is committed: let Patroni "
		"set it (synchronous_mode and synchronous_mode_strict), or set "
		"postgresql_durability = local for a single server"},
};

/* Reads the value that the server's files set: this session's own is always on. */
static const char setting_sql[] =
	"SELECT coalesce(reset_val, setting) FROM pg_settings WHERE name = $1";

enum status cell_check_server(struct pg_connection *connection, char *why, size_t why_size)
{
	struct pg_params params;
	enum status status = STATUS_OK;

	params_init(&params);
	for (size_t i = 0; !status && i < sizeof(bad_settings) / sizeof(bad_settings[0]); i++) {
		const struct bad_setting *bad = &bad_settings[i];
		PGresult *result;

		if (bad->quorum && connection->options->durability != PG_QUORUM)
			continue;
		params_reset(&params);
		if (!params_add_text(&params, bad->name)) {
			status = STATUS_NOMEM;
		} else if (connection_query(connection, setting_sql, &params, &result) !=
			TRIP_DONE) {
			status = report_failure(connection, "cannot read the server's settings",
				why, why_size);
		} else {
			if (PQntuples(result) != 1 ||
				strcmp(PQgetvalue(result, 0, 0), bad->value) == 0) {
				snprintf(why, why_size, "%s", bad->why);
				status = STATUS_CONFIG;
			}
			PQclear(result);
		}
	}
	params_free(&params);
	return status;
}

/* ---- reading and claiming */

enum status cell_read_schema(const struct pg_options *options, uint64_t *schema, char *why,
	size_t why_size)
{
	struct pg_connection connection = {.options = options};
	PGresult *result;
	enum status status = connection_open(&connection, clock_boot_ms() + options->patience_ms);

	if (status) {
		report_failure(&connection, "cannot read the table cell", why, why_size);
	} else {
		status = read_row(&connection, &result, why, why_size);
		if (!status) {
			if (PQntuples(result) == 1)
				*schema = (uint64_t)result_number(result, 0, ROW_SCHEMA);
			PQclear(result);
		}
	}
	connection_close(&connection);
	return status;
}

static enum status check_row(const struct pg_options *options, const PGresult *result, char *why,
	size_t why_size)
{
	const char *installation = options->installation;

	if (PQntuples(result) != 1)
		snprintf(why, why_size,
			"the table cell has no row: init or import was not finished");
	else if (result_number(result, 0, ROW_SCHEMA) > STORE_SCHEMA)
		snprintf(why, why_size,
			"the tables have schema %" PRId64
			", and this program uses schema %d: install the newer "
			"version here, too",
			result_number(result, 0, ROW_SCHEMA), STORE_SCHEMA);
	else if (strcmp(PQgetvalue(result, 0, ROW_STATE), "filling") == 0 && !options->fill)
		snprintf(why, why_size,
			"an import into these tables did not end: drop the schema, make it again, and "
			"repeat the import");
	else if (installation && strcmp(PQgetvalue(result, 0, ROW_INSTALLATION), installation) != 0)
		snprintf(why, why_size,
			"the tables belong to installation %.64s, and this host to %.64s",
			PQgetvalue(result, 0, ROW_INSTALLATION), installation);
	else
		return STATUS_OK;
	return STATUS_CONFIG;
}

enum status cell_read(struct pg_connection *connection, struct store_cell *cell, char *why,
	size_t why_size)
{
	PGresult *result;
	enum status status = read_row(connection, &result, why, why_size);

	if (status)
		return status;
	if (PQntuples(result) == 0) {
		/* A superuser made the tables (ddl.h), or init or import was not finished. */
		snprintf(why, why_size,
			"the table cell has no row: init or import was not finished");
		PQclear(result);
		return STATUS_NOT_FOUND;
	}
	status = check_row(connection->options, result, why, why_size);
	if (!status) {
		*cell = (struct store_cell){.epoch = result_number(result, 0, ROW_EPOCH),
			.turn = result_number(result, 0, ROW_TURN),
			.run = result_number(result, 0, ROW_RUN),
			.schema = result_number(result, 0, ROW_SCHEMA)};
		text_copy(cell->holder, sizeof(cell->holder), PQgetvalue(result, 0, ROW_HOLDER));
		text_copy(cell->address, sizeof(cell->address), PQgetvalue(result, 0, ROW_ADDRESS));
		text_copy(cell->installation, sizeof(cell->installation),
			PQgetvalue(result, 0, ROW_INSTALLATION));
	}
	PQclear(result);
	return status;
}

static const char claim_sql[] =
	"UPDATE cell SET epoch = $6, turn = $7, run = $3, holder = $4, address = $5 "
	"WHERE id = 1 AND epoch = $1 AND turn = $2 RETURNING epoch, turn, wall_ms, "
	"barrier";

/* How far epoch and turn of data that begin anew are beyond what this host noted: others noted little more. */
#define ANEW_EPOCHS 1000
#define ANEW_TURNS  1000000

static int64_t go_beyond(int64_t seen, int64_t noted, int64_t step)
{
	return (seen > noted ? seen : noted) + step;
}

enum status cell_claim(struct pg_connection *connection, struct cell *cell,
	const struct cell *above, char *why, size_t why_size)
{
	const struct store_claim *claim = connection->options->claim;
	struct store_cell seen;
	struct pg_params params;
	PGresult *result;
	enum trip trip = TRIP_DOUBT;
	enum status status = cell_read(connection, &seen, why, why_size);

	if (status)
		return status == STATUS_NOT_FOUND ? STATUS_CONFIG : status;
	params_init(&params);
	/* A ledger that served since the caller looked is still there. */
	if (claim && claim->looked) {
		seen.epoch = claim->epoch;
		seen.turn = claim->turn;
	}
	if (params_add_number(&params, seen.epoch) && params_add_number(&params, seen.turn) &&
		params_add_number(&params, claim ? claim->run : 0) &&
		params_add_text(&params, claim ? claim->member : COMMAND_HOLDER) &&
		params_add_text(&params, claim ? claim->address : "") &&
		params_add_number(&params,
			above ? go_beyond(seen.epoch, above->epoch, ANEW_EPOCHS)
			      : seen.epoch + 1) &&
		params_add_number(&params,
			above ? go_beyond(seen.turn, above->turn, ANEW_TURNS) : seen.turn + 1))
		trip = connection_query(connection, claim_sql, &params, &result);
	params_free(&params);
	if (trip != TRIP_DONE)
		return report_failure(connection, "cannot claim the cell", why, why_size);
	if (PQntuples(result) == 1) {
		*cell = (struct cell){.schema = seen.schema,
			.epoch = result_number(result, 0, 0),
			.turn = result_number(result, 0, 1),
			.wall_ms = result_number(result, 0, 2),
			.barrier = result_number(result, 0, 3)};
	} else {
		snprintf(why, why_size, "another ledger serves the data of these tables");
		status = STATUS_BUSY;
	}
	PQclear(result);
	return status;
}

/* Runs a statement that returns a row if the cell still has the epoch. */
static enum status update_own(struct pg_connection *connection, const struct cell *cell,
	const char *sql)
{
	enum status status = STATUS_IO;
	struct pg_params params;
	PGresult *result;

	params_init(&params);
	if (params_add_number(&params, cell->epoch) &&
		connection_query(connection, sql, &params, &result) == TRIP_DONE) {
		status = PQntuples(result) == 1 ? STATUS_OK : STATUS_IO;
		PQclear(result);
	}
	params_free(&params);
	return status;
}

enum status cell_filled(struct pg_connection *connection, const struct cell *cell)
{
	return update_own(connection, cell,
		"UPDATE cell SET state = 'serving' WHERE id = 1 AND epoch = $1 RETURNING 1");
}

enum status cell_empty_newer(struct pg_connection *connection, const struct cell *cell)
{
	enum status status = STATUS_OK;
	struct buffer sql;

	for (unsigned int record = 0; record < RECORD_COUNT && !status; record++) {
		/* The rows of bets never become wrong, and there may be millions of them. */
		if (record_since((enum record)record) <= cell->schema ||
			record == RECORD_GAME_PLAYER || record == RECORD_PLAYER_BET)
			continue;
		buffer_init(&sql, CREATE_MAX);
		/* A ledger that was replaced changes nothing. */
		buffer_printf(&sql,
			"WITH own AS (SELECT 1 FROM cell WHERE id = 1 AND epoch = $1 FOR UPDATE), "
			"emptied AS (DELETE FROM \"%s\" WHERE EXISTS (SELECT FROM own)) SELECT 1 FROM own",
			record_infos[record].name);
		status = buffer_append(&sql, "", 1)
			? update_own(connection, cell, (const char *)sql.data)
			: STATUS_NOMEM;
		buffer_free(&sql);
	}
	return status;
}

enum status cell_raised(struct pg_connection *connection, struct cell *cell)
{
	char sql[160];
	enum status status;

	/* With the turn: a ledger of the older version that saw the older schema cannot claim any more. */
	snprintf(sql, sizeof(sql),
		"UPDATE cell SET schema = %d, turn = turn + 1 WHERE id = 1 AND epoch = $1 RETURNING 1",
		STORE_SCHEMA);
	status = update_own(connection, cell, sql);
	if (status)
		return status;
	cell->schema = STORE_SCHEMA;
	cell->turn++;
	return STATUS_OK;
}

enum status cell_release(struct pg_connection *connection, const struct cell *cell)
{
	return update_own(connection, cell,
		"UPDATE cell SET holder = '', address = '', run = 0 WHERE id = 1 AND epoch = $1 "
		"RETURNING 1");
}

/* ---- members */

enum status cell_note_member(struct pg_connection *connection, const struct store_claim *claim)
{
	static const char sql[] =
		"INSERT INTO member VALUES ($1, $2, $3, $4, "
		"(extract(epoch FROM clock_timestamp()) * 1000)::bigint) ON CONFLICT (name) DO "
		"UPDATE SET address = excluded.address, version = excluded.version, "
		"wall_ms = excluded.wall_ms, seen_ms = excluded.seen_ms";
	struct pg_params params;
	PGresult *result = NULL;
	bool done;

	params_init(&params);
	done = params_add_text(&params, claim->member) &&
		params_add_text(&params, claim->address) &&
		params_add_text(&params, PACKAGE_VERSION) &&
		params_add_number(&params, clock_now().wall_ms) &&
		connection_query(connection, sql, &params, &result) == TRIP_DONE;
	PQclear(result);
	params_free(&params);
	return done ? STATUS_OK : STATUS_IO;
}

enum status cell_members(struct pg_connection *connection, struct store_member *members,
	unsigned int *count)
{
	static const char sql[] =
		"SELECT name, address, version, wall_ms - seen_ms, "
		"(extract(epoch FROM clock_timestamp()) * 1000)::bigint - seen_ms "
		"FROM member ORDER BY name LIMIT $1";
	enum status status = STATUS_IO;
	struct pg_params params;
	PGresult *result;

	params_init(&params);
	if (params_add_number(&params, STORE_MEMBERS_MAX) &&
		connection_query(connection, sql, &params, &result) == TRIP_DONE) {
		status = STATUS_OK;
		*count = (unsigned int)PQntuples(result);
		for (int i = 0; i < PQntuples(result); i++) {
			struct store_member *member = &members[i];

			text_copy(member->name, sizeof(member->name), PQgetvalue(result, i, 0));
			text_copy(member->address, sizeof(member->address),
				PQgetvalue(result, i, 1));
			text_copy(member->version, sizeof(member->version),
				PQgetvalue(result, i, 2));
			member->ahead_ms = result_number(result, i, 3);
			member->seen_ms_ago = (uint64_t)result_number(result, i, 4);
		}
		PQclear(result);
	}
	params_free(&params);
	return status;
}

/* ---- batches */

/* The fence against a ledger that was replaced. tests/store builds a module without it, to see its
 * tests fail. */
#ifndef CELL_FENCE
#define CELL_FENCE "epoch = $1::bigint AND turn = $2::bigint - 1"
#endif
/* Division by zero fails the whole trip. The tests of the names hold only where standbys are needed. */
static const char turn_sql[] =
	"WITH moved AS (UPDATE cell SET turn = $2::bigint, wall_ms = $3::bigint "
	"WHERE id = 1 AND " CELL_FENCE " AND state = '%s'%s "
	"RETURNING 1) SELECT 1 / count(*) FROM moved";

bool cell_prepare(struct pg_connection *connection)
{
	char sql[sizeof(turn_sql) + 128];

	snprintf(sql, sizeof(sql), turn_sql, connection->options->fill ? "filling" : "serving",
		connection->options->durability == PG_QUORUM
			? " AND current_setting('synchronous_standby_names') <> ''"
			: "");
	return PQsendPrepare(connection->conn, TURN_NAME, sql, 0, NULL);
}

bool cell_add_turn(struct pg_connection *connection, struct pg_params *params,
	const struct cell *cell, int64_t wall_ms)
{
	params_reset(params);
	return params_add_number(params, cell->epoch) &&
		params_add_number(params, cell->turn + 1) && params_add_number(params, wall_ms) &&
		trip_add(connection, TURN_NAME, params);
}

static const char barrier_sql[] =
	"UPDATE cell SET barrier = barrier + 1 WHERE id = 1 AND epoch = $1 RETURNING turn, barrier";

enum cell_outcome cell_barrier(struct pg_connection *connection, struct cell *cell)
{
	enum cell_outcome outcome = CELL_UNKNOWN;
	struct pg_params params;
	PGresult *result;

	params_init(&params);
	if (params_add_number(&params, cell->epoch) &&
		connection_query(connection, barrier_sql, &params, &result) == TRIP_DONE) {
		if (PQntuples(result) == 1 && result_number(result, 0, 0) == cell->turn)
			outcome = CELL_AS_BEFORE;
		else if (PQntuples(result) == 1 && result_number(result, 0, 0) == cell->turn + 1)
			outcome = CELL_SAVED;
		else
			outcome = CELL_FENCED;
		if (PQntuples(result) == 1)
			cell->barrier = result_number(result, 0, 1);
		PQclear(result);
	}
	params_free(&params);
	return outcome;
}

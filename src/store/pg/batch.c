#include "store/pg/batch.h"

#include "base/check.h"
#include "base/log.h"
#include "store/pg/sql.h"

#include <stdlib.h>
#include <string.h>

void batch_init(struct pg_batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	params_init(&batch->params);
}

void batch_free(struct pg_batch *batch)
{
	params_free(&batch->params);
	free(batch->rows);
	free(batch->structs);
}

enum trip batch_prepare(struct pg_connection *connection)
{
	struct buffer sql;
	bool sent = trip_begin(connection) && cell_prepare(connection);

	buffer_init(&sql, SQL_MAX);
	for (unsigned int record = 0; sent && record < RECORD_COUNT; record++) {
		for (unsigned int kind = 0; sent && kind < SQL_KIND_COUNT; kind++) {
			char name[SQL_NAME_SIZE];

			if (kind == SQL_UPDATE &&
				record_infos[record].fields[record_infos[record].key_count].type ==
					FIELD_NONE)
				continue;
			buffer_reset(&sql);
			sql_name((enum sql_kind)kind, (enum record)record, name);
			sent = sql_statement(&sql, (enum sql_kind)kind, (enum record)record) &&
				buffer_append(&sql, "", 1) &&
				PQsendPrepare(connection->conn, name, (const char *)sql.data, 0,
					NULL);
		}
	}
	buffer_free(&sql);
	if (sent)
		return trip_end(connection, NULL, NULL);
	connection_close(connection);
	return TRIP_DOUBT;
}

/* ---- the rows of one statement */

static bool add_statement_row(struct pg_batch *batch, unsigned int count, struct ws_row *row)
{
	if (count == batch->room) {
		const unsigned int room = batch->room ? 2 * batch->room : 256;
		struct ws_row **rows = realloc(batch->rows, room * sizeof(struct ws_row *));
		const void **structs;

		if (!rows)
			return false;
		batch->rows = rows;
		structs = realloc(batch->structs, room * sizeof(*structs));
		if (!structs)
			return false;
		batch->structs = structs;
		batch->room = room;
	}
	batch->rows[count] = row;
	batch->structs[count] = row->data;
	return true;
}

/* Adds the statement with the first @count rows. */
static bool send_rows(struct pg_batch *batch, struct pg_connection *connection, enum sql_kind kind,
	enum record record, unsigned int count)
{
	const struct column_table *table = column_table_of(record);
	const unsigned int columns = sql_parameters(kind, record);
	char name[SQL_NAME_SIZE];

	params_reset(&batch->params);
	for (unsigned int i = 0; i < columns; i++) {
		const size_t begin = batch->params.values.len;

		if (!column_put_array(&batch->params.values, &table->columns[i], batch->structs,
			    count) ||
			!params_end(&batch->params, table->columns[i].type->array_oid, begin))
			return false;
	}
	sql_name(kind, record, name);
	return trip_add(connection, name, &batch->params);
}

/* ---- load */

struct loading {
	struct ws *ws;
	struct ws_row **rows; /* wanted, by kind */
	unsigned int *begins; /* of each kind in @rows; one more for the end */
	enum record kinds[RECORD_COUNT];
	unsigned int kind_count;
	enum status status;
};

static enum status fill_row(struct ws *ws, struct ws_row *row, const PGresult *result, int at)
{
	const struct column_table *table = column_table_of(row->record);

	for (unsigned int i = table->key_count; i < table->count; i++) {
		const int column = (int)(i - table->key_count) + 1;

		if (PQgetisnull(result, at, column) ||
			!column_get_value(&table->columns[i],
				(const uint8_t *)PQgetvalue(result, at, column),
				(uint32_t)PQgetlength(result, at, column), row->data)) {
			log_line(LOG_LEVEL_ERROR, "row_damaged", "table=%s column=%s", table->name,
				table->columns[i].name);
			return STATUS_CORRUPT;
		}
	}
	ws_row_loaded(ws, row);
	return STATUS_OK;
}

static bool take_rows(void *context, unsigned int number, const PGresult *result)
{
	struct loading *loading = context;
	const unsigned int begin = loading->begins[number], end = loading->begins[number + 1];

	for (int i = 0; i < PQntuples(result) && !loading->status; i++) {
		const int64_t place = result_number(result, i, 0);

		if (place < 1 || place > end - begin)
			return false;
		loading->status =
			fill_row(loading->ws, loading->rows[begin + place - 1], result, i);
	}
	for (unsigned int i = begin; i < end && !loading->status; i++) {
		if (loading->rows[i]->state == WS_WANTED)
			ws_row_absent(loading->rows[i]);
	}
	return true;
}

/* Sends a load for each kind that has wanted rows. */
static bool send_loads(struct pg_batch *batch, struct pg_connection *connection,
	struct loading *loading)
{
	unsigned int sent = 0;

	loading->begins[0] = 0;
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		unsigned int count = 0;

		for (struct ws_row *row = loading->ws->first_wanted; row; row = row->next) {
			if (row->state != WS_WANTED || row->record != record)
				continue;
			/* The struct gets the members of the key. */
			if (!ws_row_fill(loading->ws, row) || !add_statement_row(batch, count, row))
				return false;
			loading->rows[sent + count++] = row;
		}
		if (!count)
			continue;
		if (!send_rows(batch, connection, SQL_LOAD, (enum record)record, count))
			return false;
		sent += count;
		loading->begins[++loading->kind_count] = sent;
	}
	return true;
}

static unsigned int count_wanted(const struct ws *ws)
{
	unsigned int count = 0;

	for (const struct ws_row *row = ws->first_wanted; row; row = row->next)
		count += row->state == WS_WANTED;
	return count;
}

enum trip batch_load(struct pg_batch *batch, struct pg_connection *connection, struct ws *ws,
	enum status *status)
{
	const unsigned int wanted = count_wanted(ws);
	unsigned int begins[RECORD_COUNT + 1];
	struct loading loading = {.ws = ws, .begins = begins};
	enum trip trip = TRIP_DONE;

	*status = STATUS_OK;
	if (wanted) {
		loading.rows = calloc(wanted, sizeof(*loading.rows));
		if (!loading.rows) {
			*status = STATUS_NOMEM;
			return TRIP_DONE;
		}
		if (trip_begin(connection) && send_loads(batch, connection, &loading)) {
			trip = trip_end(connection, take_rows, &loading);
		} else {
			connection_close(connection);
			trip = TRIP_DOUBT;
		}
		free(loading.rows);
		*status = loading.status;
	}
	if (trip == TRIP_DONE && !*status)
		ws->first_wanted = NULL;
	return trip;
}

/* ---- save */

static bool is_saved_by(const struct ws_row *row, enum sql_kind kind)
{
	switch (kind) {
	case SQL_DELETE:
		return row->dropped && row->stored;
	case SQL_UPDATE:
		return !row->dropped && row->stored;
	case SQL_INSERT:
		return !row->dropped && !row->stored;
	case SQL_LOAD:
	case SQL_KIND_COUNT:
		break;
	}
	return false;
}

struct saving {
	unsigned int counts[1 + RECORD_COUNT * SQL_KIND_COUNT]; /* rows of each statement */
};

static bool take_count(void *context, unsigned int number, const PGresult *result)
{
	const struct saving *saving = context;
	/* The result of the turn is a row; the trip fails where it would be none. */
	const char *affected = number ? PQcmdTuples((PGresult *)(uintptr_t)result) : "";

	return !number || strtoul(affected, NULL, 10) == saving->counts[number];
}

static bool send_saves(struct pg_batch *batch, struct pg_connection *connection,
	const struct ws *ws, struct saving *saving)
{
	static const enum sql_kind kinds[] = {SQL_DELETE, SQL_UPDATE, SQL_INSERT};
	unsigned int statements = 1;

	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			unsigned int count = 0;

			for (struct ws_row *row = ws->first; row; row = row->next) {
				if (!row->dirty || row->record != record ||
					!is_saved_by(row, kinds[i]))
					continue;
				if (!add_statement_row(batch, count++, row))
					return false;
			}
			if (!count)
				continue;
			if (!send_rows(batch, connection, kinds[i], (enum record)record, count))
				return false;
			saving->counts[statements++] = count;
		}
	}
	return true;
}

enum trip batch_save(struct pg_batch *batch, struct pg_connection *connection,
	const struct cell *cell, int64_t wall_ms, const struct ws *ws)
{
	struct saving saving = {{0}};

	for (const struct ws_row *row = ws ? ws->first : NULL; row; row = row->next) {
		if (row->dirty)
			ws_row_check_save(row);
	}
	if (trip_begin(connection) && cell_add_turn(connection, &batch->params, cell, wall_ms) &&
		(!ws || send_saves(batch, connection, ws, &saving)))
		return trip_end(connection, take_count, &saving);
	/* The server has not seen the synchronisation, so it rolls back. */
	connection_close(connection);
	return TRIP_DOUBT;
}

#include "store/pg/scan.h"

#include "base/log.h"
#include "base/pack.h"
#include "store/pg/sql.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_FIRST 64
#define PAGE_MAX   1024
#define KEY_MAX    4096

void scan_begin(struct pg_scan *scan, const struct store_range *range)
{
	*scan = (struct pg_scan){.range = range, .limit = PAGE_FIRST};
	buffer_init(&scan->after, KEY_MAX);
}

void scan_end(struct pg_scan *scan)
{
	buffer_free(&scan->after);
}

/* Reads the whole key members of @key into @row. Returns their number; -1: they do not end there. */
static int unpack_members(enum record record, struct bytes key, void *row)
{
	const struct record_info *info = &record_infos[record];

	if (!key.len)
		return 0;
	for (unsigned int count = 1; count <= info->key_count; count++) {
		struct bytes in = key;

		if (unpack_key(&in, info->fields, count, row) && !in.len)
			return (int)count;
	}
	return -1;
}

/* Adds the first @count key members of @row. */
static bool add_key(struct pg_params *params, const struct column_table *table, unsigned int count,
	const void *row)
{
	for (unsigned int i = 0; i < count; i++) {
		const size_t begin = params->values.len;

		if (!column_put_value(&params->values, &table->columns[i], row) ||
			!params_end(params, table->columns[i].type->oid, begin))
			return false;
	}
	return true;
}

/* Makes the statement of the next page. Returns STATUS_CORRUPT if the range is none of whole members. */
static enum status make_page(const struct pg_scan *scan, struct buffer *sql,
	struct pg_params *params)
{
	const struct store_range *range = scan->range;
	const struct column_table *table = column_table_of(range->record);
	const struct bytes from = scan->after.len
		? (struct bytes){scan->after.data, (uint32_t)scan->after.len}
		: range->after;
	void *row = calloc(1, record_infos[range->record].size);
	enum status status = STATUS_NOMEM;
	int prefix, after;

	if (!row)
		return STATUS_NOMEM;
	prefix = unpack_members(range->record, range->prefix, row);
	if (prefix >= 0 && !add_key(params, table, (unsigned int)prefix, row))
		goto out;
	after = unpack_members(range->record, from, row);
	status = STATUS_CORRUPT;
	if (prefix < 0 || after < 0)
		goto out;
	status = STATUS_NOMEM;
	if (add_key(params, table, (unsigned int)after, row) &&
		sql_range(sql,
			&(struct sql_range){.record = range->record,
				.prefix = (unsigned int)prefix,
				.after = (unsigned int)after,
				.whole = (unsigned int)after == table->key_count,
				.reverse = range->reverse,
				.limit = scan->limit}) &&
		buffer_append(sql, "", 1))
		status = STATUS_OK;
out:
	free(row);
	return status;
}

static enum status read_row(const struct column_table *table, const PGresult *result, int at,
	void *row)
{
	for (unsigned int i = 0; i < table->count; i++) {
		if (!PQgetisnull(result, at, (int)i) &&
			column_get_value(&table->columns[i],
				(const uint8_t *)PQgetvalue(result, at, (int)i),
				(uint32_t)PQgetlength(result, at, (int)i), row))
			continue;
		log_line(LOG_LEVEL_ERROR, "row_damaged", "table=%s column=%s", table->name,
			table->columns[i].name);
		return STATUS_CORRUPT;
	}
	return STATUS_OK;
}

static enum status visit_rows(struct pg_scan *scan, const PGresult *result, store_visit *visit,
	void *context)
{
	const enum record record = scan->range->record;
	const struct record_info *info = &record_infos[record];
	const int count = PQntuples(result);
	enum status status = STATUS_OK;
	void *row = malloc(info->size);

	if (!row)
		return STATUS_NOMEM;
	for (int i = 0; i < count && !status && !scan->stopped; i++) {
		memset(row, 0, info->size);
		status = read_row(column_table_of(record), result, i, row);
		buffer_reset(&scan->after);
		if (!status && !pack_key(&scan->after, info->fields, info->key_count, row))
			status = STATUS_NOMEM;
		if (!status)
			scan->stopped = !visit(context,
				(struct bytes){scan->after.data, (uint32_t)scan->after.len}, row);
	}
	free(row);
	if ((unsigned int)count < scan->limit)
		scan->stopped = true;
	scan->limit = scan->limit < PAGE_MAX ? 2 * scan->limit : PAGE_MAX;
	return status;
}

enum trip scan_page(struct pg_scan *scan, struct pg_connection *connection, store_visit *visit,
	void *context, enum status *status)
{
	struct pg_params params;
	struct buffer sql;
	PGresult *result = NULL;
	enum trip trip = TRIP_DONE;

	params_init(&params);
	buffer_init(&sql, SQL_MAX);
	*status = make_page(scan, &sql, &params);
	if (!*status)
		trip = connection_query(connection, (const char *)sql.data, &params, &result);
	params_free(&params);
	buffer_free(&sql);
	if (result && trip == TRIP_DONE)
		*status = visit_rows(scan, result, visit, context);
	PQclear(result);
	return trip;
}

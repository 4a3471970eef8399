#include "store/pg/sql.h"

#include <stdio.h>

static const char *const kind_names[SQL_KIND_COUNT] = {"load", "update", "insert", "delete"};

void sql_name(enum sql_kind kind, enum record record, char name[SQL_NAME_SIZE])
{
	snprintf(name, SQL_NAME_SIZE, "%s_%s", kind_names[kind], record_infos[record].name);
}

static unsigned int columns_used(enum sql_kind kind, const struct column_table *table)
{
	return kind == SQL_LOAD || kind == SQL_DELETE ? table->key_count : table->count;
}

unsigned int sql_parameters(enum sql_kind kind, enum record record)
{
	return columns_used(kind, column_table_of(record));
}

/* Appends "@before NAME" for columns from @from to @to, with commas between them. */
static void put_names(struct buffer *out, const struct column_table *table, const char *before,
	unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		buffer_printf(out, "%s%s\"%s\"", i == from ? "" : ", ", before,
			table->columns[i].name);
}

/* Appends "unnest($1::TYPE[], ...) given(NAME, ...)". */
static void put_unnest(struct buffer *out, const struct column_table *table, unsigned int count,
	const char *more)
{
	buffer_append_str(out, "unnest(");
	for (unsigned int i = 0; i < count; i++)
		buffer_printf(out, "%s$%u::%s[]", i ? ", " : "", i + 1,
			table->columns[i].type->name);
	buffer_printf(out, ")%s given(", more[0] ? " WITH ORDINALITY" : "");
	put_names(out, table, "", 0, count);
	buffer_printf(out, "%s)", more);
}

/* Appends "stored.KEY = given.KEY AND ...". */
static void put_key_match(struct buffer *out, const struct column_table *table)
{
	for (unsigned int i = 0; i < table->key_count; i++)
		buffer_printf(out, "%sstored.\"%s\" = given.\"%s\"", i ? " AND " : "",
			table->columns[i].name, table->columns[i].name);
}

static void put_load(struct buffer *out, const struct column_table *table)
{
	buffer_append_str(out, "SELECT given.place_in_call");
	if (table->count > table->key_count)
		buffer_append_str(out, ", ");
	put_names(out, table, "stored.", table->key_count, table->count);
	buffer_append_str(out, " FROM ");
	put_unnest(out, table, table->key_count, ", place_in_call");
	buffer_printf(out, " JOIN \"%s\" stored ON ", table->name);
	put_key_match(out, table);
}

static void put_update(struct buffer *out, const struct column_table *table)
{
	buffer_printf(out, "UPDATE \"%s\" stored SET ", table->name);
	for (unsigned int i = table->key_count; i < table->count; i++)
		buffer_printf(out, "%s\"%s\" = given.\"%s\"", i > table->key_count ? ", " : "",
			table->columns[i].name, table->columns[i].name);
	buffer_append_str(out, " FROM ");
	put_unnest(out, table, table->count, "");
	buffer_append_str(out, " WHERE ");
	put_key_match(out, table);
}

static void put_insert(struct buffer *out, const struct column_table *table)
{
	buffer_printf(out, "INSERT INTO \"%s\" (", table->name);
	put_names(out, table, "", 0, table->count);
	buffer_append_str(out, ") SELECT ");
	put_names(out, table, "given.", 0, table->count);
	buffer_append_str(out, " FROM ");
	put_unnest(out, table, table->count, "");
}

static void put_delete(struct buffer *out, const struct column_table *table)
{
	buffer_printf(out, "DELETE FROM \"%s\" stored USING ", table->name);
	put_unnest(out, table, table->key_count, "");
	buffer_append_str(out, " WHERE ");
	put_key_match(out, table);
}

bool sql_statement(struct buffer *out, enum sql_kind kind, enum record record)
{
	static void (*const put[SQL_KIND_COUNT])(struct buffer *,
		const struct column_table *) = {put_load, put_update, put_insert, put_delete};

	put[kind](out, column_table_of(record));
	return !out->failed;
}

/* Appends "(KEY, ...) OPERATOR ($N, ...)" for the first @count key columns. */
static void put_key_after(struct buffer *out, const struct column_table *table,
	const struct sql_range *range)
{
	const char *relation = range->reverse ? "<" : range->whole ? ">" : ">=";

	buffer_append_str(out, "(");
	put_names(out, table, "", 0, range->after);
	buffer_printf(out, ") %s (", relation);
	for (unsigned int i = 0; i < range->after; i++)
		buffer_printf(out, "%s$%u::%s", i ? ", " : "", range->prefix + i + 1,
			table->columns[i].type->name);
	buffer_append_str(out, ")");
}

bool sql_range(struct buffer *out, const struct sql_range *range)
{
	const struct column_table *table = column_table_of(range->record);

	buffer_append_str(out, "SELECT ");
	put_names(out, table, "", 0, table->count);
	buffer_printf(out, " FROM \"%s\" WHERE true", table->name);
	for (unsigned int i = 0; i < range->prefix; i++)
		buffer_printf(out, " AND \"%s\" = $%u::%s", table->columns[i].name, i + 1,
			table->columns[i].type->name);
	if (range->after) {
		buffer_append_str(out, " AND ");
		put_key_after(out, table, range);
	}
	buffer_append_str(out, " ORDER BY ");
	for (unsigned int i = 0; i < table->key_count; i++)
		buffer_printf(out, "%s\"%s\"%s", i ? ", " : "", table->columns[i].name,
			range->reverse ? " DESC" : "");
	buffer_printf(out, " LIMIT %u", range->limit);
	return !out->failed;
}

/* Rows of these kinds are only appended: their pages may be full. */
static unsigned int fillfactor_of(enum record record)
{
	switch (record) {
	case RECORD_COUNTER:
		return 10;
	case RECORD_TOTAL:
	case RECORD_PLAYER:
	case RECORD_ROUND:
	case RECORD_BET:
	case RECORD_CALLBACK:
	case RECORD_DUE:
	case RECORD_ASIDE:
	case RECORD_LIFETIME:
	case RECORD_DAY:
	case RECORD_DEALER_DAY:
		return 80;
	default:
		return 100;
	}
}

static void put_table(struct buffer *out, enum record record, const char *condition)
{
	const struct column_table *table = column_table_of(record);

	buffer_printf(out, "CREATE TABLE %s\"%s\" (\n", condition, table->name);
	for (unsigned int i = 0; i < table->count; i++)
		buffer_printf(out, "  \"%s\" %s%s NOT NULL,\n", table->columns[i].name,
			table->columns[i].type->name,
			table->columns[i].type->oid == 25 ? " COLLATE \"C\"" : "");
	buffer_append_str(out, "  PRIMARY KEY (");
	put_names(out, table, "", 0, table->key_count);
	buffer_printf(out, ")\n) WITH (fillfactor = %u);\n", fillfactor_of(record));
}

bool sql_create(struct buffer *out)
{
	buffer_append_str(out,
		"CREATE TABLE cell (\n"
		"  id smallint PRIMARY KEY CHECK (id = 1),\n"
		"  installation text NOT NULL,\n"
		"  schema bigint NOT NULL,\n"
		"  state text NOT NULL CHECK (state IN ('serving', 'filling', 'raising')),\n"
		"  epoch bigint NOT NULL,\n"
		"  turn bigint NOT NULL,\n"
		"  barrier bigint NOT NULL,\n"
		"  run bigint NOT NULL,\n"
		"  holder text NOT NULL,\n"
		"  address text NOT NULL,\n"
		"  wall_ms bigint NOT NULL\n"
		") WITH (fillfactor = 10);\n"
		"CREATE TABLE member (\n"
		"  name text PRIMARY KEY,\n"
		"  address text NOT NULL,\n"
		"  version text NOT NULL,\n"
		"  wall_ms bigint NOT NULL,\n"
		"  seen_ms bigint NOT NULL\n"
		") WITH (fillfactor = 10);\n");
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		if (record_since((enum record)record) <= SQL_FIRST_SCHEMA)
			put_table(out, (enum record)record, "");
	}
	return !out->failed;
}

bool sql_create_lacking(struct buffer *out)
{
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		if (record_since((enum record)record) <= SQL_FIRST_SCHEMA)
			continue;
		buffer_printf(out, "IF NOT EXISTS (SELECT FROM cell WHERE schema >= %d) THEN\n",
			record_since((enum record)record));
		put_table(out, (enum record)record, "IF NOT EXISTS ");
		buffer_append_str(out, "END IF;\n");
	}
	return !out->failed;
}

bool sql_create_newer(struct buffer *out, int64_t schema)
{
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		if (record_since((enum record)record) > schema)
			put_table(out, (enum record)record, "IF NOT EXISTS ");
	}
	return !out->failed;
}

bool sql_count_newer(struct buffer *out, int64_t schema)
{
	buffer_append_str(out, "SELECT 0");
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		if (record_since((enum record)record) <= schema)
			continue;
		buffer_printf(out, " + (to_regclass('\"%s\"') IS NULL)::int",
			column_table_of((enum record)record)->name);
	}
	return !out->failed;
}

#include "store/pg/ddl.h"

#include "store/pg/sql.h"

#include <stdio.h>
#include <string.h>

#define LEDGER_CONNECTIONS 16

static void put_role(struct buffer *out, const char *name, const char *more, const char *options)
{
	buffer_printf(out,
		"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s%s') THEN\n"
		"  CREATE ROLE \"%s%s\" %s; END IF; END $$;\n",
		name, more, name, more, options);
}

static void put_names_of_enum(struct buffer *out, const struct field *field)
{
	buffer_append_str(out, "(ARRAY[");
	for (uint32_t i = 0; i < field->count; i++)
		buffer_printf(out, "%s'%s'", i ? ", " : "", field->names[i]);
	buffer_append_str(out, "])");
}

/* Appends a column as people read it. Returns false if it is not for them. */
static bool put_view_column(struct buffer *out, const struct column *column, const char *before)
{
	const char *name = column->name;

	switch (column->field->type) {
	case FIELD_SECRET:
	case FIELD_BYTES: /* packed by the program */
		return false;
	case FIELD_MONEY:
		buffer_printf(out, "%s\"%s\"::numeric / 10000)::numeric(20,4)", before, name);
		break;
	case FIELD_SUM:
		buffer_printf(out, "%s\"%s\" / 10000)::numeric(43,4)", before, name);
		break;
	case FIELD_TIME_MS:
		buffer_printf(out, "%sto_timestamp(nullif(\"%s\", 0) / 1000.0))", before, name);
		break;
	case FIELD_ENUM:
		buffer_append_str(out, before);
		put_names_of_enum(out, column->field);
		buffer_printf(out, "[\"%s\" + 1])", name);
		break;
	case FIELD_JSON:
		buffer_printf(out, "%snullif(\"%s\", '')::json)", before, name);
		break;
	default:
		buffer_printf(out, "%s\"%s\")", before, name);
	}
	buffer_printf(out, " AS \"%s\"", name);
	return true;
}

static void put_view(struct buffer *out, const char *views, const char *schema, enum record record)
{
	const struct column_table *table = column_table_of(record);
	const char *before = "(";

	buffer_printf(out, "CREATE OR REPLACE VIEW \"%s\".\"%s\" AS SELECT\n  ", views,
		table->name);
	for (unsigned int i = 0; i < table->count; i++) {
		if (put_view_column(out, &table->columns[i], before))
			before = ",\n  (";
	}
	buffer_printf(out, "\n  FROM \"%s\".\"%s\";\n", schema, table->name);
}

static void put_grants(struct buffer *out, const char *views, const char *schema,
	const char *ledger_role)
{
	buffer_printf(out,
		"GRANT USAGE ON SCHEMA \"%s\" TO \"%s\";\n"
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"%s\" TO \"%s\";\n",
		schema, ledger_role, schema, ledger_role);
	buffer_printf(out,
		"GRANT USAGE ON SCHEMA \"%s\" TO \"%s_report\";\n"
		"GRANT SELECT ON ALL TABLES IN SCHEMA \"%s\" TO \"%s_report\";\n",
		views, schema, views, schema);
}

bool ddl_put(struct buffer *out, const char *schema, const char *ledger_role)
{
	const bool usual = strcmp(schema, "creditbridge") == 0;
	char options[64], views[128];

	snprintf(views, sizeof(views), "%s%sreport", usual ? "" : schema, usual ? "" : "_");
	snprintf(options, sizeof(options), "LOGIN CONNECTION LIMIT %d", LEDGER_CONNECTIONS);
	buffer_append_str(out,
		"-- For psql, as a superuser, in the database of the ledger.\n"
		"SET client_min_messages = warning;\n");
	put_role(out, schema, "_owner", "NOLOGIN");
	put_role(out, schema, "_report", "NOLOGIN");
	put_role(out, ledger_role, "", options);
	buffer_append_str(out, "-- For `creditbridgectl doctor` and the metrics.\n");
	buffer_printf(out, "GRANT pg_read_all_stats, pg_read_all_settings TO \"%s\";\n",
		ledger_role);
	buffer_printf(out,
		"BEGIN;\n"
		"CREATE SCHEMA IF NOT EXISTS \"%s\" AUTHORIZATION \"%s_owner\";\n"
		"CREATE SCHEMA IF NOT EXISTS \"%s\" AUTHORIZATION \"%s_owner\";\n"
		"SET LOCAL ROLE \"%s_owner\";\n"
		"SET LOCAL search_path = \"%s\";\n",
		schema, schema, views, schema, schema, schema);
	buffer_append_str(out, "DO $$ BEGIN IF to_regclass('cell') IS NULL THEN\n");
	sql_create(out);
	buffer_append_str(out, "END IF;\n");
	sql_create_lacking(out);
	buffer_append_str(out, "END $$;\n");
	for (unsigned int record = 0; record < RECORD_COUNT; record++)
		put_view(out, views, schema, (enum record)record);
	put_grants(out, views, schema, ledger_role);
	buffer_append_str(out, "COMMIT;\n");
	return !out->failed;
}

#include "store/pg/inspect.h"

#include "base/clock.h"
#include "store/pg/cell.h"
#include "store/pg/served.h"

#include <inttypes.h>
#include <stdio.h>

#define SERVER_MS 3000 /* the time for one server */

/* Rows of a name and a value. */
static const char facts_sql[] =
	"SELECT 'version', current_setting('server_version_num') UNION ALL "
	"SELECT 'standby', CASE WHEN pg_is_in_recovery() THEN 'on' ELSE 'off' END UNION ALL "
	"SELECT 'setting:' || name, reset_val FROM pg_settings WHERE name IN ('fsync', "
	"'full_page_writes', 'synchronous_commit', 'wal_level', 'data_checksums', 'autovacuum', "
	"'synchronous_standby_names', 'data_directory', 'max_wal_size') UNION ALL "
	"SELECT 'position', (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() "
	"ELSE pg_current_wal_lsn() END - '0/0'::pg_lsn)::text UNION ALL "
	"SELECT 'copy', application_name || ' ' || sync_state FROM pg_stat_replication "
	"WHERE sync_state IS NOT NULL UNION ALL "
	"SELECT 'copy_hidden', count(*)::text FROM pg_stat_replication WHERE sync_state IS NULL "
	"UNION ALL "
	"SELECT 'tables', CASE WHEN to_regclass('cell') IS NULL THEN 'off' ELSE 'on' END UNION ALL "
	"SELECT 'superuser', CASE WHEN rolsuper THEN 'on' ELSE 'off' END FROM pg_roles "
	"WHERE rolname = current_user UNION ALL "
	"SELECT DISTINCT 'writer', rolname::text FROM pg_roles r, pg_class t WHERE rolcanlogin AND "
	"NOT rolsuper AND rolname <> current_user AND t.relkind = 'r' AND "
	"t.relnamespace = to_regnamespace(current_schema()::text) AND "
	"has_table_privilege(r.oid, t.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') UNION ALL "
	"SELECT 'kept', ((CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() "
	"ELSE pg_current_wal_lsn() END) - restart_lsn)::text || ' ' || slot_name "
	"FROM pg_replication_slots WHERE restart_lsn IS NOT NULL UNION ALL "
	"SELECT 'age', max(age(datfrozenxid))::text FROM pg_database";

/* Compares the cell of a server with the newest batch that was answered. */
static void inspect_cell(struct pg_connection *connection, const struct cell *mark,
	unsigned int server, store_fact *take, void *context)
{
	struct store_cell cell;
	char text[96];

	/* Without tables there is nothing to compare. */
	if (cell_read(connection, &cell, text, sizeof(text)))
		return;
	snprintf(text, sizeof(text), "%" PRId64 " of epoch %" PRId64, cell.turn, cell.epoch);
	take(context, server, "turn", text);
	snprintf(text, sizeof(text), "%" PRId64 " of epoch %" PRId64, mark->turn, mark->epoch);
	take(context, server, "answered", text);
	take(context, server, "lacks", served_lacks(mark, cell.epoch, cell.turn) ? "on" : "off");
}

static void inspect_server(struct pg_connection *connection, const struct cell *mark,
	unsigned int server, store_fact *take, void *context)
{
	struct pg_params none;
	PGresult *result;

	params_init(&none);
	if (connection_open(connection, clock_boot_ms() + SERVER_MS) ||
		connection_query(connection, facts_sql, &none, &result) != TRIP_DONE) {
		take(context, server, "failure", connection->why);
		return;
	}
	for (int i = 0; i < PQntuples(result); i++)
		take(context, server, PQgetvalue(result, i, 0), PQgetvalue(result, i, 1));
	PQclear(result);
	inspect_cell(connection, mark, server, take, context);
}

void pg_inspect(const struct pg_options *options, store_fact *take, void *context)
{
	struct served served;
	struct cell mark = {0};
	char why[256];

	/* Before the servers are asked: a ledger may serve meanwhile. */
	if (!served_open(&served, options->state_directory, false, why, sizeof(why)))
		served_read(&served, &mark);
	served_close(&served);
	for (unsigned int i = 0; i < options->server_count; i++) {
		struct pg_options one = *options;
		struct pg_connection connection = {.options = &one};

		one.purpose = PG_LOOKS;
		one.servers[0] = options->servers[i];
		one.server_count = 1;
		inspect_server(&connection, &mark, i, take, context);
		connection_close(&connection);
	}
}

#include "store/pg/figures.h"

#include "base/check.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_MS 10000 /* the least time between two questions to the server */

/* A server may hide its standbys from this user; the last two rows are then missing. */
static const char sizes_sql[] =
	"SELECT relname::text, pg_total_relation_size(oid)::text FROM pg_class WHERE relkind = 'r' "
	"AND relnamespace = current_schema()::regnamespace UNION ALL "
	"SELECT '+quorum', count(*) FILTER (WHERE sync_state <> 'async')::text "
	"FROM pg_stat_replication HAVING bool_and(sync_state IS NOT NULL) IS NOT FALSE UNION ALL "
	"SELECT '+lag', greatest(max(pg_current_wal_lsn() - replay_lsn), 0)::text "
	"FROM pg_stat_replication HAVING bool_and(sync_state IS NOT NULL) IS NOT FALSE";

static void read_sizes(struct pg_figures *own, struct pg_connection *connection)
{
	struct pg_params none;
	PGresult *result;

	params_init(&none);
	own->copies = own->lag = -1;
	if (connection_query(connection, sizes_sql, &none, &result) != TRIP_DONE)
		return;
	for (int i = 0; i < PQntuples(result); i++) {
		if (strcmp(PQgetvalue(result, i, 0), "+quorum") == 0)
			own->copies = strtoll(PQgetvalue(result, i, 1), NULL, 10);
		if (strcmp(PQgetvalue(result, i, 0), "+lag") == 0)
			own->lag = strtoll(PQgetvalue(result, i, 1), NULL, 10);
		for (unsigned int record = 0; record < RECORD_COUNT; record++) {
			if (strcmp(record_infos[record].name, PQgetvalue(result, i, 0)) == 0)
				own->sizes.table_bytes[record] =
					strtoull(PQgetvalue(result, i, 1), NULL, 10);
		}
	}
	PQclear(result);
}

void figures_add(struct store_figures *figures, const char *name, enum figure_unit unit,
	int64_t value)
{
	struct store_figure *figure = figures->named;

	while (figure < figures->named + STORE_FIGURES_MAX && figure->name[0])
		figure++;
	CHECK(figure < figures->named + STORE_FIGURES_MAX);
	snprintf(figure->name, sizeof(figure->name), "%s", name);
	figure->unit = unit;
	figure->value = (uint64_t)value;
}

void figures_get(struct pg_figures *own, struct pg_connection *connection,
	struct store_figures *figures)
{
	const int64_t now_ms = clock_boot_ms();

	if (!own->boot_ms || now_ms >= own->boot_ms + PERIOD_MS) {
		own->boot_ms = now_ms;
		read_sizes(own, connection);
	}
	*figures = own->sizes;
	figures_add(figures, "in_doubt", FIGURE_NUMBER, (int64_t)own->doubts);
	figures_add(figures, "reconnects", FIGURE_NUMBER, (int64_t)own->reconnects);
	/* One server waits for no standby. */
	if (own->copies >= 0 && connection->options->durability == PG_QUORUM)
		figures_add(figures, "quorum", FIGURE_NUMBER, own->copies);
	if (own->lag >= 0)
		figures_add(figures, "lag", FIGURE_BYTES, own->lag);
}

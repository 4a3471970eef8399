#include "store/pg/watch.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/pg/cell.h"
#include "store/pg/served.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct pg_watch {
	struct store_watch watch;
	struct pg_connection connection;
	struct served served;
	struct store_cell before; /* what the last look showed */
};

static struct pg_watch *watch_of(struct store_watch *watch)
{
	return (struct pg_watch *)((char *)watch - offsetof(struct pg_watch, watch));
}

static bool connect_watch(struct pg_watch *watch)
{
	struct pg_connection *connection = &watch->connection;

	if (connection->conn)
		return true;
	if (connection_open(connection, clock_boot_ms() + connection->options->trip_ms))
		return false;
	/* What it writes may be lost, and waits for no standby. */
	return connection_run(connection, "SET synchronous_commit = off") == TRIP_DONE;
}

static enum status watch_look(struct store_watch *store_watch, struct store_cell *cell, char *why,
	size_t why_size)
{
	struct pg_watch *watch = watch_of(store_watch);

	struct cell mark;
	enum status status;

	if (!connect_watch(watch)) {
		snprintf(why, why_size, "no server of the store takes writes: %s",
			watch->connection.why);
		return STATUS_IO;
	}
	/* Before the look: a ledger may serve meanwhile. */
	served_read(&watch->served, &mark);
	status = cell_read(&watch->connection, cell, why, why_size);
	if (status)
		return status;
	cell->answered_epoch = mark.epoch;
	cell->answered_turn = mark.turn;
	cell->lacks = served_lacks(&mark, cell->epoch, cell->turn);
	if (watch->connection.options->claim)
		served_note_seen(&watch->served, &watch->before, cell);
	watch->before = *cell;
	return STATUS_OK;
}

static enum status watch_note(struct store_watch *store_watch, const struct store_claim *claim)
{
	struct pg_watch *watch = watch_of(store_watch);

	return connect_watch(watch) ? cell_note_member(&watch->connection, claim) : STATUS_IO;
}

static enum status watch_members(struct store_watch *store_watch, struct store_member *members,
	unsigned int *count)
{
	struct pg_watch *watch = watch_of(store_watch);

	return connect_watch(watch) ? cell_members(&watch->connection, members, count) : STATUS_IO;
}

static void watch_close(struct store_watch *store_watch)
{
	struct pg_watch *watch = watch_of(store_watch);

	connection_close(&watch->connection);
	served_close(&watch->served);
	free(watch);
}

struct store_watch *watch_new(const struct pg_options *options)
{
	struct pg_watch *watch = calloc(1, sizeof(*watch));
	char why[256];

	if (!watch)
		return NULL;
	/* Only a ledger, which is the only one of its state, notes what it sees. */
	if (served_open(&watch->served, options->state_directory, options->claim != NULL, why,
		    sizeof(why)))
		log_line(LOG_LEVEL_WARNING, "served_unreadable", "error=\"%s\"", why);
	watch->connection.options = options;
	watch->watch = (struct store_watch){watch_look, watch_note, watch_members, watch_close};
	return &watch->watch;
}

#include "store/pg/pg.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/pg/batch.h"
#include "store/pg/figures.h"
#include "store/pg/proof.h"
#include "store/pg/scan.h"
#include "store/pg/served.h"
#include "store/pg/snapshot.h"
#include "store/recount.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRIES_MAX                                                                                \
	3 /* of a batch that the server refused for a reason that may be gone the next time */
#define QUORUM_PAUSE_MS 500
/* Before the next question for an outcome, after one that the server refused. */
#define ASK_PAUSE_MS 50
/* After a server with the writes that lacks what another one has. */
#define OLDER_PAUSE_MS 1000

struct pg_store {
	struct store store;
	struct pg_connection connection;
	struct pg_batch batch;
	struct cell cell;
	struct served served;
	bool unproved;     /* since it connected, no standby has shown a barrier */
	int64_t member_ms; /* boot time when this host's row is written next */
	struct pg_figures figures;
	bool snapshot; /* reads within one transaction, which ends with the connection */
};

static struct pg_store *pg_of(struct store *store)
{
	return (struct pg_store *)((char *)store - offsetof(struct pg_store, store));
}

static int64_t patience_end(const struct pg_store *pg)
{
	return clock_boot_ms() + pg->connection.options->patience_ms;
}

/* Connects again if need be, and prepares the statements. */
static enum status connect_again(struct pg_store *pg, int64_t deadline_ms)
{
	while (clock_boot_ms() < deadline_ms) {
		if (connection_open(&pg->connection, deadline_ms))
			break;
		pg->unproved = pg->connection.options->durability == PG_QUORUM;
		pg->figures.reconnects++;
		if (batch_prepare(&pg->connection) == TRIP_DONE)
			return STATUS_OK;
	}
	log_line(LOG_LEVEL_ERROR, "store_unreachable", "error=\"%s\"", pg->connection.why);
	return STATUS_IO;
}

/* Waits until a standby shows the last barrier, if none has done so on this connection. */
static bool prove_barrier(struct pg_store *pg, int64_t deadline_ms, char *why, size_t why_size)
{
	if (pg->unproved)
		pg->unproved =
			!proof_await(pg->connection.options, &pg->cell, deadline_ms, why, why_size);
	return !pg->unproved;
}

/*
 * Asks for the outcome of the batch under way until there is one. CELL_UNKNOWN: the time is over, or the
 * process is to end.
 */
static enum cell_outcome resolve_doubt(struct pg_store *pg, int64_t deadline_ms)
{
	enum cell_outcome outcome = CELL_UNKNOWN;
	char why[256];

	while (outcome == CELL_UNKNOWN) {
		if (!pg->connection.conn && connect_again(pg, deadline_ms))
			return CELL_UNKNOWN;
		if (clock_boot_ms() >= deadline_ms)
			return CELL_UNKNOWN;
		outcome = cell_barrier(&pg->connection, &pg->cell);
		if (outcome == CELL_UNKNOWN &&
			connection_pause(pg->connection.options, ASK_PAUSE_MS))
			return CELL_UNKNOWN;
	}
	if (outcome != CELL_FENCED && !prove_barrier(pg, deadline_ms, why, sizeof(why))) {
		log_line(LOG_LEVEL_ERROR, "store_not_proved", "error=\"%s\"", why);
		return CELL_UNKNOWN;
	}
	return outcome;
}

static void note_fenced(struct pg_store *pg)
{
	pg->store.fenced = true;
	log_line(LOG_LEVEL_ERROR, "store_fenced",
		"epoch=%" PRId64 " remedy=\"another ledger writes to these tables\"",
		pg->cell.epoch);
}

/*
 * After a trip that read: STATUS_OK means that it can be sent again. The barrier shows that this store
 * is still the only writer, and that the server has all that this store saved.
 */
static enum status read_again(struct pg_store *pg, enum trip trip, int64_t deadline_ms)
{
	enum cell_outcome outcome;

	if (trip == TRIP_FAILED || pg->snapshot) {
		log_line(LOG_LEVEL_ERROR, "read_failed", "error=\"%s\"", pg->connection.why);
		return STATUS_IO;
	}
	outcome = resolve_doubt(pg, deadline_ms);
	if (outcome == CELL_AS_BEFORE)
		return STATUS_OK;
	if (outcome != CELL_UNKNOWN)
		note_fenced(pg);
	return STATUS_IO;
}

static enum status pg_load(struct store *store, struct ws *ws)
{
	struct pg_store *pg = pg_of(store);
	const int64_t deadline_ms = patience_end(pg);
	enum status status;
	enum trip trip;

	if (store->lost)
		return STATUS_IO;
	for (;;) {
		trip = batch_load(&pg->batch, &pg->connection, ws, &status);
		if (trip == TRIP_DONE)
			return status;
		status = read_again(pg, trip, deadline_ms);
		if (status)
			return status;
	}
}

/* ---- save */

static bool is_one_of(const char *sqlstate, const char *const *states)
{
	for (; *states; states++) {
		if (strcmp(sqlstate, *states) == 0)
			return true;
	}
	return false;
}

/*
 * Judges a batch that the server refused: nothing of it happened. *again: send it once more. Without an
 * SQLSTATE the server wrote other rows than it was sent (batch.h), and the store cannot go on.
 */
static enum save_result judge_refusal(struct pg_store *pg, unsigned int tries, bool *again)
{
	static const char *const temporary[] = {"40001", "40P01", "57014", "53200", NULL};
	const char *state = pg->connection.sqlstate;

	*again = false;
	if (strcmp(state, SQLSTATE_DUPLICATE) == 0)
		return SAVE_FAULT;
	log_line(LOG_LEVEL_ERROR, "save_failed", "error=\"%s\"", pg->connection.why);
	if (strcmp(state, SQLSTATE_FULL) == 0)
		return SAVE_FULL;
	if (strncmp(state, "22", 2) == 0 || strncmp(state, "42", 2) == 0)
		return SAVE_FAULT;
	*again = is_one_of(state, temporary) && tries < RETRIES_MAX;
	return SAVE_LOST;
}

/* Waits a little for standbys: the server has none that a commit would wait for. */
static void wait_for_quorum(const struct pg_store *pg)
{
	log_line(LOG_LEVEL_ERROR, "save_without_quorum", "remedy=\"%s\"",
		"synchronous_standby_names is empty: see that Patroni runs with "
		"synchronous_mode_strict");
	connection_pause(pg->connection.options, QUORUM_PAUSE_MS);
}

/*
 * Asks the server for the outcome of a batch. @refused: the server refused to raise the turn. *again: it did
 * not happen, send it once more.
 */
static enum save_result judge_doubt(struct pg_store *pg, int64_t deadline_ms, bool refused,
	bool *again)
{
	*again = false;
	pg->figures.doubts++;
	log_line(LOG_LEVEL_WARNING, "save_in_doubt", "error=\"%s\"", pg->connection.why);
	switch (resolve_doubt(pg, deadline_ms)) {
	case CELL_SAVED:
		return SAVE_OK;
	case CELL_AS_BEFORE:
		/* The turn was refused although epoch and turn are right: no standby is configured. */
		if (refused)
			wait_for_quorum(pg);
		*again = clock_boot_ms() < deadline_ms;
		return SAVE_LOST;
	case CELL_FENCED:
		note_fenced(pg);
		return SAVE_LOST;
	case CELL_UNKNOWN:
		break;
	}
	return SAVE_LOST;
}

/* Returns the time of a batch. One without rows, or of a raise, has that of the batch before: time must not run back. */
static int64_t wall_of(const struct pg_store *pg, const struct ws *ws)
{
	return ws && ws->now.wall_ms ? ws->now.wall_ms : pg->cell.wall_ms;
}

/*
 * Raises the turn with the rows of @ws; NULL: without rows. After SAVE_LOST the turn may still rise by a session
 * of this store. The next batch would have the same turn, and the store would take that one for its own: so
 * nothing is read or saved any more (store.lost), and the next engine claims a new epoch.
 */
static enum save_result commit_turn(struct pg_store *pg, const struct ws *ws)
{
	const int64_t deadline_ms = patience_end(pg);
	/* Of the first attempt: a standby may see the turn rise by that one. */
	const int64_t begun_ms = clock_boot_ms();
	enum save_result result = SAVE_LOST;
	unsigned int tries = 0;
	bool again = !pg->store.lost, doubted = false;

	while (again) {
		enum trip trip;
		bool refused, locked;

		trip = batch_save(&pg->batch, &pg->connection, &pg->cell, wall_of(pg, ws), ws);
		refused = trip == TRIP_FAILED &&
			strcmp(pg->connection.sqlstate, SQLSTATE_ZERO_DIVISOR) == 0;
		/* An earlier session of this store, or of the one before, waits for the standbys. */
		locked = trip == TRIP_FAILED &&
			strcmp(pg->connection.sqlstate, SQLSTATE_LOCKED) == 0;
		tries++;
		if (trip == TRIP_DONE) {
			result = SAVE_OK;
			again = false;
		} else if (trip == TRIP_DOUBT || refused || locked) {
			result = judge_doubt(pg, deadline_ms, refused, &again);
		} else {
			result = judge_refusal(pg, tries, &again);
		}
		doubted = doubted || trip == TRIP_DOUBT;
	}
	/* An earlier attempt may still commit the batch, although the server refused a later one. */
	if (result != SAVE_OK && doubted)
		result = SAVE_LOST;
	pg->store.lost = pg->store.lost || result == SAVE_LOST;
	if (result != SAVE_OK)
		return result;
	pg->cell.turn++;
	pg->cell.wall_ms = wall_of(pg, ws);
	pg->store.vouched_ms = begun_ms;
	served_note(&pg->served, &pg->cell);
	return result;
}

static enum save_result pg_save(struct store *store, struct ws *ws)
{
	const int64_t begun_ns = clock_boot_ns();
	enum save_result result;

	ws_check_save(ws);
	if (!ws->dirty)
		return SAVE_OK;
	result = commit_turn(pg_of(store), ws);
	store->save_us = (uint64_t)(clock_boot_ns() - begun_ns) / 1000;
	return result;
}

/* Writes this host's row now and then. Its failure shows in the next trip. */
static void note_member(struct pg_store *pg)
{
	const struct store_claim *claim = pg->connection.options->claim;
	const int64_t now_ms = clock_boot_ms();

	if (!claim || now_ms < pg->member_ms)
		return;
	pg->member_ms = now_ms + STORE_MEMBER_MS;
	cell_note_member(&pg->connection, claim);
}

static enum status pg_vouch(struct store *store, int64_t oldest_ms)
{
	struct pg_store *pg = pg_of(store);

	note_member(pg);
	if (clock_boot_ms() - store->vouched_ms <= oldest_ms)
		return STATUS_OK;
	return commit_turn(pg, NULL) == SAVE_OK ? STATUS_OK : STATUS_IO;
}

/* ---- ranges and figures */

static enum status pg_scan(struct store *store, const struct store_range *range, store_visit *visit,
	void *context)
{
	struct pg_store *pg = pg_of(store);
	const int64_t deadline_ms = patience_end(pg);
	enum status status = STATUS_OK;
	struct pg_scan scan;

	if (store->lost)
		return STATUS_IO;
	scan_begin(&scan, range);
	while (!status && !scan.stopped) {
		const enum trip trip = scan_page(&scan, &pg->connection, visit, context, &status);

		if (trip != TRIP_DONE)
			status = read_again(pg, trip, deadline_ms);
		else if (!status && !pg->snapshot)
			status = pg_vouch(store, store->read_lease_ms);
	}
	scan_end(&scan);
	return status;
}

static void pg_figures(struct store *store, struct store_figures *figures)
{
	struct pg_store *pg = pg_of(store);

	figures_get(&pg->figures, &pg->connection, figures);
	figures_add(figures, "trip", FIGURE_US, (int64_t)store->save_us);
	figures_add(figures, "epoch", FIGURE_NUMBER, pg->cell.epoch);
	figures_add(figures, "turn", FIGURE_NUMBER, pg->cell.turn);
}

uint64_t pg_store_doubts(struct store *store)
{
	return pg_of(store)->figures.doubts;
}

static enum status pg_filled(struct store *store)
{
	return cell_filled(&pg_of(store)->connection, &pg_of(store)->cell);
}

/* ---- opening and closing */

static void release_store(struct pg_store *pg)
{
	connection_close(&pg->connection);
	batch_free(&pg->batch);
	served_close(&pg->served);
	free(pg);
}

static void pg_close(struct store *store)
{
	struct pg_store *pg = pg_of(store);

	if (!store->fenced && !pg->snapshot && pg->connection.conn)
		cell_release(&pg->connection, &pg->cell);
	release_store(pg);
}

static enum status claim_once(struct pg_store *pg, char *why, size_t why_size)
{
	const struct pg_options *options = pg->connection.options;
	/* Of data that begin anew, the marks of all hosts say nothing. */
	const bool anew = options->accept_older || options->fill;
	struct store_cell seen;
	struct cell mark;
	enum status status = cell_read(&pg->connection, &seen, why, why_size);

	if (status == STATUS_NOT_FOUND)
		status = STATUS_CONFIG;
	if (!status && !anew)
		status = served_check(&pg->served, options, seen.epoch, seen.turn, why, why_size);
	if (status == STATUS_BUSY)
		connection_pause(options, OLDER_PAUSE_MS);
	if (status)
		return status;
	/* Before the claim: a ledger that may make no tables leaves the data to the one that serves them. */
	status = cell_make_newer_tables(&pg->connection, seen.schema, why, why_size);
	if (status)
		return status;
	served_read(&pg->served, &mark);
	return cell_claim(&pg->connection, &pg->cell, anew ? &mark : NULL, why, why_size);
}

/*
 * Claims the cell, and waits for the proof that a standby has the claim. A claim in doubt is made again. If
 * it has happened meanwhile, the cell is no longer as the ledger saw it: the ledger stands by, sees a claim
 * of its own, and claims at once.
 */
static enum status claim_cell(struct pg_store *pg, char *why, size_t why_size)
{
	const struct pg_options *options = pg->connection.options;
	const int64_t deadline_ms = patience_end(pg);
	enum status status;
	bool doubt;

	if (options->durability == PG_QUORUM && options->server_count < 2) {
		snprintf(why, why_size,
			"postgresql_hosts names one server, so no standby can show that it has what is "
			"committed: name the standbys as well");
		return STATUS_CONFIG;
	}
	status = claim_once(pg, why, why_size);
	/* Another session may keep the lock of the row while it waits for the standbys. */
	doubt = !pg->connection.conn || strcmp(pg->connection.sqlstate, SQLSTATE_LOCKED) == 0;
	while (status == STATUS_IO && doubt && clock_boot_ms() < deadline_ms &&
		!connection_pause(options, ASK_PAUSE_MS)) {
		if (!pg->connection.conn && connection_open(&pg->connection, deadline_ms))
			break;
		status = claim_once(pg, why, why_size);
	}
	if (status)
		return status;
	pg->unproved = options->durability == PG_QUORUM;
	if (!prove_barrier(pg, deadline_ms, why, why_size))
		return STATUS_IO;
	served_note(&pg->served, &pg->cell);
	return STATUS_OK;
}

/* Returns why a statement of a raise changed nothing. */
static const char *raise_trouble(const struct pg_connection *connection)
{
	return connection->conn && !connection->sqlstate[0]
		? "another ledger claimed the data of these tables"
		: connection->why;
}

/*
 * Raises data of an older schema (store/recount.h). An interrupted raise is repeated by the next ledger that claims the
 * data. One of the older version may serve them in between, which does not know the new tables: so they are emptied first.
 */
static enum status raise_data(struct pg_store *pg, char *why, size_t why_size)
{
	struct pg_connection *connection = &pg->connection;
	enum status status;

	if (cell_empty_newer(connection, &pg->cell) != STATUS_OK) {
		snprintf(why, why_size, "cannot empty the new tables: %s",
			raise_trouble(connection));
		return STATUS_IO;
	}
	log_line(LOG_LEVEL_WARNING, "schema_raised", "from=%" PRId64 " to=%d", pg->cell.schema,
		STORE_SCHEMA);
	status = recount(&pg->store, (uint64_t)pg->cell.schema, why, why_size);
	if (status)
		return status;
	if (cell_raised(connection, &pg->cell) != STATUS_OK) {
		snprintf(why, why_size, "cannot raise the schema: %s", raise_trouble(connection));
		return STATUS_IO;
	}
	served_note(&pg->served, &pg->cell);
	return STATUS_OK;
}

static enum status open_cell(struct pg_store *pg, char *why, size_t why_size)
{
	struct pg_connection *connection = &pg->connection;
	/* A ledger that stands by looks again if the server went away meanwhile. */
	const int64_t deadline_ms = connection->options->claim
		? clock_boot_ms() + connection->options->trip_ms
		: patience_end(pg);
	enum status status = connection_open(connection, deadline_ms);

	if (status) {
		snprintf(why, why_size, "no server of the store takes writes: %s", connection->why);
		return status;
	}
	status = cell_check_server(connection, why, why_size);
	if (!status && connection->options->create)
		status = cell_create(connection, why, why_size);
	pg->store.vouched_ms = clock_boot_ms();
	if (!status)
		status = claim_cell(pg, why, why_size);
	pg->store.epoch = (uint64_t)pg->cell.epoch;
	pg->store.wall_ms = pg->cell.wall_ms;
	if (!status && batch_prepare(connection) != TRIP_DONE) {
		snprintf(why, why_size, "cannot prepare the statements: %s", connection->why);
		status = STATUS_IO;
	}
	if (!status && pg->cell.schema < STORE_SCHEMA)
		status = raise_data(pg, why, why_size);
	return status;
}

enum status pg_store_open(const struct pg_options *options, struct store **store, char *why,
	size_t why_size)
{
	struct pg_store *pg = calloc(1, sizeof(*pg));
	enum status status;

	if (!pg) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	pg->store = (struct store){.load = pg_load,
		.save = pg_save,
		.scan = pg_scan,
		.figures = pg_figures,
		.vouch = pg_vouch,
		.read_lease_ms = options->read_lease_ms,
		.filled = options->fill ? pg_filled : NULL,
		.close = pg_close};
	pg->connection.options = options;
	batch_init(&pg->batch);
	status = served_open(&pg->served, options->state_directory, true, why, why_size);
	if (!status)
		status = open_cell(pg, why, why_size);
	if (status) {
		release_store(pg);
		return status;
	}
	*store = &pg->store;
	return STATUS_OK;
}

enum status pg_snapshot_open(const struct pg_options *options, struct store **store, char *why,
	size_t why_size)
{
	struct pg_store *pg = calloc(1, sizeof(*pg));
	enum status status;

	if (!pg) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	pg->store = (struct store){.scan = pg_scan, .close = pg_close};
	pg->snapshot = true;
	pg->served.fd = -1;
	batch_init(&pg->batch);
	status = snapshot_open(&pg->connection, options, why, why_size);
	if (status)
		release_store(pg);
	else
		*store = &pg->store;
	return status;
}

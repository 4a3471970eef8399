/*
 * cell - the row that names the ledger that writes, and the number of its newest batch.
 *
 *     epoch    raised by each claim. Every statement that writes names it, so a replaced writer fails
 *     turn     raised by each batch, from n - 1 to n
 *     barrier  raised to learn the outcome of a batch: it waits for the quorum, as a batch does
 */
#ifndef STORE_PG_CELL_H
#define STORE_PG_CELL_H

#include "base/status.h"
#include "store/pg/connection.h"

#include <stddef.h>

struct cell {
	int64_t epoch;
	int64_t turn;
	int64_t barrier; /* the last one that was raised, as far as this store knows */
	int64_t wall_ms; /* of the newest batch */
	int64_t schema;  /* of the data, when the cell was claimed */
};

/*
 * Makes the tables and the row of an empty schema. If there are tables already, changes nothing. With
 * options->fill it then returns STATUS_CONFIG.
 */
enum status cell_create(struct pg_connection *connection, char *why, size_t why_size);

/* Refuses a server whose settings lose commits: STATUS_CONFIG with the remedy in @why. */
enum status cell_check_server(struct pg_connection *connection, char *why, size_t why_size);

/* Connects and reads the schema of the tables; there are none: STATUS_CONFIG. */
enum status cell_read_schema(const struct pg_options *options, uint64_t *schema, char *why,
	size_t why_size);

/*
 * Reads the row, refuses a newer schema and checks the installation. Returns STATUS_NOT_FOUND if there are no tables, or
 * the table cell has no row; or
 * STATUS_CONFIG or STATUS_IO, always with a reason in @why.
 */
enum status cell_read(struct pg_connection *connection, struct store_cell *cell, char *why,
	size_t why_size);

/*
 * Does what cell_read() does, and raises epoch and turn. @above: beyond what any host can have noted
 * (served.h) if this one noted @above; NULL: by one. Returns STATUS_BUSY if they are not those of
 * options->claim, because another store claimed or saved meanwhile.
 */
enum status cell_claim(struct pg_connection *connection, struct cell *cell,
	const struct cell *above, char *why, size_t why_size);

/* Ends the filling: from then on the cell can be claimed. */
enum status cell_filled(struct pg_connection *connection, const struct cell *cell);

/*
 * Makes the tables that were added after @schema, where they are missing. An older ledger that serves the data does not
 * notice. STATUS_CONFIG: only a superuser may make them.
 */
enum status cell_make_newer_tables(struct pg_connection *connection, int64_t schema, char *why,
	size_t why_size);

/*
 * Empties the tables that were added after the schema of the claimed cell. Afterwards the caller fills them, and calls
 * cell_raised(), which sets the schema of the cell. A ledger that was replaced changes nothing, and gets STATUS_IO.
 */
enum status cell_empty_newer(struct pg_connection *connection, const struct cell *cell);
enum status cell_raised(struct pg_connection *connection, struct cell *cell);

/* Leaves the cell to the next ledger, which need not wait. */
enum status cell_release(struct pg_connection *connection, const struct cell *cell);

/* Writes and reads the rows of the hosts. */
enum status cell_note_member(struct pg_connection *connection, const struct store_claim *claim);
enum status cell_members(struct pg_connection *connection, struct store_member *members,
	unsigned int *count);

/*
 * Prepares the statement that cell_add_turn() adds to a trip: it raises the turn, or makes the trip
 * fail with SQLSTATE_ZERO_DIVISOR if the epoch or the turn is another one.
 */
bool cell_prepare(struct pg_connection *connection);
bool cell_add_turn(struct pg_connection *connection, struct pg_params *params,
	const struct cell *cell, int64_t wall_ms);

enum cell_outcome {
	CELL_AS_BEFORE, /* the batch has not happened so far, and can be sent again */
	CELL_SAVED,     /* the batch happened, and the quorum has it */
	CELL_FENCED,    /* another store claimed the cell: this one must end */
	CELL_UNKNOWN,   /* no answer: connect and ask again */
};

/* Asks for the outcome of the batch that was to raise the turn of @cell. */
enum cell_outcome cell_barrier(struct pg_connection *connection, struct cell *cell);

#endif

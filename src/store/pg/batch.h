/* batch - loads and saves a working set, each in one round trip. */
#ifndef STORE_PG_BATCH_H
#define STORE_PG_BATCH_H

#include "store/pg/cell.h"
#include "store/store.h"

struct pg_batch {
	struct pg_params params;
	struct ws_row **rows; /* of one statement */
	const void **structs; /* the same: what the columns read */
	unsigned int room;
};

void batch_init(struct pg_batch *batch);
void batch_free(struct pg_batch *batch);

/* Prepares all statements, in one round trip. Returns the outcome of the trip. */
enum trip batch_prepare(struct pg_connection *connection);

/* Loads the rows of @ws that are wanted. *status is its result if the trip is TRIP_DONE. */
enum trip batch_load(struct pg_batch *batch, struct pg_connection *connection, struct ws *ws,
	enum status *status);

/*
 * Sends the dirty rows of @ws (NULL: none) and raises the turn. TRIP_FAILED with SQLSTATE "": the server wrote fewer
 * rows than it was sent, so that its rows are not those that this store saved.
 */
enum trip batch_save(struct pg_batch *batch, struct pg_connection *connection,
	const struct cell *cell, int64_t wall_ms, const struct ws *ws);

#endif

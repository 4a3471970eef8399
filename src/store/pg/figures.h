/*
 * figures - the measures of the store, and the values that it reads from the server now and then.
 */
#ifndef STORE_PG_FIGURES_H
#define STORE_PG_FIGURES_H

#include "store/figures.h"
#include "store/pg/connection.h"

struct pg_figures {
	uint64_t doubts;     /* batches that were in doubt */
	uint64_t reconnects; /* connections after the first */
	/* Of the server, read at most every 10 s: */
	int64_t boot_ms; /* when they were read; 0: never */
	struct store_figures sizes;
	int64_t copies; /* standbys that a commit may wait for; -1: the server hides them */
	int64_t lag;    /* bytes; -1: likewise */
};

/* Fills @figures with the sizes and these figures. A broken connection is left to the next batch. */
void figures_get(struct pg_figures *own, struct pg_connection *connection,
	struct store_figures *figures);
void figures_add(struct store_figures *figures, const char *name, enum figure_unit unit,
	int64_t value);

#endif

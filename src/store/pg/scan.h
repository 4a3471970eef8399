/* scan - reads the rows of a range, in pages. */
#ifndef STORE_PG_SCAN_H
#define STORE_PG_SCAN_H

#include "store/pg/connection.h"
#include "store/store.h"

struct pg_scan {
	const struct store_range *range;
	struct buffer after; /* the packed key to go on after; empty: from @range->after */
	unsigned int limit;  /* rows of the next page */
	bool stopped;        /* the visitor wants no more, or there are no more rows */
};

void scan_begin(struct pg_scan *scan, const struct store_range *range);
void scan_end(struct pg_scan *scan);

/*
 * Reads the next page and visits its rows. A trip in doubt has visited none of them. *status is its
 * result if the trip is TRIP_DONE.
 */
enum trip scan_page(struct pg_scan *scan, struct pg_connection *connection, store_visit *visit,
	void *context, enum status *status);

#endif

/* watch - looks at the cell for a ledger that stands by (store/servers.h). */
#ifndef STORE_PG_WATCH_H
#define STORE_PG_WATCH_H

#include "store/pg/options.h"
#include "store/servers.h"

/* Returns a watch without a connection, or NULL if memory is exhausted. @options outlives it. */
struct store_watch *watch_new(const struct pg_options *options);

#endif

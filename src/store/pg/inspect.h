/* inspect - asks each server about itself, for doctor. */
#ifndef STORE_PG_INSPECT_H
#define STORE_PG_INSPECT_H

#include "store/pg/options.h"
#include "store/servers.h"

/* Calls @take as store/servers.h describes. */
void pg_inspect(const struct pg_options *options, store_fact *take, void *context);

#endif

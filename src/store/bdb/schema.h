/*
 * schema - the version of the encoding (SCHEMA), which the data holds as the counter "schema".
 *
 * All take a store that is being opened, or just was, and write a sentence into @why when they fail:
 * STATUS_IO, STATUS_FULL, STATUS_CORRUPT, STATUS_NOMEM.
 */
#ifndef STORE_BDB_SCHEMA_H
#define STORE_BDB_SCHEMA_H

#include "store/store.h"

/* What the data is. STATUS_CORRUPT: it does not say. */
enum status schema_read(struct store *store, uint64_t *schema, char *why, size_t why_size);

/*
 * Writes ours into new data (@create), refuses data of a newer one (STATUS_CONFIG). Before any other
 * table is opened: a newer schema may have other ones.
 */
enum status schema_check(struct store *store, bool create, char *why, size_t why_size);

/*
 * Data of an older schema becomes data of ours, which an older creditbridge then refuses. All tables
 * are open.
 */
enum status schema_raise(struct store *store, char *why, size_t why_size);

#endif

/*
 * schema - the version of the encoding (SCHEMA), stored as the counter "schema".
 *
 * All functions take a store that is being opened or was just opened. On failure they write a
 * reason to @why and return STATUS_IO, STATUS_FULL, STATUS_CORRUPT or STATUS_NOMEM.
 */
#ifndef STORE_BDB_SCHEMA_H
#define STORE_BDB_SCHEMA_H

#include "store/store.h"

/* Reads the version of the data. Returns STATUS_CORRUPT if it is missing. */
enum status schema_read(struct store *store, uint64_t *schema, char *why, size_t why_size);

/*
 * Writes the current version into new data (@create) and refuses data of a newer one
 * (STATUS_CONFIG). Sets *number to the version of the data. Call it before opening other tables,
 * because another schema may have different ones.
 */
enum status schema_check(struct store *store, bool create, uint64_t *number, char *why,
	size_t why_size);

/*
 * Raises data of an older schema to the current one; an older creditbridge then refuses the data.
 * All tables must be open. If it is interrupted, the next call goes on: the counter "recount" says
 * that rows or sums are still to be computed.
 */
enum status schema_raise(struct store *store, char *why, size_t why_size);

#endif

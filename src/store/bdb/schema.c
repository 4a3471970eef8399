#include "store/bdb/schema.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_SCHEMA "the data has no schema: it is damaged; restore it"

/* The counter "schema" and the working set to change it. */
struct schema {
	struct ws *ws;
	const struct counter *stored; /* NULL: there is none */
};

/* Loads the counter. The caller closes @schema after any result. */
static enum status load_schema(struct schema *schema, struct store *store, char *why,
	size_t why_size)
{
	const struct counter key = {.name = "schema"};
	enum status status;

	schema->stored = NULL;
	schema->ws = ws_new();
	if (!schema->ws) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	ws_want(schema->ws, RECORD_COUNTER, &key);
	status = store->load(store, schema->ws);
	/* If memory was exhausted, the row was not read; this is not damage. */
	if (!status && ws_faulty(schema->ws))
		status = STATUS_NOMEM;
	if (status)
		snprintf(why, why_size, "cannot read the schema: %s", status_text(status));
	else
		schema->stored = ws_get(schema->ws, RECORD_COUNTER, &key);
	return status;
}

static void free_schema(struct schema *schema)
{
	ws_delete(schema->ws);
}

/* Saves the current version. */
static enum status save_schema(struct schema *schema, struct store *store, char *why,
	size_t why_size)
{
	const struct counter ours = {.name = "schema", .value = STORE_SCHEMA};
	enum save_result saved;

	if (schema->stored)
		ws_put(schema->ws, RECORD_COUNTER, &ours);
	else
		ws_append(schema->ws, RECORD_COUNTER, &ours);
	if (ws_faulty(schema->ws)) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	saved = store->save(store, schema->ws);
	if (saved == SAVE_OK)
		return STATUS_OK;
	snprintf(why, why_size, "cannot write the schema into the database");
	return saved == SAVE_FULL ? STATUS_FULL : STATUS_IO;
}

enum status schema_read(struct store *store, uint64_t *number, char *why, size_t why_size)
{
	struct schema schema;
	enum status status = load_schema(&schema, store, why, why_size);

	if (schema.stored) {
		*number = schema.stored->value;
	} else if (!status) {
		snprintf(why, why_size, NO_SCHEMA);
		status = STATUS_CORRUPT;
	}
	free_schema(&schema);
	return status;
}

enum status schema_check(struct store *store, bool create, char *why, size_t why_size)
{
	struct schema schema;
	enum status status = load_schema(&schema, store, why, why_size);

	if (schema.stored && schema.stored->value > STORE_SCHEMA) {
		snprintf(why, why_size,
			"the data was written by a newer creditbridge (schema %" PRIu64
			"; this one knows up to %d): install that version again",
			schema.stored->value, STORE_SCHEMA);
		status = STATUS_CONFIG;
	} else if (!status && !schema.stored && create) {
		status = save_schema(&schema, store, why, why_size);
	} else if (!status && !schema.stored) {
		snprintf(why, why_size, NO_SCHEMA);
		status = STATUS_CORRUPT;
	}
	free_schema(&schema);
	return status;
}

enum status schema_raise(struct store *store, char *why, size_t why_size)
{
	struct schema schema;
	enum status status = load_schema(&schema, store, why, why_size);

	if (schema.stored && schema.stored->value < STORE_SCHEMA) {
		/* Convert older rows here; so far no version needs it. */
		log_line(LOG_LEVEL_WARNING, "schema_raised", "from=%" PRIu64 " to=%d",
			schema.stored->value, STORE_SCHEMA);
		status = save_schema(&schema, store, why, why_size);
	}
	free_schema(&schema);
	return status;
}

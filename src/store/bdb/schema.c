#include "store/bdb/schema.h"

#include "base/log.h"
#include "store/recount.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_SCHEMA "the data has no schema: it is damaged; restore it"

/* This counter exists from the raise of the schema until recount() has computed the sums. */
static const struct counter recount_due = {.name = "recount", .value = 1};

/* The counter "schema" and the working set to change it. */
struct schema {
	struct ws *ws;
	const struct counter *stored; /* NULL: there is none */
	bool recount_due;
};

/* Loads the counter. The caller closes @schema after any result. */
static enum status load_schema(struct schema *schema, struct store *store, char *why,
	size_t why_size)
{
	const struct counter key = {.name = "schema"};
	enum status status;

	schema->stored = NULL;
	schema->recount_due = false;
	schema->ws = ws_new();
	if (!schema->ws) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	ws_want(schema->ws, RECORD_COUNTER, &key);
	ws_want(schema->ws, RECORD_COUNTER, &recount_due);
	status = store->load(store, schema->ws);
	/* If memory was exhausted, the row was not read; this is not damage. */
	if (!status && ws_faulty(schema->ws))
		status = STATUS_NOMEM;
	if (status) {
		snprintf(why, why_size, "cannot read the schema: %s", status_text(status));
		return status;
	}
	schema->stored = ws_get(schema->ws, RECORD_COUNTER, &key);
	schema->recount_due = ws_get(schema->ws, RECORD_COUNTER, &recount_due);
	return STATUS_OK;
}

static void free_schema(struct schema *schema)
{
	ws_delete(schema->ws);
}

/* Saves @ws, which holds a change of the schema. */
static enum status save_change(struct ws *ws, struct store *store, char *why, size_t why_size)
{
	enum save_result saved;

	if (ws_faulty(ws)) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	saved = store->save(store, ws);
	if (saved == SAVE_OK)
		return STATUS_OK;
	snprintf(why, why_size, "cannot write the schema into the database");
	return saved == SAVE_FULL ? STATUS_FULL : STATUS_IO;
}

/* Saves the current version, and with @recounts that the sums are still to be computed. */
static enum status save_schema(struct schema *schema, bool recounts, struct store *store, char *why,
	size_t why_size)
{
	const struct counter ours = {.name = "schema", .value = STORE_SCHEMA};

	if (schema->stored)
		ws_put(schema->ws, RECORD_COUNTER, &ours);
	else
		ws_append(schema->ws, RECORD_COUNTER, &ours);
	if (recounts)
		ws_append(schema->ws, RECORD_COUNTER, &recount_due);
	return save_change(schema->ws, store, why, why_size);
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

enum status schema_check(struct store *store, bool create, uint64_t *number, char *why,
	size_t why_size)
{
	struct schema schema;
	enum status status = load_schema(&schema, store, why, why_size);

	*number = schema.stored ? schema.stored->value : STORE_SCHEMA;
	if (schema.stored && schema.stored->value > STORE_SCHEMA) {
		snprintf(why, why_size,
			"the data was written by a newer creditbridge (schema %" PRIu64
			"; this one knows up to %d): install that version again",
			schema.stored->value, STORE_SCHEMA);
		status = STATUS_CONFIG;
	} else if (!status && !schema.stored && create) {
		status = save_schema(&schema, false, store, why, why_size);
	} else if (!status && !schema.stored) {
		snprintf(why, why_size, NO_SCHEMA);
		status = STATUS_CORRUPT;
	}
	free_schema(&schema);
	return status;
}

/* Computes the sums and records that they are complete. An interrupted call is repeated. */
static enum status finish_recount(struct schema *schema, struct store *store, char *why,
	size_t why_size)
{
	enum status status = recount(store, why, why_size);

	if (status)
		return status;
	ws_reset(schema->ws);
	ws_want(schema->ws, RECORD_COUNTER, &recount_due);
	status = store->load(store, schema->ws);
	if (status) {
		snprintf(why, why_size, "cannot read the schema: %s", status_text(status));
		return status;
	}
	ws_drop(schema->ws, RECORD_COUNTER, &recount_due);
	return save_change(schema->ws, store, why, why_size);
}

enum status schema_raise(struct store *store, char *why, size_t why_size)
{
	struct schema schema;
	enum status status = load_schema(&schema, store, why, why_size);
	bool recounts = schema.recount_due;

	if (!status && schema.stored && schema.stored->value < STORE_SCHEMA) {
		/*
		 * The schema is saved before any row of it: an older program then refuses the data
		 * because of their schema, and does not take a newer row for damage.
		 */
		recounts = schema.stored->value < RECOUNT_SCHEMA;
		log_line(LOG_LEVEL_WARNING, "schema_raised", "from=%" PRIu64 " to=%d",
			schema.stored->value, STORE_SCHEMA);
		status = save_schema(&schema, recounts, store, why, why_size);
	}
	if (!status && recounts)
		status = finish_recount(&schema, store, why, why_size);
	free_schema(&schema);
	return status;
}

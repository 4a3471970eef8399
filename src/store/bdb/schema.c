#include "store/bdb/schema.h"

#include "base/log.h"
#include "store/recount.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_SCHEMA "the data has no schema: it is damaged; restore it"

/*
 * This counter exists from the raise of the schema until recount() is done. Its value is the schema before the raise;
 * 1 is also that of schema 2, as the program of schema 3 wrote it.
 */
static const struct counter recount_key = {.name = "recount"};

/* The counter "schema" and the working set to change it. */
struct schema {
	struct ws *ws;
	const struct counter *stored;  /* NULL: there is none */
	const struct counter *recount; /* NULL: there is none */
};

/* Loads the counter. The caller closes @schema after any result. */
static enum status load_schema(struct schema *schema, struct store *store, char *why,
	size_t why_size)
{
	const struct counter key = {.name = "schema"};
	enum status status;

	schema->stored = NULL;
	schema->recount = NULL;
	schema->ws = ws_new();
	if (!schema->ws) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	ws_want(schema->ws, RECORD_COUNTER, &key);
	ws_want(schema->ws, RECORD_COUNTER, &recount_key);
	status = store->load(store, schema->ws);
	/* If memory was exhausted, the row was not read; this is not damage. */
	if (!status && ws_faulty(schema->ws))
		status = STATUS_NOMEM;
	if (status) {
		snprintf(why, why_size, "cannot read the schema: %s", status_text(status));
		return status;
	}
	schema->stored = ws_get(schema->ws, RECORD_COUNTER, &key);
	schema->recount = ws_get(schema->ws, RECORD_COUNTER, &recount_key);
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

/* Saves the current version. @lacks: the data are of that schema until recount() is done; 0: they lack nothing. */
static enum status save_schema(struct schema *schema, uint64_t lacks, struct store *store,
	char *why, size_t why_size)
{
	const struct counter ours = {.name = "schema", .value = STORE_SCHEMA};
	struct counter due = recount_key;

	if (schema->stored)
		ws_put(schema->ws, RECORD_COUNTER, &ours);
	else
		ws_append(schema->ws, RECORD_COUNTER, &ours);
	due.value = lacks;
	if (lacks)
		ws_put(schema->ws, RECORD_COUNTER, &due);
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
		status = save_schema(&schema, 0, store, why, why_size);
	} else if (!status && !schema.stored) {
		snprintf(why, why_size, NO_SCHEMA);
		status = STATUS_CORRUPT;
	}
	free_schema(&schema);
	return status;
}

/* Computes what data of schema @lacks lack, and records that it is complete. An interrupted call is repeated. */
static enum status finish_recount(struct schema *schema, uint64_t lacks, struct store *store,
	char *why, size_t why_size)
{
	enum status status = recount(store, lacks, why, why_size);

	if (status)
		return status;
	ws_reset(schema->ws);
	ws_want(schema->ws, RECORD_COUNTER, &recount_key);
	status = store->load(store, schema->ws);
	if (status) {
		snprintf(why, why_size, "cannot read the schema: %s", status_text(status));
		return status;
	}
	ws_drop(schema->ws, RECORD_COUNTER, &recount_key);
	return save_change(schema->ws, store, why, why_size);
}

enum status schema_raise(struct store *store, char *why, size_t why_size)
{
	struct schema schema;
	enum status status = load_schema(&schema, store, why, why_size);
	uint64_t lacks = schema.recount ? schema.recount->value : 0;

	if (!status && schema.stored && schema.stored->value < STORE_SCHEMA) {
		/*
		 * The schema is saved before any row of it: an older program then refuses the data
		 * because of their schema, and does not take a newer row for damage.
		 */
		if (!lacks)
			lacks = schema.stored->value ? schema.stored->value : 1;
		log_line(LOG_LEVEL_WARNING, "schema_raised", "from=%" PRIu64 " to=%d",
			schema.stored->value, STORE_SCHEMA);
		status = save_schema(&schema, lacks, store, why, why_size);
	}
	if (!status && lacks)
		status = finish_recount(&schema, lacks, store, why, why_size);
	free_schema(&schema);
	return status;
}

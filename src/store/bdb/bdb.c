/*
 * bdb - the store on Berkeley DB: load, save and scan.
 *
 * One environment belongs to this process and to no other (DB_PRIVATE). It is recovered when it is
 * opened. Each row kind has one btree, in the file NAME.db. See SCHEMA beside this file for the
 * encoding, and env/fatal.h for failures that end the process.
 */
#include "store/servers.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"
#include "store/bdb/backup/backup.h"
#include "store/bdb/env/env.h"
#include "store/bdb/env/log_prealloc.h"
#include "store/bdb/row_cache.h"
#include "store/bdb/schema.h"
#include "store/bdb/split_row.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest encoded row holds a request's body of 64 KiB. */
#define ROW_MAX (160 * 1024)

struct bdb_store {
	struct store store;
	struct bdb_env bdb;
	struct bdb_maintain maintain;
	struct log_prealloc prealloc;
	struct bdb_backup backup;
	struct row_cache cache;
	struct buffer row; /* the value being written */
	uint8_t value[ROW_MAX];
	uint8_t key[ROW_MAX];
	uint8_t object[ROW_MAX]; /* the value of an object, which completes a head (split_row.h) */
	uint8_t object_key[ROW_MAX + 1];
};

static struct bdb_store *bdb_of(struct store *store)
{
	return (struct bdb_store *)((char *)store - offsetof(struct bdb_store, store));
}

static DBT borrowed_dbt(const void *data, size_t len)
{
	DBT dbt = {.data = (void *)(uintptr_t)data, .size = (u_int32_t)len};

	return dbt;
}

static DBT dbt_buffer(uint8_t *memory)
{
	DBT dbt = {.data = memory, .ulen = ROW_MAX, .flags = DB_DBT_USERMEM};

	return dbt;
}

/* Decodes a value into @row, whose key members are set. */
static enum status decode_value(enum record record, const DBT *value, void *row)
{
	const struct record_info *info = &record_infos[record];
	struct bytes in = {value->data, value->size};
	const struct field *fields = in.len ? record_fields_of(record, in.data[0]) : NULL;

	if (!fields) {
		log_line(LOG_LEVEL_ERROR, "row_damaged", "table=%s reason=version", info->name);
		return STATUS_CORRUPT;
	}
	in.data++;
	in.len--;
	if (!unpack_record(&in, fields + info->key_count, row) || in.len) {
		log_line(LOG_LEVEL_ERROR, "row_damaged", "table=%s reason=encoding", info->name);
		return STATUS_CORRUPT;
	}
	record_complete(record, ((const uint8_t *)value->data)[0], row);
	return STATUS_OK;
}

/* Returns the key of the object that belongs to the head at @key. */
static DBT object_key(struct bdb_store *bdb, const DBT *key)
{
	DBT found = {.data = bdb->object_key,
		.size = key->size + 1,
		.ulen = sizeof(bdb->object_key),
		.flags = DB_DBT_USERMEM};

	CHECK(key->size < sizeof(bdb->object_key));
	memcpy(bdb->object_key, key->data, key->size);
	bdb->object_key[key->size] = 0;
	return found;
}

static enum status damaged_object(enum record record)
{
	log_line(LOG_LEVEL_ERROR, "row_damaged", "table=%s reason=object",
		record_infos[record].name);
	return STATUS_CORRUPT;
}

/* Completes @value if it is a head. Its memory has ROW_MAX bytes. */
static enum status complete_head(struct bdb_store *bdb, enum record record, const DBT *key,
	DBT *value)
{
	DB *table = bdb->bdb.tables[record];
	DBT at, object = dbt_buffer(bdb->object);
	int error;

	if (!split_is_head((struct bytes){value->data, value->size}))
		return STATUS_OK;
	at = object_key(bdb, key);
	error = table->get(table, NULL, &at, &object, 0);
	if (error && error != DB_NOTFOUND) {
		log_line(LOG_LEVEL_ERROR, "read_failed", "table=%s error=\"%s\"",
			record_infos[record].name, db_strerror(error));
		return bdb_status(error);
	}
	if (error ||
		!split_join(value->data, &value->size, ROW_MAX,
			(struct bytes){object.data, object.size}))
		return damaged_object(record);
	return STATUS_OK;
}

/* Completes @value, or leaves out its object if no command needs it. */
static enum status complete_as_wanted(struct bdb_store *bdb, struct ws_row *row, const DBT *key,
	DBT *value)
{
	row->left_out = 0;
	if (!row->without_object || !split_is_head((struct bytes){value->data, value->size}))
		return complete_head(bdb, row->record, key, value);
	row->left_out = split_leave_out(value->data, &value->size);
	return row->left_out ? STATUS_OK : damaged_object(row->record);
}

/* Records which part of a loaded row is stored separately; none if the row was whole. */
static void note_object(struct ws_row *row, bool was_head)
{
	CHECK(row->state == WS_LOADED);
	if (was_head)
		row->apart = split_object_of(row->record, row->data);
}

static enum status read_row(struct bdb_store *bdb, struct ws *ws, struct ws_row *row)
{
	DB *table = bdb->bdb.tables[row->record];
	DBT key = borrowed_dbt(row->key, row->key_len), value = dbt_buffer(bdb->value);
	enum status status;
	bool is_head;
	void *data;
	int error;

	/* A table with its own order returns the key that it found: the same bytes. */
	key.flags = DB_DBT_USERMEM;
	key.ulen = key.size;
	error = table->get(table, NULL, &key, &value, 0);
	if (error == DB_NOTFOUND) {
		ws_row_absent(row);
		return STATUS_OK;
	}
	if (error) {
		log_line(LOG_LEVEL_ERROR, "read_failed", "table=%s error=\"%s\"",
			record_infos[row->record].name, db_strerror(error));
		return bdb_status(error);
	}
	is_head = split_is_head((struct bytes){value.data, value.size});
	status = complete_as_wanted(bdb, row, &key, &value);
	if (status)
		return status;
	data = ws_row_fill(ws, row);
	if (!data)
		return STATUS_NOMEM;
	status = decode_value(row->record, &value, data);
	if (!status) {
		ws_row_loaded(ws, row);
		note_object(row, is_head);
		row_cache_update(&bdb->cache, row);
	}
	return status;
}

static enum status load_row(struct bdb_store *bdb, struct ws *ws, struct ws_row *row)
{
	const void *cached = row_cache_find(&bdb->cache, row);
	void *data;

	if (!cached)
		return read_row(bdb, ws, row);
	data = ws_row_fill(ws, row);
	if (!data)
		return STATUS_NOMEM;
	memcpy(data, cached, record_infos[row->record].size);
	ws_row_loaded(ws, row);
	return STATUS_OK;
}

static enum status bdb_load(struct store *store, struct ws *ws)
{
	enum status status = STATUS_OK;

	for (struct ws_row *row = ws->first_wanted; row && !status; row = row->next) {
		if (row->state == WS_WANTED)
			status = load_row(bdb_of(store), ws, row);
		CHECK(status || row->state != WS_WANTED);
	}
	if (!status)
		ws->first_wanted = NULL;
	return status;
}

static int delete_key(DB *table, DB_TXN *txn, DBT *key)
{
	int error = table->del(table, txn, key, 0);

	return error == DB_NOTFOUND ? 0 : error;
}

/* Writes @object as the separate part of @row, or deletes that part if @object is empty. */
static int put_object(struct bdb_store *bdb, DB_TXN *txn, const struct ws_row *row, DBT *key,
	struct bytes object)
{
	static const uint8_t mark = SPLIT_OBJECT;
	DB *table = bdb->bdb.tables[row->record];
	const struct bytes *apart = &row->apart;
	DBT at, value;

	if (object.len == apart->len &&
		(!object.len || memcmp(object.data, apart->data, object.len) == 0))
		return 0;
	at = object_key(bdb, key);
	if (!object.len)
		return delete_key(table, txn, &at);
	buffer_reset(&bdb->row);
	buffer_append(&bdb->row, &mark, 1);
	if (!buffer_append(&bdb->row, object.data, object.len))
		return ENOMEM;
	value = borrowed_dbt(bdb->row.data, bdb->row.len);
	return table->put(table, txn, &at, &value, row->appended ? DB_NOOVERWRITE : 0);
}

static int put_row(struct bdb_store *bdb, DB_TXN *txn, const struct ws_row *row)
{
	DB *table = bdb->bdb.tables[row->record];
	DBT key = borrowed_dbt(row->key, row->key_len), value;
	struct bytes object = {NULL, 0};
	int error;

	ws_row_check_save(row);
	if (row->dropped) {
		error = delete_key(table, txn, &key);
	} else {
		if (!split_pack(&bdb->row, row->record, row->data, row->left_out, &object))
			return ENOMEM;
		value = borrowed_dbt(bdb->row.data, bdb->row.len);
		error = table->put(table, txn, &key, &value, row->appended ? DB_NOOVERWRITE : 0);
	}
	return error || row->left_out ? error : put_object(bdb, txn, row, &key, object);
}

/* Aborts the transaction after a step before the commit failed, and maps the error. */
static enum save_result abort_save(DB_TXN *txn, int error)
{
	int aborted = txn->abort(txn);

	if (aborted || (error != ENOSPC && error != EDQUOT && error != DB_KEYEXIST))
		log_line(LOG_LEVEL_ERROR, "save_failed", "error=\"%s\" abort=\"%s\"",
			db_strerror(error), db_strerror(aborted));
	if (aborted) {
		bdb_status(aborted);
		return SAVE_LOST;
	}
	if (error == DB_KEYEXIST || error == ENOMEM)
		return SAVE_FAULT;
	return bdb_status(error) == STATUS_FULL ? SAVE_FULL : SAVE_LOST;
}

/* Updates the row cache with the saved rows, which the next load must find. */
static void update_row_cache(struct bdb_store *bdb, const struct ws *ws)
{
	for (const struct ws_row *row = ws->first; row; row = row->next) {
		if (row->dirty)
			row_cache_update(&bdb->cache, row);
	}
}

static enum save_result bdb_save(struct store *store, struct ws *ws)
{
	struct bdb_store *bdb = bdb_of(store);
	int64_t begun_ns = clock_boot_ns();
	DB_TXN *txn;
	int error;

	ws_check_save(ws);
	if (!ws->dirty)
		return SAVE_OK;
	error = bdb->bdb.env->txn_begin(bdb->bdb.env, NULL, &txn, DB_TXN_SYNC);
	if (error) {
		bdb_status(error);
		return SAVE_LOST;
	}
	for (const struct ws_row *row = ws->first; row; row = row->next) {
		if (!row->dirty)
			continue;
		error = put_row(bdb, txn, row);
		if (error)
			return abort_save(txn, error);
	}
	error = txn->commit(txn, 0);
	/*
	 * If the log switched to its next file after this commit and that failed, libdb 5.3 treats
	 * the commit as flushed: it compares only the file numbers. This flush costs no sync in
	 * other cases.
	 */
	if (!error)
		error = bdb->bdb.env->log_flush(bdb->bdb.env, NULL);
	store->save_us = (uint64_t)(clock_boot_ns() - begun_ns) / 1000;
	if (!error) {
		store_wait_if_halting();
		update_row_cache(bdb, ws);
		return SAVE_OK;
	}
	/* Unknown outcome: the log may hold the commit. */
	log_line(LOG_LEVEL_ERROR, "commit_failed", "error=\"%s\"", db_strerror(error));
	bdb_status(error);
	return SAVE_LOST;
}

static bool has_prefix(const DBT *key, struct bytes prefix)
{
	return key->size >= prefix.len &&
		(!prefix.len || memcmp(key->data, prefix.data, prefix.len) == 0);
}

/*
 * Changes @key in place to the first key after all keys with this prefix. Returns false if there
 * is none.
 */
static bool next_after_prefix(uint8_t *key, u_int32_t *len)
{
	while (*len) {
		if (key[*len - 1] != 0xff) {
			key[*len - 1]++;
			return true;
		}
		(*len)--;
	}
	return false;
}

/* Moves the cursor to the range's first row. */
static int seek_range(struct bdb_store *bdb, DBC *cursor, const struct store_range *range, DBT *key,
	DBT *value)
{
	struct bytes from = range->after.len ? range->after : range->prefix;
	bool bounded;
	int error;

	if (from.len > ROW_MAX)
		return EINVAL;
	if (from.len)
		memcpy(bdb->key, from.data, from.len);
	key->size = from.len;
	if (!range->reverse) {
		error = cursor->get(cursor, key, value, DB_SET_RANGE);
		if (!error && range->after.len && key->size == from.len &&
			memcmp(key->data, from.data, from.len) == 0)
			error = cursor->get(cursor, key, value, DB_NEXT);
		return error;
	}
	/* The last row before @after, or before the first key after the prefix. */
	bounded = range->after.len || next_after_prefix(bdb->key, &key->size);
	error = bounded && key->size ? cursor->get(cursor, key, value, DB_SET_RANGE) : DB_NOTFOUND;
	if (error && error != DB_NOTFOUND)
		return error;
	return cursor->get(cursor, key, value, error ? DB_LAST : DB_PREV);
}

static enum status visit_row(struct bdb_store *bdb, const struct store_range *range, const DBT *key,
	DBT *value, store_visit *visit, void *context, bool *go_on)
{
	const struct record_info *info = &record_infos[range->record];
	struct bytes key_bytes = {key->data, key->size}, in = key_bytes;
	enum status status = STATUS_NOMEM;
	void *row = calloc(1, info->size);

	if (!row)
		return STATUS_NOMEM;
	status = unpack_key(&in, info->fields, info->key_count, row) ? STATUS_OK : STATUS_CORRUPT;
	if (!status)
		status = complete_head(bdb, range->record, key, value);
	if (!status)
		status = decode_value(range->record, value, row);
	if (!status)
		*go_on = visit(context, key_bytes, row);
	free(row);
	return status;
}

static enum status bdb_scan(struct store *store, const struct store_range *range,
	store_visit *visit, void *context)
{
	struct bdb_store *bdb = bdb_of(store);
	DB *table = bdb->bdb.tables[range->record];
	DBT key = dbt_buffer(bdb->key), value = dbt_buffer(bdb->value);
	enum status status = STATUS_OK;
	bool go_on = true;
	DBC *cursor;
	int error = table->cursor(table, NULL, &cursor, 0);

	if (error)
		return bdb_status(error);
	error = seek_range(bdb, cursor, range, &key, &value);
	while (!error && !status && go_on && has_prefix(&key, range->prefix)) {
		if (!split_is_object(range->record, (struct bytes){value.data, value.size}))
			status = visit_row(bdb, range, &key, &value, visit, context, &go_on);
		if (!status && go_on)
			error = cursor->get(cursor, &key, &value,
				range->reverse ? DB_PREV : DB_NEXT);
	}
	cursor->close(cursor);
	if (error && error != DB_NOTFOUND) {
		log_line(LOG_LEVEL_ERROR, "scan_failed", "table=%s error=\"%s\"",
			record_infos[range->record].name, db_strerror(error));
		return bdb_status(error);
	}
	return status;
}

static uint32_t bdb_part_before(struct store *store, enum record record, struct bytes key)
{
	struct bdb_store *bdb = bdb_of(store);
	DB *table = bdb->bdb.tables[record];
	DBT dbt = dbt_buffer(bdb->key);
	DB_KEY_RANGE range;

	if (key.len > ROW_MAX)
		return 0;
	memcpy(bdb->key, key.data, key.len);
	dbt.size = key.len;
	if (table->key_range(table, NULL, &dbt, &range, 0))
		return 0;
	return (uint32_t)(range.less * 1000000);
}

static void bdb_figures(struct store *store, struct store_figures *figures)
{
	struct bdb_maintain *maintain = &bdb_of(store)->maintain;

	memset(figures, 0, sizeof(*figures));
	figures->log_bytes = atomic_load(&maintain->log_bytes);
	figures->checkpoints = atomic_load(&maintain->checkpoints);
	for (unsigned int i = 0; i < RECORD_COUNT; i++)
		figures->table_bytes[i] = atomic_load(&maintain->table_bytes[i]);
	bdb_backup_figures(&bdb_of(store)->backup, figures);
}

static enum status bdb_backup(struct store *store, const struct backup_options *options)
{
	return bdb_backup_start(&bdb_of(store)->backup, options);
}

static void bdb_progress(struct store *store, const char *id, struct backup_progress *progress)
{
	bdb_backup_progress(&bdb_of(store)->backup, id, progress);
}

static void bdb_close(struct store *store)
{
	struct bdb_store *bdb = bdb_of(store);
	int error;

	if (!bdb_backup_end(&bdb->backup)) {
		log_line(LOG_LEVEL_ERROR, "backup_hangs", "directory=%s action=exit",
			bdb->backup.directory);
		store_end_process(STORE_EXIT_LOST);
	}
	bdb_maintain_stop(&bdb->maintain);
	log_prealloc_stop(&bdb->prealloc);
	error = bdb->bdb.env->txn_checkpoint(bdb->bdb.env, 0, 0, DB_FORCE);
	if (error)
		log_line(LOG_LEVEL_ERROR, "checkpoint_failed", "error=\"%s\"", db_strerror(error));
	bdb_env_close(&bdb->bdb);
	buffer_free(&bdb->row);
	row_cache_free(&bdb->cache);
	free(bdb);
}

enum status store_read_schema(const struct store_options *options, uint64_t *schema, char *why,
	size_t why_size)
{
	struct bdb_store *bdb;
	enum status status;

	if (options->servers)
		return store_servers_read_schema(options, schema, why, why_size);
	bdb = calloc(1, sizeof(*bdb));
	if (!bdb)
		return STATUS_NOMEM;
	bdb->store = (struct store){.load = bdb_load};
	buffer_init(&bdb->row, ROW_MAX);
	status = bdb_env_open(&bdb->bdb, options, why, why_size);
	if (!status)
		status = schema_read(&bdb->store, schema, why, why_size);
	bdb_env_close(&bdb->bdb);
	buffer_free(&bdb->row);
	row_cache_free(&bdb->cache);
	free(bdb);
	return status;
}

enum status store_open(const struct store_options *options, struct store **store, char *why,
	size_t why_size)
{
	struct bdb_store *bdb;
	uint64_t schema = STORE_SCHEMA;
	enum status status;

	if (options->servers)
		return store_servers_open(options, store, why, why_size);
	bdb = calloc(1, sizeof(*bdb));
	if (!bdb) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	bdb->store = (struct store){
		.load = bdb_load,
		.save = bdb_save,
		.scan = bdb_scan,
		.part_before = bdb_part_before,
		.figures = bdb_figures,
		.backup = bdb_backup,
		.backup_progress = bdb_progress,
		.close = bdb_close,
	};
	buffer_init(&bdb->row, ROW_MAX);
	status = bdb_env_open(&bdb->bdb, options, why, why_size);
	if (!status)
		status = schema_check(&bdb->store, options->create, &schema, why, why_size);
	if (!status)
		status = bdb_env_open_tables(&bdb->bdb, options, schema, why, why_size);
	/* Also for the raise: it may write millions of rows, and checkpoints remove their log. */
	if (!status &&
		((options->prepare_log &&
			 !log_prealloc_start(&bdb->prealloc, options->directory,
				 options->low_water_bytes)) ||
			!bdb_maintain_start(&bdb->maintain, bdb->bdb.env, options))) {
		snprintf(why, why_size, "cannot start the threads of the database");
		status = STATUS_NOMEM;
	}
	if (!status) {
		status = schema_raise(&bdb->store, why, why_size);
		if (status)
			bdb_maintain_stop(&bdb->maintain);
	}
	/* Any read can meet damage; the schema row lies on a page, too. */
	if (status && bdb_met_damage())
		status = STATUS_CORRUPT;
	if (status) {
		log_prealloc_stop(&bdb->prealloc);
		/* Write no checkpoint: data that was refused stays unchanged. */
		bdb_env_close(&bdb->bdb);
		buffer_free(&bdb->row);
		row_cache_free(&bdb->cache);
		free(bdb);
		return status;
	}
	bdb_backup_init(&bdb->backup, bdb->bdb.env, &bdb->maintain,
		options->installation ? options->installation : "-");
	bdb_end_with_libdb(options->ends);
	*store = &bdb->store;
	return STATUS_OK;
}

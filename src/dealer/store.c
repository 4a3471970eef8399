/* The only file of the dealer that uses Berkeley DB. */
#include "dealer/store.h"

#include "base/log.h"
#include "base/pack.h"
#include "base/text.h"
#include "state/directory.h"

#include <db.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROW_MAX        1024
#define LOG_FILE_SIZE  (4 * 1024 * 1024)
#define CHECKPOINT_KIB 4096
#define LOCK_WAIT_MS   5000

const struct field dealer_user_fields[] = {
	FIELD(FIELD_STR, dealer_user, user_id),
	FIELD(FIELD_MONEY, dealer_user, balance),
	FIELD(FIELD_MONEY, dealer_user, granted),
	FIELD_END,
};
const struct field dealer_transaction_fields[] = {
	FIELD(FIELD_U64, dealer_transaction, transaction_id),
	FIELD_NAMED(dealer_transaction, state, dealer_state_names, DEALER_STATE_COUNT),
	FIELD(FIELD_STR, dealer_transaction, user_id),
	FIELD(FIELD_STR, dealer_transaction, game_id),
	FIELD(FIELD_MONEY, dealer_transaction, amount),
	FIELD_NAMED(dealer_transaction, result, dealer_outcome_names, DEALER_OUTCOME_COUNT),
	FIELD_END,
};
const struct field dealer_event_fields[] = {
	FIELD(FIELD_STR, dealer_event, webhook_id),
	FIELD_NAMED(dealer_event, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_U64, dealer_event, transaction_id),
	FIELD_NAMED(dealer_event, result, dealer_outcome_names, DEALER_OUTCOME_COUNT),
	FIELD(FIELD_U64, dealer_event, calls),
	FIELD_END,
};

/* The first field of each table is the key. */
static const struct {
	const char *file;
	const struct field *fields;
} tables[STORE_TABLE_COUNT] = {
	[STORE_USER] = {"user.db", dealer_user_fields},
	[STORE_TRANSACTION] = {"transaction.db", dealer_transaction_fields},
	[STORE_EVENT] = {"event.db", dealer_event_fields},
};

struct dealer_store {
	DB_ENV *env;
	DB *tables[STORE_TABLE_COUNT];
	int lock_fd;
	money_t opening_balance;
};

/* Reports and translates all of libdb's errors. */
static enum status result_of(int error, const char *what)
{
	if (!error)
		return STATUS_OK;
	log_line(LOG_LEVEL_ERROR, what, "error=\"%s\"", db_strerror(error));
	return STATUS_IO;
}

static int open_tables(struct dealer_store *store, const char *directory)
{
	int error = db_env_create(&store->env, 0);

	if (!error)
		error = store->env->set_lg_max(store->env, LOG_FILE_SIZE);
	if (!error)
		error = store->env->log_set_config(store->env, DB_LOG_AUTO_REMOVE, 1);
	if (!error)
		error = store->env->open(store->env, directory,
			DB_PRIVATE | DB_INIT_TXN | DB_INIT_LOG | DB_INIT_MPOOL | DB_CREATE |
				DB_RECOVER,
			0600);
	for (unsigned int i = 0; i < STORE_TABLE_COUNT && !error; i++) {
		error = db_create(&store->tables[i], store->env, 0);
		if (!error)
			error = store->tables[i]->open(store->tables[i], NULL, tables[i].file, NULL,
				DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0600);
	}
	return error;
}

struct dealer_store *dealer_store_open(const char *directory, money_t opening_balance, char *why,
	size_t why_size)
{
	struct dealer_store *store = calloc(1, sizeof(*store));
	int error;

	if (!store || (mkdir(directory, 0700) < 0 && errno != EEXIST)) {
		snprintf(why, why_size, "%s: %s", directory, strerror(errno));
		free(store);
		return NULL;
	}
	store->opening_balance = opening_balance;
	store->lock_fd = state_dir_lock(directory, LOCK_WAIT_MS, why, why_size);
	if (store->lock_fd < 0) {
		free(store);
		return NULL;
	}
	error = open_tables(store, directory);
	if (!error)
		return store;
	snprintf(why, why_size, "%s: %s", directory, db_strerror(error));
	store_close(store);
	return NULL;
}

void store_close(struct dealer_store *store)
{
	for (unsigned int i = 0; i < STORE_TABLE_COUNT; i++) {
		if (store->tables[i])
			store->tables[i]->close(store->tables[i], 0);
	}
	if (store->env)
		store->env->close(store->env, 0);
	close(store->lock_fd);
	free(store);
}

static DBT borrowed(const struct buffer *buffer)
{
	DBT dbt = {.data = buffer->data, .size = (u_int32_t)buffer->len};

	return dbt;
}

/* Fills @record, whose key is set. Returns DB_NOTFOUND if there is no such row. */
static int row_get(struct dealer_store *store, enum store_table table, void *record)
{
	DB *db = store->tables[table];
	struct buffer key;
	DBT key_dbt, value = {.data = NULL};
	struct bytes in;
	int error = ENOMEM;

	buffer_init(&key, ROW_MAX);
	if (pack_key(&key, tables[table].fields, 1, record)) {
		key_dbt = borrowed(&key);
		error = db->get(db, NULL, &key_dbt, &value, 0);
	}
	in = (struct bytes){value.data, value.size};
	if (!error && !unpack_record(&in, tables[table].fields + 1, record))
		error = EINVAL;
	buffer_free(&key);
	return error;
}

static int row_put(struct dealer_store *store, DB_TXN *txn, enum store_table table,
	const void *record)
{
	DB *db = store->tables[table];
	struct buffer key, value;
	DBT key_dbt, value_dbt;
	int error = ENOMEM;

	buffer_init(&key, ROW_MAX);
	buffer_init(&value, ROW_MAX);
	if (pack_key(&key, tables[table].fields, 1, record) &&
		pack_record(&value, tables[table].fields + 1, record)) {
		key_dbt = borrowed(&key);
		value_dbt = borrowed(&value);
		error = db->put(db, txn, &key_dbt, &value_dbt, 0);
	}
	buffer_free(&key);
	buffer_free(&value);
	return error;
}

enum status store_load(struct dealer_store *store, const char *user_id, uint64_t transaction_id,
	struct dealer_rows *rows)
{
	int error;

	memset(rows, 0, sizeof(*rows));
	text_copy(rows->user.user_id, sizeof(rows->user.user_id), user_id);
	rows->transaction.transaction_id = transaction_id;
	error = row_get(store, STORE_USER, &rows->user);
	if (error == DB_NOTFOUND) {
		rows->user_is_new = true;
		rows->user.balance = store->opening_balance;
		rows->user.granted = store->opening_balance;
		error = 0;
	}
	if (!error && transaction_id)
		error = row_get(store, STORE_TRANSACTION, &rows->transaction);
	return result_of(error == DB_NOTFOUND ? 0 : error, "load");
}

/* Commits @txn, or aborts it after an @error, and limits the log. */
static int txn_end(struct dealer_store *store, DB_TXN *txn, int error, u_int32_t flags)
{
	if (error) {
		txn->abort(txn);
		return error;
	}
	error = txn->commit(txn, flags);
	/* See store/bdb/bdb.c for the reason. */
	if (!error && flags == DB_TXN_SYNC)
		error = store->env->log_flush(store->env, NULL);
	return error ? error : store->env->txn_checkpoint(store->env, CHECKPOINT_KIB, 0, 0);
}

enum status store_commit(struct dealer_store *store, const struct dealer_rows *rows)
{
	DB_TXN *txn;
	int error;

	if (!rows->user_changed && !rows->transaction_changed)
		return STATUS_OK;
	error = store->env->txn_begin(store->env, NULL, &txn, 0);
	if (error)
		return result_of(error, "commit");
	if (rows->user_changed)
		error = row_put(store, txn, STORE_USER, &rows->user);
	if (!error && rows->transaction_changed)
		error = row_put(store, txn, STORE_TRANSACTION, &rows->transaction);
	return result_of(txn_end(store, txn, error, DB_TXN_SYNC), "commit");
}

enum status store_note(struct dealer_store *store, const struct dealer_event *event)
{
	struct dealer_event row = *event;
	DB_TXN *txn;
	int error = row_get(store, STORE_EVENT, &row);

	if (error == DB_NOTFOUND)
		row.calls = 0;
	else if (error)
		return result_of(error, "note");
	row.calls++;
	error = store->env->txn_begin(store->env, NULL, &txn, 0);
	if (!error)
		error = txn_end(store, txn, row_put(store, txn, STORE_EVENT, &row),
			DB_TXN_WRITE_NOSYNC);
	return result_of(error, "note");
}

enum status store_each(struct dealer_store *store, enum store_table table,
	bool (*visit)(void *context, const void *record), void *context)
{
	union {
		struct dealer_user user;
		struct dealer_transaction transaction;
		struct dealer_event event;
	} record;
	DBT key = {.data = NULL}, value = {.data = NULL};
	struct bytes key_in, value_in;
	DBC *cursor;
	int error = store->tables[table]->cursor(store->tables[table], NULL, &cursor, 0);

	if (error)
		return result_of(error, "scan");
	while ((error = cursor->get(cursor, &key, &value, DB_NEXT)) == 0) {
		memset(&record, 0, sizeof(record));
		key_in = (struct bytes){key.data, key.size};
		value_in = (struct bytes){value.data, value.size};
		if (!unpack_key(&key_in, tables[table].fields, 1, &record) ||
			!unpack_record(&value_in, tables[table].fields + 1, &record))
			error = EINVAL;
		if (error || !visit(context, &record))
			break;
	}
	cursor->close(cursor);
	return result_of(error == DB_NOTFOUND ? 0 : error, "scan");
}

#include "raw_row.h"

#include "store/bdb/env/env.h"

#include <check.h>
#include <stdio.h>

void raw_row_put(const char *directory, enum record record, struct bytes key_bytes,
	struct bytes value_bytes)
{
	char file[64];
	DBT key = {.data = (void *)(uintptr_t)key_bytes.data, .size = key_bytes.len};
	DBT value = {.data = (void *)(uintptr_t)value_bytes.data, .size = value_bytes.len};
	DB_ENV *env;
	DB *table;

	snprintf(file, sizeof(file), "%s.db", record_infos[record].name);
	ck_assert_int_eq(bdb_env_make(&env, directory, BDB_ENV_FLAGS | DB_RECOVER, 8), 0);
	ck_assert_int_eq(db_create(&table, env, 0), 0);
	ck_assert_int_eq(table->open(table, NULL, file, NULL, DB_UNKNOWN, DB_AUTO_COMMIT, 0), 0);
	ck_assert_int_eq(table->put(table, NULL, &key, &value, DB_AUTO_COMMIT), 0);
	ck_assert_int_eq(table->close(table, 0), 0);
	ck_assert_int_eq(env->close(env, 0), 0);
}

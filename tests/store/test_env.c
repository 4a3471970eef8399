/*
 * Tests the environment when memory is exhausted.
 */
#include "batch.h"
#include "scratch.h"
#include "store/bdb/env/env.h"
#include "store/store.h"
#include "suites.h"

#include <stdlib.h>

#define CACHE_MIB 1
/*
 * A start makes 613 allocations with libdb 5.3.28. The test fails the first ones, then every
 * seventh.
 */
#define FIRST 20
#define STEP  7
#define CASES 100

/* Which allocation of this thread fails, counted from now; 0: none. */
static _Thread_local unsigned int fails_at;

void *__real_malloc(size_t size); /* NOLINT(bugprone-reserved-identifier): ld's names, --wrap */
void *__wrap_malloc(size_t size); /* NOLINT(bugprone-reserved-identifier) */

/* Replaces malloc() for the service's own code, through which libdb allocates a handle. */
void *__wrap_malloc(size_t size) /* NOLINT(bugprone-reserved-identifier) */
{
	if (fails_at && --fails_at == 0)
		return NULL;
	return __real_malloc(size);
}

static char directory[64];

/* Creates an environment whose start recovers one, while the @n-th allocation fails. */
static int make(unsigned int n)
{
	DB_ENV *env = NULL;
	int error;

	fails_at = n;
	error = bdb_env_make(&env, directory, BDB_ENV_FLAGS | DB_RECOVER, CACHE_MIB);
	fails_at = 0;
	if (env)
		env->close(env, 0);
	return error;
}

START_TEST(an_environment_is_made)
{
	ck_assert_int_eq(make(0), 0);
}
END_TEST

/* Without the handler, libdb would die of SIGSEGV at 37 of 600 allocations. */
START_TEST(without_memory_for_it_the_process_ends)
{
	unsigned int i = (unsigned int)_i;

	make(i <= FIRST ? i : FIRST + (i - FIRST) * STEP);
}
END_TEST

/* Creates tables and a log that names them, so that a recovery opens them. */
static void make_directory(void)
{
	const struct store_options options = {.directory = directory,
		.cache_mib = CACHE_MIB,
		.checkpoint_kib = 1024,
		.checkpoint_interval_ms = 60000,
		.create = true};
	uint64_t last_id = 0;
	struct store *store;
	char why[256] = "";
	struct ws ws;

	scratch_make(directory);
	ck_assert_msg(store_open(&options, &store, why, sizeof(why)) == STATUS_OK, "%s", why);
	ws_init(&ws);
	batch_save(store, &ws, &last_id);
	ws_free(&ws);
	store->close(store);
}

static void remove_directory(void)
{
	scratch_remove(directory);
}

Suite *env_suite(void)
{
	Suite *suite = suite_create("env");
	TCase *tcase = tcase_create("env");

	tcase_add_unchecked_fixture(tcase, make_directory, remove_directory);
	tcase_add_test(tcase, an_environment_is_made);
	tcase_add_loop_exit_test(tcase, without_memory_for_it_the_process_ends, STORE_EXIT_LOST, 1,
		CASES + 1);
	suite_add_tcase(suite, tcase);
	return suite;
}

/*
 * Runs the ledger's cases on PostgreSQL: those of CASE_DISK, in the suites that do not look below the store.
 */
#include "case.h"
#include "pg_server.h"
#include "store/pg/pg.h"

#include <stdio.h>
#include <stdlib.h>

static struct pg_options options;

static void make_schema(void)
{
	pg_server_schema(&options);
}

static void open_pg(void)
{
	char why[512] = "";

	ck_assert_msg(pg_store_open(&options, &case_db, why, sizeof(why)) == STATUS_OK, "%s", why);
}

int main(void)
{
	static const struct case_durable on_postgresql = {make_schema, open_pg, pg_server_drop};
	int code;

	case_durable = &on_postgresql;
	if (!pg_server_start())
		return 77;
	code = tap_main((Suite *(*const[])(void)){transfers_suite, operator_suite, lists_suite,
		ages_suite, wagers_suite, cancels_suite, corrections_suite, seamless_suite,
		reports_suite, feed_suite, hold_suite, life_suite, retention_suite, replays_suite,
		moves_suite, moves_back_suite, moves_seen_suite, seal_suite, random_suite, NULL});
	pg_server_stop();
	return code;
}

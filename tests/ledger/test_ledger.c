/*
 * Tests commands on Berkeley DB and on the store in memory.
 */
#include "case.h"

int main(void)
{
	return tap_main((Suite *(*const[])(void)){transfers_suite, operator_suite, batches_suite,
		wagers_suite, seamless_suite, reports_suite, permits_suite, gather_suite,
		hold_suite, life_suite, retention_suite, backups_suite, figures_suite, limits_suite,
		refused_suite, server_suite, inquiries_suite, random_suite, NULL});
}

/*
 * Tests commands on Berkeley DB and on the store in memory.
 */
#include "case.h"

int main(void)
{
	/* The quick suites come first, so that a run until the first failure is short. */
	return tap_main((Suite *(*const[])(void)){transfers_suite, operator_suite, lists_suite,
		ages_suite, batches_suite, wagers_suite, cancels_suite, corrections_suite,
		seamless_suite, result_batches_suite, inquiries_suite, reports_suite, days_suite,
		hold_suite, permits_suite, gather_suite, life_suite, feed_suite, figures_suite,
		atrest_suite, retention_suite, replays_suite, moves_suite, moves_back_suite,
		moves_seen_suite, backups_suite, limits_suite, refused_suite, refused_log_suite,
		accepted_calls_suite, desk_suite, server_suite, random_suite, seal_suite,
		histories_suite, NULL});
}

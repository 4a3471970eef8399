/*
 * suites - the suite of each unit test file, and their shared function.
 */
#ifndef TESTS_LIB_SUITES_H
#define TESTS_LIB_SUITES_H

#include <check.h>

Suite *isolated_suite(void);
Suite *buffer_suite(void);
Suite *clock_suite(void);
Suite *fiber_suite(void);
Suite *group_suite(void);
Suite *histogram_suite(void);
Suite *log_suite(void);
Suite *network_suite(void);
Suite *pack_suite(void);
Suite *settings_suite(void);
Suite *state_dir_suite(void);
Suite *text_suite(void);

Suite *callback_names_suite(void);
Suite *money_suite(void);
Suite *movement_suite(void);
Suite *records_suite(void);
Suite *refusal_suite(void);
Suite *wager_suite(void);

Suite *body_suite(void);
Suite *callback_body_suite(void);
Suite *dealer_answer_suite(void);
Suite *digest_suite(void);
Suite *memory_suite(void);
Suite *render_suite(void);
Suite *row_line_suite(void);
Suite *signature_suite(void);
Suite *trace_suite(void);
Suite *vectors_suite(void);
Suite *webhook_suite(void);

Suite *counters_suite(void);
Suite *exposition_suite(void);

Suite *classify_suite(void);
Suite *sender_suite(void);

Suite *proof_wagers_suite(void);

/* Makes a suite with one case from the tests in the NULL-terminated list @tests. */
static inline Suite *suite_make(const char *name, const TTest *const *tests, double timeout_s)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, timeout_s);
	for (; *tests; tests++)
		tcase_add_test(tcase, *tests);
	suite_add_tcase(suite, tcase);
	return suite;
}

#endif

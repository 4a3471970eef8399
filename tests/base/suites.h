/*
 * The suites of test_base.
 */
#ifndef TESTS_BASE_SUITES_H
#define TESTS_BASE_SUITES_H

#include "suite.h"

Suite *isolated_suite(void);
Suite *buffer_suite(void);
Suite *cells_suite(void);
Suite *clock_suite(void);
Suite *columns_suite(void);
Suite *fiber_suite(void);
Suite *acl_suite(void);
Suite *group_suite(void);
Suite *histogram_suite(void);
Suite *log_suite(void);
Suite *network_suite(void);
Suite *near_suite(void);
Suite *pack_suite(void);
Suite *settings_suite(void);
Suite *text_suite(void);
Suite *zone_suite(void);

#endif

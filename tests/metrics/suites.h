/*
 * The suites of test_metrics.
 */
#ifndef TESTS_METRICS_SUITES_H
#define TESTS_METRICS_SUITES_H

#include "suite.h"

Suite *activity_suite(void);
Suite *counters_suite(void);
Suite *exposition_suite(void);

#endif

/*
 * The suites of test_store.
 */
#ifndef TESTS_STORE_SUITES_H
#define TESTS_STORE_SUITES_H

#include <check.h>

Suite *spare_suite(void);

#endif

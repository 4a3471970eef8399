/*
 * The suites of test_callback.
 */
#ifndef TESTS_CALLBACK_SUITES_H
#define TESTS_CALLBACK_SUITES_H

#include "suite.h"

Suite *classify_suite(void);
Suite *sender_suite(void);

#endif

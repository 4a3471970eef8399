/*
 * The suites of test_domain.
 */
#ifndef TESTS_DOMAIN_SUITES_H
#define TESTS_DOMAIN_SUITES_H

#include "suite.h"

Suite *callback_names_suite(void);
Suite *money_suite(void);
Suite *movement_suite(void);
Suite *records_suite(void);
Suite *refusal_suite(void);
Suite *story_suite(void);
Suite *wager_suite(void);

#endif

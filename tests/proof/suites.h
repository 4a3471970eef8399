/*
 * The suites of test_proof.
 */
#ifndef TESTS_PROOF_SUITES_H
#define TESTS_PROOF_SUITES_H

#include "suite.h"

Suite *proof_wagers_suite(void);
Suite *proof_changes_suite(void);

#endif

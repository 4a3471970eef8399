/*
 * The suites of test_wire.
 */
#ifndef TESTS_WIRE_SUITES_H
#define TESTS_WIRE_SUITES_H

#include "suite.h"

Suite *body_suite(void);
Suite *callback_body_suite(void);
Suite *dealer_answer_suite(void);
Suite *digest_suite(void);
Suite *inspect_suite(void);
Suite *memory_suite(void);
Suite *render_suite(void);
Suite *row_line_suite(void);
Suite *signature_suite(void);
Suite *trace_suite(void);
Suite *vectors_suite(void);
Suite *webhook_suite(void);

#endif

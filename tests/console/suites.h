/* The suites of test_console. */
#ifndef TESTS_CONSOLE_SUITES_H
#define TESTS_CONSOLE_SUITES_H

#include <suite.h>

Suite *html_suite(void);
Suite *console_params_suite(void);
Suite *console_address_suite(void);
Suite *console_view_suite(void);
Suite *chart_suite(void);
Suite *overview_suite(void);
Suite *page_rate_suite(void);
Suite *refused_request_suite(void);
Suite *session_end_suite(void);

#endif

#ifndef TESTS_LINK_TEST_LINK_H
#define TESTS_LINK_TEST_LINK_H

#include "tap.h"

Suite *frame_suite(void);
Suite *client_suite(void);
Suite *roles_suite(void);
Suite *jobs_suite(void);

#endif

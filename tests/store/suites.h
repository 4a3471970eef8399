/*
 * The suites of test_store.
 */
#ifndef TESTS_STORE_SUITES_H
#define TESTS_STORE_SUITES_H

#include <check.h>

Suite *env_suite(void);
Suite *hang_suite(void);
Suite *log_suite(void);
Suite *writeback_suite(void);
Suite *log_prealloc_suite(void);
Suite *split_suite(void);

/* In test_hang.c: called before each write(2) of libdb. */
void hang_before_write(int fd);

/* The store on PostgreSQL; in its own program. */
Suite *pg_proof_suite(void);

#endif

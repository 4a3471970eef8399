/*
 * dealer_test - the reports of `dealer test`.
 */
#ifndef CMD_CTL_DEALER_TEST_H
#define CMD_CTL_DEALER_TEST_H

#include "cmd/ctl/ctl.h"
#include "conformance/exam.h"

#include <stdio.h>

#define EXAM_DETAIL_SIZE 64

/* How many cases failed, and how many were not run; false: all passed, or were skipped. */
bool exam_detail(const struct exam *exam, char detail[EXAM_DETAIL_SIZE]);

/* The reports: a table or JSON; TAP on standard output; JUnit's XML. */
enum outcome exam_print(struct ctl *ctl, const struct exam *exam);
void exam_print_tap(const struct exam *exam);
void exam_write_junit(const struct exam *exam, FILE *file);

#endif

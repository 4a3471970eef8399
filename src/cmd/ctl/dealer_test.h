/*
 * dealer_test - prints the reports of `dealer test`.
 */
#ifndef CMD_CTL_DEALER_TEST_H
#define CMD_CTL_DEALER_TEST_H

#include "cmd/ctl/ctl.h"
#include "conformance/exam.h"

#include <stdio.h>

#define EXAM_DETAIL_SIZE 64

/*
 * Writes the numbers of failed cases and of cases that were not run to @detail. Returns false if
 * all cases passed or were skipped.
 */
bool exam_detail(const struct exam *exam, char detail[EXAM_DETAIL_SIZE]);

/* Print the report as a table or JSON, as TAP on standard output, and as JUnit XML. */
enum outcome exam_print(struct ctl *ctl, const struct exam *exam);
void exam_print_tap(const struct exam *exam);
void exam_write_junit(const struct exam *exam, FILE *file);

#endif

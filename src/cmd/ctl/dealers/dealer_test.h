/*
 * dealer_test - prints the reports of `dealer test`.
 */
#ifndef CMD_CTL_DEALERS_DEALER_TEST_H
#define CMD_CTL_DEALERS_DEALER_TEST_H

#include "cmd/ctl/common/ctl.h"
#include "conformance/report.h"

/* Prints the cases, for people. */
enum outcome exam_print_cases(const struct exam *exam);
/* Prints the report for people, at most 80 columns wide, or as JSON. */
enum outcome exam_print(struct ctl *ctl, const struct exam *exam);

#endif

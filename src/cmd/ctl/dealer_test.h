/*
 * dealer_test - prints the reports of `dealer test`.
 */
#ifndef CMD_CTL_DEALER_TEST_H
#define CMD_CTL_DEALER_TEST_H

#include "cmd/ctl/ctl.h"
#include "conformance/report.h"

/* Prints the report as a table or JSON. */
enum outcome exam_print(struct ctl *ctl, const struct exam *exam);

#endif

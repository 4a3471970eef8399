/*
 * metrics - collects the values of METRICS for the commands that show them.
 */
#ifndef CMD_CTL_METRICS_H
#define CMD_CTL_METRICS_H

#include "cmd/ctl/ctl.h"
#include "metrics/collect.h"

/* Reads the workers' counters and requests all pages from the ledger. Reports a failure. */
enum outcome metrics_collect(struct ctl *ctl, struct collection *collection);

#endif

/*
 * metrics - the figures of METRICS, for the commands that show them.
 */
#ifndef CMD_CTL_METRICS_H
#define CMD_CTL_METRICS_H

#include "cmd/ctl/ctl.h"
#include "metrics/collect.h"

/* Reads what the workers counted and asks the ledger for all pages. A failure was reported. */
enum outcome metrics_collect(struct ctl *ctl, struct collection *collection);

#endif

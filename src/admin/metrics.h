/*
 * metrics - collects the values of METRICS of all workers and of the ledger.
 */
#ifndef ADMIN_METRICS_H
#define ADMIN_METRICS_H

#include "admin/session.h"
#include "metrics/collect.h"

/* Reads the workers' counters and requests all pages from the ledger. Reports a failure. */
enum outcome metrics_collect(struct session *session, struct collection *collection);

#endif

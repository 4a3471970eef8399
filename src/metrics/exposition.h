/*
 * exposition - a collection as the text that Prometheus reads (text format 0.0.4).
 *
 * Labels are names of ours and casino_id: no player is in it. Times are in seconds, sizes in bytes.
 * A dealer is there from his first callback on. What could not be had is left out; ledger_up and
 * counters_readable tell.
 */
#ifndef METRICS_EXPOSITION_H
#define METRICS_EXPOSITION_H

#include "base/buffer.h"
#include "metrics/collect.h"

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"
/* More than DEALERS_MAX dealers with names of full length take. */
#define EXPOSITION_MAX (16 * 1024 * 1024)

/* Appends the text to @out. False: it does not fit, or there is no memory. */
bool exposition_render(struct buffer *out, const struct collection *collection);

#endif

/*
 * exposition - a collection in the text format of Prometheus (0.0.4).
 *
 * Labels are our own names and casino_id, never a player. Times are in seconds, sizes in bytes. A
 * dealer's callbacks appear after its first one. Unavailable parts are left out; ledger_up and
 * counters_readable report this.
 */
#ifndef METRICS_EXPOSITION_H
#define METRICS_EXPOSITION_H

#include "base/buffer.h"
#include "metrics/collect.h"

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"
/* Larger than the text for DEALERS_MAX dealers with names of full length. */
#define EXPOSITION_MAX (48 * 1024 * 1024)

/* Appends the text to @out. Returns false if it does not fit or memory is exhausted. */
bool exposition_render(struct buffer *out, const struct collection *collection);

/* Appends the gauge cell_up of a cell. The first one is preceded by its description. */
void exposition_put_cell(struct buffer *out, bool is_first, const char *name, bool up);

#endif

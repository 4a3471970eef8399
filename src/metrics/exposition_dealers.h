/*
 * exposition_dealers - the figures by dealer in the text for Prometheus (metrics/exposition.h), and
 * the helpers of both files.
 */
#ifndef METRICS_EXPOSITION_DEALERS_H
#define METRICS_EXPOSITION_DEALERS_H

#include "base/buffer.h"
#include "metrics/collect.h"

/* The first part of each name. */
#define PREFIX "creditbridge_"

/* Appends the two lines that describe a metric; @name is without PREFIX. */
void exposition_begin(struct buffer *out, const char *name, const char *type, const char *help);
/* Appends thousandths as a decimal number. */
void exposition_put_ms(struct buffer *out, uint64_t ms);

/* The workers' counts by dealer. */
void exposition_put_dealer_requests(struct buffer *out, const struct collection *collection);
/* The running sums of the ledger. */
void exposition_put_dealer_sums(struct buffer *out, const struct collection *collection);
/* The callbacks of all dealers together, and by dealer for those that have or had callbacks. */
void exposition_put_callbacks(struct buffer *out, const struct collection *collection);

#endif

/*
 * activity - ACTIVITY: the calls of the last 24 hours, which the server samples.
 */
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/metrics.h"

enum status activity_read(const void *arg, const struct read_context *context, void *out)
{
	struct activity_span spans[ACTIVITY_SPANS_MAX];
	struct activity_result *result = out;

	(void)arg;
	if (!context->metrics)
		return STATUS_OK;
	result->since_ms = activity_since(&context->metrics->activity, &context->now);
	result->count = activity_spans(&context->metrics->activity, &context->now, spans);
	for (uint32_t i = 0; i < result->count; i++)
		pack_record(context->rows, activity_span_fields, &spans[i]);
	result->spans = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return context->rows->failed ? STATUS_NOMEM : STATUS_OK;
}

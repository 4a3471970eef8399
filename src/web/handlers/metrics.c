/* What Prometheus reads. Without the ledger it is what the workers counted, and that it is down. */
#include "web/handlers/handlers.h"

#include "base/clock.h"
#include "metrics/exposition.h"

/* It and readyz wait for the ledger no longer than their callers will wait. */
#define FIGURES_PATIENCE_MS 2000

int64_t exchange_figures_deadline_ms(const struct exchange *exchange)
{
	int64_t deadline_ms = exchange->request->boot_ms + FIGURES_PATIENCE_MS;

	return deadline_ms < exchange->deadline_ms ? deadline_ms : exchange->deadline_ms;
}

static bool ask(void *context, const struct metrics_cmd *cmd, struct metrics_result *result)
{
	struct exchange *exchange = context;
	enum status status = link_call(exchange->link, COMMAND_METRICS, cmd, result,
		exchange_figures_deadline_ms(exchange));

	if (status != STATUS_OK)
		exchange->reply->status = status;
	return status == STATUS_OK;
}

void handle_metrics(struct exchange *exchange)
{
	struct http_reply *reply = exchange->reply;
	struct collection collection;

	if (collection_make(&collection, exchange->counters_path, ask, exchange) &&
		exposition_render(&reply->large, &collection)) {
		reply->content_type = EXPOSITION_TYPE;
	} else {
		buffer_free(&reply->large);
		reply_fail(reply, STATUS_NOMEM, CALL_READS);
	}
	collection_free(&collection);
}

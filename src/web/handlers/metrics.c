/*
 * The metrics for Prometheus. Without the ledger: the workers' counters, and that the ledger is
 * down.
 */
#include "web/handlers/handlers.h"

#include "base/clock.h"
#include "metrics/exposition.h"

/* metrics and readyz wait for ledgers no longer than their clients wait. */
#define FIGURES_PATIENCE_MS 2000

enum status web_request_ask_figures(struct web_request *web, unsigned int at,
	const struct metrics_cmd *cmd, struct metrics_result *result)
{
	int64_t deadline_ms = web->request->boot_ms + FIGURES_PATIENCE_MS;

	if (deadline_ms > web->deadline_ms)
		deadline_ms = web->deadline_ms;
	/* With several cells, each is asked for a part of that time only. */
	return web->cells
		? cell_links_look(web->cells, at, COMMAND_METRICS, cmd, result, deadline_ms)
		: link_call(web->link, COMMAND_METRICS, cmd, result, deadline_ms);
}

static bool ask_worker_metrics(void *context, const struct metrics_cmd *cmd,
	struct metrics_result *result)
{
	struct web_request *web = context;
	enum status status = web_request_ask_figures(web, 0, cmd, result);

	if (status != STATUS_OK)
		web->reply->status = status;
	return status == STATUS_OK;
}

bool web_request_cell_up(struct web_request *web, unsigned int at)
{
	const struct metrics_cmd cmd = {.without_dealers = true};
	struct metrics_result figures = {.swept = false};

	return web_request_ask_figures(web, at, &cmd, &figures) == STATUS_OK;
}

/* Appends whether the ledger of each cell answers. @own_up: that of the default cell does. */
static void put_cells(struct web_request *web, struct buffer *out, bool own_up)
{
	for (unsigned int at = 0; web->cells && at < web->cells->cells->count; at++)
		exposition_put_cell(out, !at, web->cells->list[at].cell->name,
			at ? web_request_cell_up(web, at) : own_up);
}

void handle_metrics(struct web_request *web)
{
	struct http_reply *reply = web->reply;
	struct collection collection;
	bool made = false;

	if (collection_make(&collection, web->counters_path, ask_worker_metrics, web) &&
		exposition_render(&reply->large, &collection)) {
		reply->content_type = EXPOSITION_TYPE;
		put_cells(web, &reply->large, collection.answered);
		made = !reply->large.failed;
	}
	if (!made) {
		buffer_free(&reply->large);
		reply_fail(reply, STATUS_NOMEM, CALL_READS);
	}
	collection_free(&collection);
}

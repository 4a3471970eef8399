/*
 * metrics - implements `metrics`: prints the same text as /metrics on the platform's mount.
 */
#include "cmd/ctl/metrics.h"

#include "cmd/ctl/output.h"
#include "metrics/exposition.h"

#include <stdio.h>

/* Requests the metrics from the ledger page by page. */
struct asking {
	struct ctl *ctl;
	enum outcome code;
};

static bool ask(void *context, const struct metrics_cmd *cmd, struct metrics_result *result)
{
	struct asking *asking = context;

	asking->code = session_do(&asking->ctl->session, COMMAND_METRICS, cmd, result, NULL);
	return asking->code == OUTCOME_DONE;
}

enum outcome metrics_collect(struct ctl *ctl, struct collection *collection)
{
	struct asking asking = {ctl, OUTCOME_DONE};
	char path[SETTINGS_PATH_MAX + 16];
	enum outcome code = session_settings(&ctl->session);

	*collection = (struct collection){.counted = false};
	if (code != OUTCOME_DONE)
		return code;
	snprintf(path, sizeof(path), "%s/" COUNTERS_FILE, ctl->session.settings.socket_directory);
	if (!collection_make(collection, path, ask, &asking))
		return ctl_no_memory(ctl);
	return asking.code;
}

enum outcome ctl_metrics(struct ctl *ctl)
{
	struct collection collection;
	struct output_json json;
	struct buffer text;
	enum outcome code = metrics_collect(ctl, &collection);

	buffer_init(&text, EXPOSITION_MAX);
	if (code == OUTCOME_DONE &&
		(!exposition_render(&text, &collection) || !buffer_append(&text, "", 1)))
		code = ctl_no_memory(ctl);
	if (code == OUTCOME_DONE && !ctl->json)
		fputs((const char *)text.data, stdout);
	if (code == OUTCOME_DONE) {
		output_json_open(&json, ctl);
		output_json_string(&json, "metrics", (const char *)text.data);
		code = output_json_close(&json);
	}
	buffer_free(&text);
	collection_free(&collection);
	return code;
}

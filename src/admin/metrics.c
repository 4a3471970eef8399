#include "admin/metrics.h"

#include <stdio.h>

/* Requests the metrics from the ledger page by page. */
struct metrics_asking {
	struct session *session;
	enum outcome code;
};

static bool ask_session_metrics(void *context, const struct metrics_cmd *cmd,
	struct metrics_result *result)
{
	struct metrics_asking *asking = context;

	asking->code = session_do(asking->session, COMMAND_METRICS, cmd, result, NULL);
	return asking->code == OUTCOME_DONE;
}

enum outcome metrics_collect(struct session *session, struct collection *collection)
{
	struct metrics_asking asking = {session, OUTCOME_DONE};
	char path[SETTINGS_PATH_MAX + 16];
	enum outcome code = session_settings(session);

	*collection = (struct collection){.counted = false};
	if (code != OUTCOME_DONE)
		return code;
	snprintf(path, sizeof(path), "%s/" COUNTERS_FILE, session->settings.socket_directory);
	if (!collection_make(collection, path, ask_session_metrics, &asking))
		return session_no_memory(session);
	return asking.code;
}

/*
 * metrics - implements `metrics`: prints the same text as /metrics on the platform's mount.
 */
#include "admin/metrics.h"

#include "cmd/ctl/common/output.h"
#include "metrics/exposition.h"

#include <stdio.h>

enum outcome ctl_metrics(struct ctl *ctl)
{
	struct collection collection;
	struct output_json json;
	struct buffer text;
	enum outcome code = metrics_collect(&ctl->session, &collection);

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

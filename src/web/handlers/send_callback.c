#include "web/handlers/send_callback.h"

#include "base/clock.h"
#include "base/log.h"
#include "callback/granted.h"
#include "fcgi/server.h"

#include <inttypes.h>
#include <string.h>

/* Part of FCGI_STOP_MS for everything but the callback and its report. */
#define STOP_SPARE_MS 500
/* The least time for the report to the ledger. */
#define REPORT_MIN_MS 500
/* Pause between two reports while the ledger is busy. */
#define BUSY_PAUSE_MS 20

static void send_callback_log(const struct web_request *web, const struct callback_grant *grant,
	const struct callback_outcome *outcome)
{
	char id[CALLBACK_EVENT_ID_SIZE], note[LOG_QUOTED_MAX];

	callback_event_id(grant->kind, grant->event, id);
	log_line(outcome->class == CALLBACK_SUCCESS ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
		"callback",
		"request_id=%s webhook_id=%s kind=%s attempt=%" PRIu32 " class=%s http_status=%u "
		"ms=%" PRIu32 "%s%s%s",
		web->reply->request_id, id, callback_kind_names[grant->kind], grant->attempt,
		callback_class_names[outcome->class], (unsigned int)outcome->http_status,
		outcome->ms, outcome->note[0] ? " note=\"" : "", log_quote(note, outcome->note),
		outcome->note[0] ? "\"" : "");
}

/* The time limit of the report to the ledger. */
static int64_t report_patience_ms(const struct web_request *web)
{
	int64_t left_ms = (int64_t)FCGI_STOP_MS - STOP_SPARE_MS - web->callback_timeout_ms;

	if (left_ms > web->ledger_deadline_ms)
		left_ms = web->ledger_deadline_ms;
	return left_ms > REPORT_MIN_MS ? left_ms : REPORT_MIN_MS;
}

/* Reports the dealer's answer to the ledger. Repeats it while the ledger is busy. */
static enum status report_outcome(struct web_request *web, const struct callback_end_cmd *cmd,
	struct callback_end_result *end)
{
	int64_t until_ms = clock_boot_ms() + report_patience_ms(web);
	enum status status;

	memset(end, 0, sizeof(*end));
	for (;;) {
		status = link_call(web->link, COMMAND_CALLBACK_END, cmd, end, until_ms);
		if (status != STATUS_BUSY || clock_boot_ms() + BUSY_PAUSE_MS >= until_ms)
			return status;
		clock_sleep_ms(BUSY_PAUSE_MS);
	}
}

enum status send_callback_run(struct web_request *web, const char *casino_id,
	struct callback_grant *grant, struct callback_outcome *outcome,
	struct callback_end_result *end)
{
	struct granted granted;
	struct callback_request request = granted_request(&granted, grant, web->link->asked_ms,
		casino_id, web->callback_timeout_ms);
	enum status status;

	request.request_id = web->reply->request_id;
	/* The report is not refused afterwards, however many calls are at the ledger then. */
	web_request_rest(web);
	callback_send(web->sender, &request, outcome);
	send_callback_log(web, grant, outcome);
	explicit_bzero(grant, sizeof(*grant));
	granted.end.outcome = *outcome;
	status = report_outcome(web, &granted.end, end);
	if (status != STATUS_OK)
		web->reply->status = status;
	return status;
}

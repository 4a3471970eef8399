/*
 * send_callback - sends the callback of a request of group C (contract, "Group B: callbacks"): B1,
 * B2, or the first attempt of B3.
 *
 * One log line reports each: event, kind, class, HTTP status, milliseconds, request id. Its note
 * names the parts of the dealer's answer that were dropped.
 */
#ifndef WEB_HANDLERS_SEND_CALLBACK_H
#define WEB_HANDLERS_SEND_CALLBACK_H

#include "web/handlers/handlers.h"

/*
 * Sends the callback of @grant once, if enough of its lease is left. Reports the outcome to the
 * ledger by CALLBACK_END. The report has a time limit of its own; a stopping worker completes it
 * within FCGI_STOP_MS. @casino_id: of a balance inquiry, else "".
 *
 * Always sets *outcome. Returns STATUS_OK with the ledger's answer in *end, or the failure of the
 * report. Wipes @grant, which holds keys.
 */
enum status send_callback_run(struct web_request *web, const char *casino_id,
	struct callback_grant *grant, struct callback_outcome *outcome,
	struct callback_end_result *end);

#endif

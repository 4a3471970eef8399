/*
 * send_callback - the callback that a request of group C sends on its way (api.md, B): B1, B2, or the
 * first attempt of B3.
 *
 * One line of the log tells of each: event, kind, class, HTTP status, milliseconds, request id.
 * What was dropped of the dealer's answer is in its note.
 */
#ifndef WEB_HANDLERS_SEND_CALLBACK_H
#define WEB_HANDLERS_SEND_CALLBACK_H

#include "web/handlers/handlers.h"

/*
 * Sends what @grant allows, once, if enough of its lease is left, and tells the ledger what came of
 * it by CALLBACK_END, for which it takes its own time: a worker that is asked to stop meanwhile
 * still has it within FCGI_STOP_MS. @casino_id: of a balance inquiry, else "".
 *
 * *outcome is always set. Returns STATUS_OK with the ledger's answer in *end, or why the ledger
 * could not be told. @grant is wiped: it holds keys.
 */
enum status send_callback_run(struct web_request *web, const char *casino_id,
	struct callback_grant *grant, struct callback_outcome *outcome,
	struct callback_end_result *end);

#endif

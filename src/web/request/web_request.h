/*
 * web_request - one request of a caller on its way to its reply, as a handler sees it.
 */
#ifndef WEB_REQUEST_WEB_REQUEST_H
#define WEB_REQUEST_WEB_REQUEST_H

#include "callback/sender.h"
#include "fcgi/request.h"
#include "link/client.h"
#include "web/request/bodies.h"
#include "web/request/reply.h"

/* A request on its way to its reply. */
struct web_request {
	const struct http_request *request;
	const struct keyring_entry *caller; /* who calls; NULL on routes that are not signed */
	union any_body body;
	struct link *link;
	int64_t deadline_ms;         /* boot time, for what asks the ledger; see send_callback_run() */
	uint32_t ledger_deadline_ms; /* how long one call to it may take */
	uint32_t request_window_s;   /* request_timestamp may differ this much; 0: any */
	struct sender *sender;       /* of group C; else NULL */
	uint32_t callback_timeout_ms;
	const char *counters_path;   /* of COUNTERS_FILE */
	int64_t sweep_overdue_ms;    /* a sweeper that did not run for so long is missed */
	struct http_reply *reply;
};

/*
 * True: @timestamp_ms, as the caller sent it, is in the window around now (api.md A 6). False: it is
 * not, and the reply says so.
 */
bool web_request_is_fresh(struct web_request *web, int64_t timestamp_ms);

/*
 * Replies to a dealer with what a call to the ledger came to: @status, and on STATUS_OK @record,
 * which begins with @verdict. A dealer that the ledger no longer knows is a caller who is not
 * known.
 */
void web_request_answer(struct web_request *web, enum status status, enum call_kind kind,
	const struct verdict *verdict, const struct field *table, const void *record);

#endif

/*
 * web_request - one request of a caller and its reply, as a handler sees them.
 */
#ifndef WEB_REQUEST_WEB_REQUEST_H
#define WEB_REQUEST_WEB_REQUEST_H

#include "callback/sender.h"
#include "fcgi/request.h"
#include "link/client.h"
#include "web/request/cell_links.h"
#include "web/request/reply.h"
#include "wire/bodies.h"

/* A request that is being answered. */
struct web_request {
	const struct http_request *request;
	const struct keyring_entry *caller; /* NULL on routes without a signature */
	union any_body body;
	struct link *link;        /* to the cell of the request */
	struct cell_links *cells; /* NULL: there is one cell */
	int64_t deadline_ms;      /* boot time, for calls to the ledger; see send_callback_run() */
	int64_t longest_deadline_ms; /* likewise, whatever the cell */
	uint32_t ledger_deadline_ms; /* the limit of one call to it */
	uint32_t request_window_s;   /* allowed difference of request_timestamp; 0: any */
	struct sender *sender;       /* of group C; else NULL */
	uint32_t callback_timeout_ms;
	const char *counters_path;     /* of COUNTERS_FILE */
	const char *member;            /* the name of this host in its cell; "": none */
	int64_t sweep_overdue_ms;      /* the sweeper is reported missing after this time */
	struct feed_waits *feed_waits; /* waiting calls of the feed; NULL: none may wait */
	struct http_reply *reply;
};

/*
 * Returns true if @timestamp_ms is within the window around now (contract, "Request timestamp").
 * Otherwise answers with stale_request and returns false.
 */
bool web_request_is_fresh(struct web_request *web, int64_t timestamp_ms);

/*
 * Returns true if @value, the member @name of the body, is from @least to @most. Otherwise answers
 * with bad_request and returns false.
 */
bool web_request_is_within(struct web_request *web, const char *name, int64_t value, int64_t least,
	int64_t most);

/* Makes the chosen cell of @web->cells the one whose ledger the handler calls. */
void web_request_use_cell(struct web_request *web);

/* Notes that the request waits for something other than a ledger, so that it does not count as a call there. */
void web_request_rest(struct web_request *web);
/* Ends that. STATUS_NOT_SENT: the ledger must not be asked now (cell_links_choose()). */
enum status web_request_resume(struct web_request *web);

/*
 * Sets @web->link to the cell of the command that names @player. If that cannot be found, answers with an
 * error and returns false. Nothing was done then.
 */
bool web_request_route(struct web_request *web, const struct player_ref *player);

/*
 * Answers a dealer with the result of a call to the ledger: @status, and on STATUS_OK @record,
 * which begins with @verdict. If the ledger no longer knows the dealer, the answer is
 * invalid_signature.
 */
void web_request_answer(struct web_request *web, enum status status, enum call_kind kind,
	const struct verdict *verdict, const struct field *table, const void *record);

#endif

/*
 * handlers - one function a route: from a checked request to a reply.
 *
 * A handler is called with the caller known and the body parsed by the route's table. It makes a
 * command of them, asks the ledger and fills the reply; it sees neither storage nor JSON.
 */
#ifndef WEB_HANDLERS_H
#define WEB_HANDLERS_H

#include "link/client.h"
#include "web/http.h"
#include "web/reply.h"
#include "wire/body.h"

/* The body of A1 and A2. */
struct transfer_body {
	money_t amount;
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};
extern const struct body_field transfer_body_fields[];

/* The body of A3. */
struct balance_body {
	char user_id[EXTERNAL_ID_SIZE];
	int64_t request_timestamp;
};
extern const struct body_field balance_body_fields[];

union any_body {
	struct transfer_body transfer;
	struct balance_body balance;
};

/* A request on its way to its reply. */
struct exchange {
	const struct http_request *request;
	const struct keyring_entry *dealer; /* who calls; NULL on routes that are not signed */
	union any_body body;
	struct link *link;
	int64_t deadline_ms;       /* boot time, for all calls to the ledger */
	uint32_t request_window_s; /* request_timestamp may differ this much; 0: any */
	struct http_reply *reply;
};

/* A1, A2: TRANSFER. */
void handle_transfer_in(struct exchange *exchange);
void handle_transfer_out(struct exchange *exchange);

/* A3: BALANCE, after the window of request_timestamp (api.md A 6). */
void handle_balance(struct exchange *exchange);

/* Liveness of the worker itself: never asks the ledger. */
void handle_healthz(struct exchange *exchange);

/* True: @timestamp_ms, as the caller sent it, is outside the window around now (api.md A 6). */
bool exchange_is_stale(const struct exchange *exchange, int64_t timestamp_ms);

/*
 * Replies with what a call to the ledger came to: @status, and on STATUS_OK @record, which begins
 * with @verdict. A dealer that the ledger no longer knows is a caller who is not known.
 */
void exchange_answer(struct exchange *exchange, enum status status, enum call_kind kind,
	const struct verdict *verdict, const struct field *table, const void *record);

#endif

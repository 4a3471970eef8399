/*
 * refused_record - describes a call that was answered 4xx, for the refusal queue.
 *
 * It copies the headers while the request is at hand, before the answer is sent. It reads the body
 * after that, so that the caller does not wait. The description has no signature and, of the body,
 * only ids, the amount and the time.
 */
#ifndef WEB_REFUSED_RECORD_H
#define WEB_REFUSED_RECORD_H

#include "fcgi/request.h"
#include "metrics/counters.h"
#include "web/refusal_queue.h"
#include "web/request/reply.h"
#include "web/route.h"

/* The body of a call without a valid signature is read up to this size. */
#define REFUSED_RECORD_STRANGER_MAX 4096

/* Of one thread or fiber. Zeros are its initial state. */
struct refused_record {
	bool pending;
	int64_t boot_ms;
	struct refused_call call;
	struct bytes body; /* of the request */
};

/* The parts of the worker that the record needs. */
struct refused_facts {
	enum serve_group group;
	const struct route *route; /* NULL: no such path */
	const struct http_request *request;
	const struct http_reply *reply;
	bool proved;           /* the signature was valid */
	enum auth_failure why; /* for 401, and for 429 without a check */
};

/* Describes the call if it was answered 4xx. The body must stay until refused_record_queue(). */
void refused_record_take(struct refused_record *record, const struct refused_facts *facts);

/* Adds the description to @queue and counts it. Does not wait for the ledger. */
void refused_record_queue(struct refused_record *record, struct refusal_queue *queue,
	const char *ledger_path, struct counting *counting);

#endif

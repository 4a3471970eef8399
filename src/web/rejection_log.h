/*
 * rejection_log - reports rejected requests to the ledger, so that `explain` can name the cause
 * (link/refused_commands.h).
 *
 * It reports requests that were answered 400 or 401, and to a dealer user_not_found. Recording
 * copies the headers while the request is at hand. The report is sent after the answer, on the
 * thread's own link, without waiting for the ledger (link_post()). A thread sends no more than
 * its budget allows. Further reports are dropped and counted, so that a flood of rejected
 * requests does not slow other calls.
 */
#ifndef WEB_REJECTION_LOG_H
#define WEB_REJECTION_LOG_H

#include "fcgi/request.h"
#include "link/client.h"
#include "metrics/counters.h"
#include "web/request/reply.h"
#include "web/route.h"

/* The budget: a burst, and reports per second. A report costs 1, and 1 for each 4 KiB of body. */
#define REJECTION_LOG_BURST 64
#define REJECTION_LOG_PER_S 16
#define REJECTION_LOG_BYTES 4096

/* The log of a thread. Zeros are its initial state. */
struct rejection_log {
	bool pending;
	struct refused_request
		request; /* points into the members below, and to the request's body */
	uint8_t caller[REFUSED_ID_MAX];
	uint8_t signature[REFUSED_SIGNATURE_MAX];
	uint8_t query[REFUSED_QUERY_MAX];
	int64_t budget_ms;    /* boot time of the budget below */
	int64_t budget_milli; /* in thousandths of a report */
};

/*
 * Records @request, which @reply answers, if the answer is one of those and the budget allows it.
 * The body must stay in place until rejection_log_send(). Reports of user_not_found leave half of
 * the budget to the others.
 */
void rejection_log_record(struct rejection_log *log, const struct route *route,
	const struct http_request *request, const struct http_reply *reply,
	struct counting *counting);

/* Sends the recorded request, or drops it. Wipes the signature. */
void rejection_log_send(struct rejection_log *log, struct link *link, struct counting *counting);

#endif

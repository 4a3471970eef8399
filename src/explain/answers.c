/*
 * explain_answer, explain_kept - explain refusals by the call's request, and refusals of calls of
 * which only the ids are left.
 */
#include "explain/explain.h"

#include <stdio.h>
#include <string.h>

#define BODY_SIZE 64

/* Writes " of 10.00", " with the reference 'r1'" and the like, as far as the call has them. */
static void describe_call(const struct refused_call *call, char text[EXPLAIN_FOUND_MAX / 2])
{
	const char *reference = call->request_transaction_id;

	snprintf(text, EXPLAIN_FOUND_MAX / 2, "%s%s%s%s%s", call->amount[0] ? " of " : "",
		call->amount, reference[0] ? " with the reference '" : "", reference,
		reference[0] ? "'" : "");
}

void explain_answer(const struct explain_case *explain, struct explanation *explanation)
{
	const struct refused_request *request = &explain->request;
	const enum explain_cause cause = explain_refusal(request->refusal);
	const char *detail =
		request->detail[0] ? request->detail : refusal_info(request->refusal)->detail;
	char what[EXPLAIN_FOUND_MAX / 2] = "";

	if (explain->call)
		describe_call(explain->call, what);
	if (cause == CAUSE_COUNT)
		return;
	if (cause == CAUSE_PATH_UNKNOWN && explain->call)
		explain_add(explanation, cause, "there is no path %s", explain->call->path);
	else
		explain_add(explanation, cause, "the call%s was refused: %s", what, detail);
}

/* The headers, as far as they were counted. */
static void explain_headers(const struct explain_case *explain, struct explanation *explanation)
{
	const struct refused_request *request = &explain->request;

	if (!request->caller_count)
		explain_add(explanation, CAUSE_ID_MISSING, "the header with the id is missing");
	if (!request->signature_count)
		explain_add(explanation, CAUSE_SIGNATURE_MISSING,
			"the header with the signature is missing");
	if (request->caller_count > 1)
		explain_add(explanation, CAUSE_ID_NOT_SINGLE,
			"the header with the id was sent %u times",
			(unsigned int)request->caller_count);
	if (request->signature_count > 1)
		explain_add(explanation, CAUSE_SIGNATURE_NOT_SINGLE,
			"the header with the signature was sent %u times",
			(unsigned int)request->signature_count);
	if (!explanation->count)
		explain_add(explanation, CAUSE_SIGNATURE_NOT_SINGLE,
			"the header with the id or the signature is empty, or has a comma, a space "
			"or a control character in it");
}

/* The clock: explain_clock() reads the time from a body. */
static void explain_kept_clock(const struct explain_case *explain, struct explanation *explanation)
{
	struct explain_case clock = *explain;
	char body[BODY_SIZE];
	int len = snprintf(body, sizeof(body), "{\"request_timestamp\":%lld}",
		(long long)explain->call->request_timestamp);

	clock.request.body = (struct bytes){(const uint8_t *)body, (uint32_t)len};
	explain_clock(&clock, explanation);
}

void explain_kept(const struct explain_case *explain, struct explanation *explanation)
{
	switch (explain->call->why) {
	case REFUSED_WHY_HEADERS:
		explain_headers(explain, explanation);
		break;
	case REFUSED_WHY_CALLER:
		explain_caller(explain, explanation);
		break;
	case REFUSED_WHY_SIGNATURE:
		explain_add(explanation, CAUSE_SIGNATURE_WRONG,
			"no live key of '%s' made the signature of this body; the body and the "
			"signature are not kept on disk, so the mistake is not known any more",
			explain->call->caller);
		break;
	case REFUSED_WHY_CLOCK:
		explain_kept_clock(explain, explanation);
		break;
	case REFUSED_WHY_FLOOD:
		explain_add(explanation, CAUSE_SIGNATURE_FLOOD,
			"too many calls with wrong signatures came from %s: this one was refused "
			"before its signature was checked",
			explain->call->address);
		break;
	default:
		if (explain->call->refusal == REFUSAL_USER_NOT_FOUND)
			explain_player(explain, explanation);
		break;
	}
}

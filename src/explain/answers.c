/*
 * explain_answer, explain_kept - explain refusals by the call's request, and refusals of calls of
 * which only the ids are left.
 */
#include "explain/explain.h"

#include <stdio.h>
#include <string.h>

#define BODY_SIZE 64

static const struct {
	enum refusal refusal;
	enum explain_cause cause;
} answers[] = {
	{REFUSAL_INSUFFICIENT_BALANCE, CAUSE_BALANCE_LOW},
	{REFUSAL_DEALER_SUSPENDED, CAUSE_CALL_SUSPENDED},
	{REFUSAL_USER_SUSPENDED, CAUSE_CALL_SUSPENDED},
	{REFUSAL_NOT_FOUND, CAUSE_PATH_UNKNOWN},
	{REFUSAL_METHOD_NOT_ALLOWED, CAUSE_METHOD_WRONG},
	{REFUSAL_TRANSACTION_CONFLICT, CAUSE_REFERENCE_REUSED},
	{REFUSAL_TRANSACTION_SEALED, CAUSE_REFERENCE_CLOSED},
	{REFUSAL_BET_CANCELLED, CAUSE_REFERENCE_CLOSED},
	{REFUSAL_WRONG_WALLET_MODE, CAUSE_WALLET_MODE},
	{REFUSAL_PAYLOAD_TOO_LARGE, CAUSE_BODY_TOO_LARGE},
	{REFUSAL_RATE_LIMITED, CAUSE_RATE_EXCEEDED},
	{REFUSAL_BET_REJECTED, CAUSE_DEALER_SAID_NO},
	{REFUSAL_DEALER_REFUSED, CAUSE_DEALER_SAID_NO},
	{REFUSAL_BET_IN_PROGRESS, CAUSE_TRY_AGAIN},
	{REFUSAL_CALLBACK_OPEN, CAUSE_TRY_AGAIN},
};

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
	const char *detail =
		request->detail[0] ? request->detail : refusal_info(request->refusal)->detail;
	char what[EXPLAIN_FOUND_MAX / 2] = "";

	if (explain->call)
		describe_call(explain->call, what);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].refusal != request->refusal)
			continue;
		if (answers[i].cause == CAUSE_PATH_UNKNOWN && explain->call)
			explain_add(explanation, answers[i].cause, "there is no path %s",
				explain->call->path);
		else
			explain_add(explanation, answers[i].cause, "the call%s was refused: %s",
				what, detail);
		return;
	}
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

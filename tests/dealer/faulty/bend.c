#include "faulty/bend.h"

#include "wire/render.h"

#include <string.h>

static bool is_ascii(const void *text, size_t len)
{
	const unsigned char *at = text;

	while (len && *at <= 0x7f) {
		at++;
		len--;
	}
	return !len;
}

enum dealer_answer bend_call(struct dealer_faults *faults, unsigned int bugs,
	const struct http_request *request, const struct dealer_call *call)
{
	/* Some dealers refuse text that is not ASCII. */
	if ((bugs & BUG_REJECT_UNICODE) &&
		!(is_ascii(request->body, request->body_len) &&
			is_ascii(call->user_id, strlen(call->user_id))))
		return ANSWER_BAD_REQUEST;
	return faults_refuse(faults, bugs, call) ? ANSWER_TRANSACTION_CONFLICT : ANSWER_OK;
}

void bend_balance(struct dealer_worker *worker, const char *user_id, money_t balance)
{
	buffer_append_str(&worker->body, "{\"user_id\":");
	render_string(&worker->body, user_id);
	buffer_printf(&worker->body, ",\"balance\":%.9g,\"currency\":\"%s\"}",
		(double)(float)money_to_double(balance), worker->dealer->currency);
}

void bend_answer(struct dealer_worker *worker, const struct fault_strike *strike)
{
	static const char *const pages[] = {
		[FAULT_STATUS] = "<html><body>out of order</body></html>",
		[FAULT_EMPTY] = "",
		[FAULT_HTML] = "<html><body>OK</body></html>",
		[FAULT_GARBAGE] = "\x01\x02{]\xff garbage",
	};

	switch (strike->answer) {
	case FAULT_NONE:
	case FAULT_CUT:
		return;
	case FAULT_REFUSE:
		worker_error(worker, strike->code, "dealer_refuses", "the script says so");
		return;
	case FAULT_TRUNCATED:
		worker->body.len /= 2;
		break;
	case FAULT_STATUS:
	case FAULT_EMPTY:
	case FAULT_HTML:
	case FAULT_GARBAGE:
		buffer_reset(&worker->body);
		buffer_append_str(&worker->body, pages[strike->answer]);
		break;
	}
	worker->code = strike->code;
}

#include "web/rejection_log.h"

#include "base/text.h"
#include "web/request/headers.h"

#include <string.h>

/* Answers whose cause an integrator cannot see. */
static bool is_recorded(const struct route *route, const struct http_reply *reply)
{
	const int code = reply_code(reply);

	return code == 400 || code == 401 ||
		(reply->refusal == REFUSAL_USER_NOT_FOUND &&
			route->operation->group == SERVE_WALLET);
}

/* Whether the budget allows a report of a body of @len bytes and leaves @spare reports. */
static bool rejection_budget_take(struct rejection_log *log, size_t len, int64_t spare,
	int64_t now_ms)
{
	int64_t cost = 1000 * (1 + (int64_t)(len / REJECTION_LOG_BYTES));
	int64_t passed_ms = now_ms - log->budget_ms;

	if (!log->budget_ms || passed_ms > 1000 * REJECTION_LOG_BURST / REJECTION_LOG_PER_S)
		log->budget_milli = 1000 * REJECTION_LOG_BURST;
	else if (passed_ms > 0)
		log->budget_milli += passed_ms * REJECTION_LOG_PER_S;
	if (log->budget_milli > 1000 * REJECTION_LOG_BURST)
		log->budget_milli = 1000 * REJECTION_LOG_BURST;
	log->budget_ms = now_ms;
	if (log->budget_milli < cost + 1000 * spare)
		return false;
	log->budget_milli -= cost;
	return true;
}

/* Copies a header to @to, cut to @size bytes. */
static struct bytes copy_header(const struct http_variable *variable, uint8_t *to, size_t size)
{
	size_t len = variable->value ? strnlen(variable->value, size) : 0;

	if (len)
		memcpy(to, variable->value, len);
	return (struct bytes){to, (uint32_t)len};
}

void rejection_log_record(struct rejection_log *log, const struct route *route,
	const struct http_request *request, const struct http_reply *reply,
	struct counting *counting)
{
	bool is_wallet = route && route->operation->group == SERVE_WALLET;
	const struct http_variable *caller =
		&request->headers[is_wallet ? HEADER_CASINO_ID : HEADER_CLIENT_ID];
	const struct http_variable *signature =
		&request->headers[is_wallet ? HEADER_SIGNATURE : HEADER_CLIENT_SIGNATURE];
	struct refused_request *refused = &log->request;
	/* A dealer may ask for many unknown players. Leave room for other reports. */
	int64_t spare = reply->refusal == REFUSAL_USER_NOT_FOUND ? REJECTION_LOG_BURST / 2 : 0;

	log->pending = false;
	if (!route || !route->operation->body || !is_recorded(route, reply))
		return;
	if (!rejection_budget_take(log, request->body_len, spare, request->boot_ms)) {
		counting_refused_note(counting, NOTE_DROPPED);
		return;
	}
	memset(refused, 0, sizeof(*refused));
	refused->time_ms = request->wall_ms;
	text_copy(refused->request_id, sizeof(refused->request_id), reply->request_id);
	refused->of = is_wallet ? KEYRING_DEALERS : KEYRING_CLIENTS;
	text_copy(refused->operation, sizeof(refused->operation), route->operation->name);
	text_copy(refused->method, sizeof(refused->method),
		request->method.value ? request->method.value : "");
	text_copy(refused->path, sizeof(refused->path), route->operation->path);
	refused->refusal = reply->refusal;
	text_copy(refused->detail, sizeof(refused->detail), reply->detail);
	refused->caller_count = caller->count;
	refused->signature_count = signature->count;
	refused->caller = copy_header(caller, log->caller, sizeof(log->caller));
	refused->signature = copy_header(signature, log->signature, sizeof(log->signature));
	refused->query = copy_header(&request->query_string, log->query, sizeof(log->query));
	refused->body_len = (uint32_t)request->body_len;
	refused->body_broken = request->body_state == HTTP_BODY_BROKEN;
	refused->body = (struct bytes){request->body, (uint32_t)request->body_len};
	if (refused->body.len > REFUSED_BODY_MAX)
		refused->body.len = REFUSED_BODY_MAX;
	log->pending = true;
}

void rejection_log_send(struct rejection_log *log, struct link *link, struct counting *counting)
{
	const struct refused_note_cmd cmd = {.request = log->request};

	if (!log->pending)
		return;
	log->pending = false;
	counting_refused_note(counting,
		link_post(link, COMMAND_REFUSED_NOTE, &cmd) ? NOTE_SENT : NOTE_DROPPED);
	explicit_bzero(log->signature, sizeof(log->signature));
}

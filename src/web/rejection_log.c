#include "web/rejection_log.h"

#include "base/text.h"

#include <string.h>

/* What a dealer's integrator cannot make out from the answer. */
static bool is_explained(const struct route *route, const struct http_reply *reply)
{
	const int code = reply_code(reply);

	return code == 400 || code == 401 ||
		(reply->refusal == REFUSAL_USER_NOT_FOUND && route->group == SERVE_WALLET);
}

/* Whether the note of a body of @len bytes may be sent at @now_ms, and leaves @spare notes. */
static bool budget_take(struct refused_note *note, size_t len, int64_t spare, int64_t now_ms)
{
	int64_t cost = 1000 * (1 + (int64_t)(len / REFUSED_NOTE_BYTES));
	int64_t passed_ms = now_ms - note->budget_ms;

	if (!note->budget_ms || passed_ms > 1000 * REFUSED_NOTE_BURST / REFUSED_NOTE_PER_S)
		note->budget_milli = 1000 * REFUSED_NOTE_BURST;
	else if (passed_ms > 0)
		note->budget_milli += passed_ms * REFUSED_NOTE_PER_S;
	if (note->budget_milli > 1000 * REFUSED_NOTE_BURST)
		note->budget_milli = 1000 * REFUSED_NOTE_BURST;
	note->budget_ms = now_ms;
	if (note->budget_milli < cost + 1000 * spare)
		return false;
	note->budget_milli -= cost;
	return true;
}

/* Copies what was sent, cut to fit, to @to. */
static struct bytes copy(const struct http_variable *variable, uint8_t *to, size_t size)
{
	size_t len = variable->value ? strnlen(variable->value, size) : 0;

	if (len)
		memcpy(to, variable->value, len);
	return (struct bytes){to, (uint32_t)len};
}

void refused_note_take(struct refused_note *note, const struct route *route,
	const struct http_request *request, const struct http_reply *reply,
	struct counting *counting)
{
	bool is_wallet = route && route->group == SERVE_WALLET;
	const struct http_variable *caller =
		is_wallet ? &request->casino_id : &request->client_id;
	const struct http_variable *signature =
		is_wallet ? &request->signature : &request->client_signature;
	struct refused_request *refused = &note->request;
	/* A dealer may ask for many players that are not there: that leaves room for the others. */
	int64_t spare = reply->refusal == REFUSAL_USER_NOT_FOUND ? REFUSED_NOTE_BURST / 2 : 0;

	note->pending = false;
	if (!route || !route->is_signed || !is_explained(route, reply))
		return;
	if (!budget_take(note, request->body_len, spare, request->boot_ms)) {
		counting_refused_note(counting, NOTE_DROPPED);
		return;
	}
	memset(refused, 0, sizeof(*refused));
	refused->time_ms = request->wall_ms;
	text_copy(refused->request_id, sizeof(refused->request_id), reply->request_id);
	refused->of = is_wallet ? KEYRING_DEALERS : KEYRING_CLIENTS;
	text_copy(refused->operation, sizeof(refused->operation),
		operation_names[route->operation]);
	text_copy(refused->method, sizeof(refused->method),
		request->method.value ? request->method.value : "");
	text_copy(refused->path, sizeof(refused->path), route->path);
	refused->refusal = reply->refusal;
	text_copy(refused->detail, sizeof(refused->detail), reply->detail);
	refused->caller_count = caller->count;
	refused->signature_count = signature->count;
	refused->caller = copy(caller, note->caller, sizeof(note->caller));
	refused->signature = copy(signature, note->signature, sizeof(note->signature));
	refused->query = copy(&request->query_string, note->query, sizeof(note->query));
	refused->body_len = (uint32_t)request->body_len;
	refused->body_broken = request->body_state == HTTP_BODY_BROKEN;
	refused->body = (struct bytes){request->body, (uint32_t)request->body_len};
	if (refused->body.len > REFUSED_BODY_MAX)
		refused->body.len = REFUSED_BODY_MAX;
	note->pending = true;
}

void refused_note_send(struct refused_note *note, struct link *link, struct counting *counting)
{
	const struct refused_note_cmd cmd = {.request = note->request};

	if (!note->pending)
		return;
	note->pending = false;
	counting_refused_note(counting, link_post(link, COMMAND_REFUSED_NOTE, &cmd)
			? NOTE_SENT : NOTE_DROPPED);
	explicit_bzero(note->signature, sizeof(note->signature));
}

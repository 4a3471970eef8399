#include "web/refused_record.h"

#include "base/text.h"
#include "web/request/headers.h"
#include "wire/inspect.h"

#include <string.h>

/* Copies @text, cut to fit, with '?' for the bytes of characters that are not printable ASCII. */
static void copy_printable(char *to, size_t size, const char *text)
{
	size_t len = text ? strnlen(text, size - 1) : 0;

	for (size_t i = 0; i < len; i++)
		to[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '?';
	to[len] = '\0';
}

/* Copies the value of a header if it has the form of an id. */
static void copy_id(char to[CASINO_ID_SIZE], const struct http_variable *header)
{
	if (header->count != 1 || !text_is_name(header->value, CASINO_ID_SIZE - 1) ||
		!text_copy(to, CASINO_ID_SIZE, header->value))
		to[0] = '\0';
}

static enum refused_why why_of(const struct refused_facts *facts)
{
	static const enum refused_why whys[AUTH_FAILURE_COUNT] = {
		[AUTH_HEADERS] = REFUSED_WHY_HEADERS,
		[AUTH_UNKNOWN] = REFUSED_WHY_CALLER,
		[AUTH_SIGNATURE] = REFUSED_WHY_SIGNATURE,
		[AUTH_STALE] = REFUSED_WHY_CLOCK,
		[AUTH_FLOOD] = REFUSED_WHY_FLOOD,
	};

	switch (facts->reply->refusal) {
	case REFUSAL_INVALID_SIGNATURE:
		return whys[facts->why];
	case REFUSAL_STALE_REQUEST:
		return REFUSED_WHY_CLOCK;
	case REFUSAL_RATE_LIMITED:
		return facts->proved ? REFUSED_WHY_NONE : REFUSED_WHY_FLOOD;
	default:
		return REFUSED_WHY_NONE;
	}
}

/* Copies what the headers say. */
static void take_headers(struct refused_call *call, const struct refused_facts *facts)
{
	const struct http_request *request = facts->request;
	bool is_wallet = facts->group == SERVE_WALLET;
	const struct http_variable *caller =
		&request->headers[is_wallet ? HEADER_CASINO_ID : HEADER_CLIENT_ID];
	const struct http_variable *signature =
		&request->headers[is_wallet ? HEADER_SIGNATURE : HEADER_CLIENT_SIGNATURE];

	copy_id(call->caller, caller);
	if (is_wallet)
		memcpy(call->casino_id, call->caller, sizeof(call->casino_id));
	call->caller_count = caller->count;
	call->signature_count = signature->count;
	copy_printable(call->method, sizeof(call->method), request->method.value);
	copy_printable(call->path, sizeof(call->path), request->path);
	copy_printable(call->address, sizeof(call->address), request->remote_address.value);
}

void refused_record_take(struct refused_record *record, const struct refused_facts *facts)
{
	const struct http_reply *reply = facts->reply;
	struct refused_call *call = &record->call;
	const int code = reply_code(reply);
	const size_t len = facts->request->body_len;

	record->pending = code >= 400 && code < 500;
	if (!record->pending)
		return;
	memset(call, 0, sizeof(*call));
	record->boot_ms = facts->request->boot_ms;
	call->time_ms = facts->request->wall_ms;
	text_copy(call->request_id, sizeof(call->request_id), reply->request_id);
	call->of = facts->group == SERVE_WALLET ? KEYRING_DEALERS : KEYRING_CLIENTS;
	call->proved = facts->proved;
	call->why = why_of(facts);
	call->refusal = reply->refusal;
	text_copy(call->detail, sizeof(call->detail), reply->detail);
	text_copy(call->operation, sizeof(call->operation),
		facts->route ? facts->route->operation->name : operation_names[OPERATION_NONE]);
	take_headers(call, facts);
	call->body_len = (uint32_t)len;
	record->body = (struct bytes){facts->request->body, (uint32_t)len};
	if (!facts->proved && len > REFUSED_RECORD_STRANGER_MAX)
		record->body.len = 0;
}

/* Reads the ids of the body. */
static void take_body(struct refused_call *call, struct bytes body)
{
	struct inspect_ids ids;

	inspect_ids(body, &ids);
	if (call->of == KEYRING_CLIENTS)
		memcpy(call->casino_id, ids.casino_id, sizeof(call->casino_id));
	memcpy(call->user_id, ids.user_id, sizeof(call->user_id));
	memcpy(call->player_id, ids.player_id, sizeof(call->player_id));
	memcpy(call->game_id, ids.game_id, sizeof(call->game_id));
	text_copy(call->request_transaction_id, sizeof(call->request_transaction_id),
		ids.request_transaction_id);
	memcpy(call->amount, ids.amount, sizeof(call->amount));
	call->request_timestamp = ids.request_timestamp;
}

void refused_record_queue(struct refused_record *record, struct refusal_queue *queue,
	const char *ledger_path, struct counting *counting)
{
	uint64_t lost = 0;

	if (!record->pending || !queue)
		return;
	record->pending = false;
	if (!refusal_queue_has_share(queue, &record->call, record->boot_ms)) {
		counting_refused_calls(counting, NOTE_DROPPED, 1);
		return;
	}
	if (record->body.len)
		take_body(&record->call, record->body);
	if (refusal_queue_add(queue, &record->call, &lost))
		counting_refused_calls(counting, NOTE_SENT, 1);
	else
		lost++;
	if (lost)
		counting_refused_calls(counting, NOTE_DROPPED, lost);
	refusal_queue_pass(queue, ledger_path);
}

#include "web/request/reply.h"

#include "base/text.h"
#include "web/request/method.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

/*
 * More than the longest body but that of A5. An id has 128 bytes, each of which may be escaped as
 * \u00xx. The 30 days of A4 take 4 KiB at most.
 */
#define REPLY_BODY_MAX 8192
#define REPLY_HEAD_MAX 1024
/* Bytes of a request id that is made here. */
#define REQUEST_ID_MADE_SIZE 21
/* Default of Retry-After, in seconds. */
#define RETRY_AFTER_S 1

bool reply_init(struct http_reply *reply)
{
	memset(reply, 0, sizeof(*reply));
	buffer_init(&reply->head, REPLY_HEAD_MAX);
	buffer_init(&reply->body, REPLY_BODY_MAX);
	buffer_init(&reply->large, REPLY_LARGE_MAX);
	return buffer_reserve(&reply->head, REPLY_HEAD_MAX) &&
		buffer_reserve(&reply->body, REPLY_BODY_MAX);
}

void reply_free(struct http_reply *reply)
{
	buffer_free(&reply->head);
	buffer_free(&reply->body);
	buffer_free(&reply->large);
}

void reply_reset(struct http_reply *reply, const char *request_id)
{
	reply->refusal = REFUSAL_NONE;
	reply->detail[0] = '\0';
	reply->status = STATUS_OK;
	reply->replay = false;
	reply->retry_after_s = 0;
	reply->allow = 0;
	reply->content_type = NULL;
	buffer_reset(&reply->head);
	buffer_reset(&reply->body);
	buffer_free(&reply->large);
	if (request_id && text_is_name(request_id, REQUEST_ID_SIZE - 1))
		text_copy(reply->request_id, sizeof(reply->request_id), request_id);
	else if (!signature_random_id(reply->request_id, REQUEST_ID_MADE_SIZE))
		text_copy(reply->request_id, sizeof(reply->request_id), "none");
}

int reply_code(const struct http_reply *reply)
{
	return refusal_info(reply->refusal)->code;
}

void reply_error(struct http_reply *reply, struct error_body *error)
{
	const struct refusal_info *info = refusal_info(error->refusal);

	reply->refusal = error->refusal;
	snprintf(reply->detail, sizeof(reply->detail), "%s", error->detail ? error->detail : "");
	if ((info->retryable || error->retryable) && !reply->retry_after_s)
		reply->retry_after_s = RETRY_AFTER_S;
	error->request_id = reply->request_id;
	buffer_reset(&reply->body);
	render_error(&reply->body, error);
}

void reply_success(struct http_reply *reply, const struct field *table, const void *record)
{
	reply->refusal = REFUSAL_NONE;
	if (!render_record(&reply->body, table, record)) {
		/*
		 * The command was done, but its result cannot be rendered. A repeated call gets
		 * it.
		 */
		reply->status = STATUS_NOMEM;
		reply->replay = false;
		reply_refuse(reply, REFUSAL_INTERNAL_ERROR, NULL);
	}
}

void reply_success_large(struct http_reply *reply, const struct field *table, const void *record)
{
	reply->refusal = REFUSAL_NONE;
	if (!render_record(&reply->large, table, record))
		reply_fail(reply, STATUS_NOMEM, CALL_READS);
}

const struct buffer *reply_content(const struct http_reply *reply)
{
	return reply->large.len ? &reply->large : &reply->body;
}

void reply_refuse(struct http_reply *reply, enum refusal refusal, const char *detail)
{
	struct error_body error = {.refusal = refusal, .detail = detail};

	reply_error(reply, &error);
}

struct error_body reply_error_of(const struct verdict *verdict)
{
	return (struct error_body){
		.refusal = verdict->refusal,
		.detail = verdict->detail[0] ? verdict->detail : NULL,
		.field = verdict->field,
		.has_balance = verdict->refusal == REFUSAL_INSUFFICIENT_BALANCE,
		.current_balance = verdict->current_balance,
	};
}

struct error_body reply_error_begin(struct http_reply *reply, const struct verdict *verdict)
{
	reply->replay = verdict->replay;
	reply->retry_after_s = verdict->retry_after_s;
	return reply_error_of(verdict);
}

bool reply_render_error(const struct http_reply *reply, const struct verdict *verdict,
	struct buffer *out)
{
	struct error_body error = reply_error_of(verdict);

	error.request_id = reply->request_id;
	return render_error(out, &error);
}

void reply_verdict(struct http_reply *reply, const struct verdict *verdict,
	const struct field *table, const void *record)
{
	struct error_body error = reply_error_begin(reply, verdict);

	if (verdict->refusal == REFUSAL_NONE)
		reply_success(reply, table, record);
	else
		reply_error(reply, &error);
}

void reply_fail(struct http_reply *reply, enum status status, enum call_kind kind)
{
	enum refusal refusal = REFUSAL_INTERNAL_ERROR;

	switch (status) {
	case STATUS_NOT_SENT:
	case STATUS_BUSY:
	case STATUS_PROTOCOL:
	case STATUS_NOMEM:
		refusal = REFUSAL_SERVICE_UNAVAILABLE;
		break;
	case STATUS_UNKNOWN:
		/* 503 promises that nothing moved. After a lost answer that is not known. */
		if (kind == CALL_READS)
			refusal = REFUSAL_SERVICE_UNAVAILABLE;
		break;
	default:
		break;
	}
	reply->status = status;
	reply_refuse(reply, refusal, NULL);
}

void reply_finish(struct http_reply *reply)
{
	struct buffer *head = &reply->head;
	char methods[METHODS_TEXT_MAX];
	int code = reply_code(reply);

	buffer_reset(head);
	buffer_append_str(head, "Status: ");
	buffer_append_number(head, (uint64_t)code);
	buffer_append_str(head, " ");
	buffer_append_str(head, render_reason(code));
	buffer_append_str(head, "\r\nContent-Type: ");
	buffer_append_str(head, reply->content_type ? reply->content_type : "application/json");
	buffer_append_str(head, "\r\nX-Request-Id: ");
	buffer_append_str(head, reply->request_id);
	buffer_append_str(head, "\r\nCache-Control: no-store\r\nContent-Length: ");
	buffer_append_number(head, reply_content(reply)->len);
	buffer_append_str(head, "\r\n");
	if (reply->replay)
		buffer_append_str(head, "X-Idempotent-Replay: true\r\n");
	if (reply->retry_after_s)
		buffer_printf(head, "Retry-After: %u\r\n", reply->retry_after_s);
	if (reply->allow) {
		methods_format(reply->allow, methods);
		buffer_printf(head, "Allow: %s\r\n", methods);
	}
	buffer_append_str(head, "\r\n");
}

#include "dealer/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "dealer/callback.h"
#include "dealer/control.h"
#include "wire/body.h"
#include "wire/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MAX 512
/* Room for the state after a long test. */
#define BODY_OUT_MAX (256 * 1024 * 1024)

struct account_body {
	char user_id[EXTERNAL_ID_SIZE];
	money_t balance;
	char currency[CURRENCY_SIZE];
	money_t shortfall;
};
static const struct field account_body_fields[] = {
	FIELD(FIELD_STR, account_body, user_id),
	FIELD(FIELD_MONEY, account_body, balance),
	FIELD(FIELD_STR, account_body, currency),
	FIELD_END,
};
static const struct field correction_answer_fields[] = {
	FIELD(FIELD_STR, account_body, user_id),
	FIELD(FIELD_MONEY, account_body, balance),
	FIELD(FIELD_STR, account_body, currency),
	FIELD(FIELD_MONEY, account_body, shortfall),
	FIELD_END,
};

void worker_error(struct dealer_worker *worker, int code, const char *id, const char *detail)
{
	buffer_reset(&worker->body);
	buffer_append_str(&worker->body, "{\"id\":");
	render_string(&worker->body, id);
	buffer_append_str(&worker->body, ",\"detail\":");
	render_string(&worker->body, detail);
	buffer_append_str(&worker->body, "}");
	worker->code = code;
}

void worker_refuse(struct dealer_worker *worker, enum dealer_answer answer, const char *detail)
{
	const struct dealer_answer_info *info = &dealer_answers[answer];

	worker->answer = answer;
	worker_error(worker, info->code, info->id, detail && detail[0] ? detail : info->detail);
}

void worker_note(struct dealer_worker *worker, const struct http_request *request,
	const struct dealer_call *call)
{
	const struct http_variable *webhook_id = &request->headers[DEALER_WEBHOOK_ID];
	struct reference_dealer *dealer = worker->dealer;
	struct dealer_event event = {.kind = call->kind,
		.transaction_id = call->transaction_id,
		.result = call->result};

	if (webhook_id->count == 1)
		text_copy(event.webhook_id, sizeof(event.webhook_id), webhook_id->value);
	if (!event.webhook_id[0])
		snprintf(event.webhook_id, sizeof(event.webhook_id), "%s/%" PRIu64,
			callback_kind_names[call->kind], call->transaction_id);
	pthread_mutex_lock(&dealer->mutex);
	worker->ended |= store_note(dealer->store, &event) != STATUS_OK;
	pthread_mutex_unlock(&dealer->mutex);
}

enum dealer_answer worker_apply(struct dealer_worker *worker, const struct dealer_call *call,
	struct dealer_rows *rows,
	void (*alter)(void *context, const struct dealer_call *call, struct dealer_rows *rows),
	void *context)
{
	struct reference_dealer *dealer = worker->dealer;
	enum dealer_answer answer = ANSWER_INTERNAL_ERROR;
	enum status status;

	pthread_mutex_lock(&dealer->mutex);
	status = store_load(dealer->store, call->user_id, call->transaction_id, rows);
	if (status == STATUS_OK) {
		if (alter)
			alter(context, call, rows);
		answer = rules_apply(call, rows);
	}
	if (status == STATUS_OK && (answer == ANSWER_OK || rows->transaction_changed))
		status = store_commit(dealer->store, rows);
	pthread_mutex_unlock(&dealer->mutex);
	if (status == STATUS_OK)
		return answer;
	worker->ended = true;
	return ANSWER_INTERNAL_ERROR;
}

/* A success. */
static void balance_put(struct dealer_worker *worker, const struct dealer_rows *rows)
{
	struct account_body body = {.balance = rows->user.balance, .shortfall = rows->shortfall};

	text_copy(body.user_id, sizeof(body.user_id), rows->user.user_id);
	text_copy(body.currency, sizeof(body.currency), worker->dealer->currency);
	render_record(&worker->body,
		rows->transaction.state == TRANSACTION_CORRECTED ? correction_answer_fields
								 : account_body_fields,
		&body);
}

void worker_answer(struct dealer_worker *worker, enum dealer_answer answer,
	const struct dealer_rows *rows)
{
	if (answer != ANSWER_OK)
		worker_refuse(worker, answer, NULL);
	else if (rows->transaction.state == TRANSACTION_TOMBSTONE)
		buffer_append_str(&worker->body, "{}");
	else
		balance_put(worker, rows);
}

void worker_log(const struct dealer_worker *worker, const struct http_request *request,
	const struct dealer_call *call)
{
	log_line(LOG_LEVEL_INFO, "callback",
		"kind=%s transaction_id=%" PRIu64 " answer=%s code=%d ms=%lld",
		callback_kind_names[call->kind], call->transaction_id,
		worker->answer == ANSWER_OK ? "ok" : dealer_answers[worker->answer].id,
		worker->code, (long long)(clock_boot_ms() - request->boot_ms));
}

static void callback_serve(struct dealer_worker *worker, enum callback_kind kind,
	const struct http_request *request)
{
	char detail[BODY_DETAIL_MAX] = "";
	enum dealer_answer answer;
	struct dealer_call call;
	struct dealer_rows rows;

	if (!keys_signed(worker->dealer->key_file, request)) {
		worker_refuse(worker, ANSWER_INVALID_SIGNATURE, NULL);
		return;
	}
	answer = callback_read(request, kind, &call, detail);
	if (answer != ANSWER_OK) {
		worker_refuse(worker, answer, detail);
		return;
	}
	worker_note(worker, request, &call);
	answer = worker_apply(worker, &call, &rows, NULL, NULL);
	worker_answer(worker, answer, &rows);
	worker_log(worker, request, &call);
}

/* Returns the path below base_path, without its slash, or "" for other paths. */
static const char *path_below(const struct reference_dealer *dealer, const char *path)
{
	size_t len = strlen(dealer->base_path);

	return strncmp(path, dealer->base_path, len) == 0 && path[len] == '/' ? path + len + 1 : "";
}

/* Returns false if the connection must be closed without an answer. */
static bool request_serve(struct dealer_worker *worker, const struct http_request *request)
{
	const struct reference_dealer *dealer = worker->dealer;
	const char *path = path_below(dealer, request->path);
	const char *method = request->method.value ? request->method.value : "";
	enum dealer_served served =
		dealer->hook ? dealer->hook(worker, path, method, request) : SERVED_NOT;

	if (served != SERVED_NOT)
		return served == SERVED;
	if (dealer->control && control_serve(worker, path, method, request))
		return true;
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		if (strcmp(callback_kind_names[i], path) != 0)
			continue;
		if (strcmp(method, "POST") != 0)
			worker_refuse(worker, ANSWER_METHOD_NOT_ALLOWED, NULL);
		else if (request->body_state == HTTP_BODY_TOO_LARGE)
			worker_refuse(worker, ANSWER_PAYLOAD_TOO_LARGE, NULL);
		else
			callback_serve(worker, (enum callback_kind)i, request);
		return true;
	}
	worker_refuse(worker, ANSWER_NOT_FOUND, NULL);
	return true;
}

static void head_put(struct dealer_worker *worker)
{
	buffer_reset(&worker->head);
	buffer_printf(&worker->head,
		"Status: %d %s\r\n%sContent-Type: application/json\r\nCache-Control: no-store\r\n"
		"Content-Length: %zu\r\n\r\n",
		worker->code, render_reason(worker->code),
		worker->answer == ANSWER_METHOD_NOT_ALLOWED ? "Allow: POST\r\n" : "",
		worker->body.len);
}

static void program_serve(void *context, const struct http_request *request,
	struct fcgi_reply *reply)
{
	struct dealer_worker *worker = context;

	buffer_reset(&worker->body);
	worker->answer = ANSWER_OK;
	worker->code = dealer_answers[ANSWER_OK].code;
	reply->cut = !request_serve(worker, request);
	if (worker->body.failed)
		worker_refuse(worker, ANSWER_INTERNAL_ERROR, NULL);
	head_put(worker);
	reply->head = &worker->head;
	reply->body = &worker->body;
	reply->ended = worker->ended;
}

static void program_close(void *context)
{
	struct dealer_worker *worker = context;

	buffer_free(&worker->head);
	buffer_free(&worker->body);
	free(worker);
}

static void *program_open(void *context)
{
	struct dealer_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->dealer = context;
	buffer_init(&worker->head, HEAD_MAX);
	buffer_init(&worker->body, BODY_OUT_MAX);
	/* Room for every answer except the state's. */
	if (buffer_reserve(&worker->head, HEAD_MAX) && buffer_reserve(&worker->body, 4096))
		return worker;
	program_close(worker);
	errno = ENOMEM;
	return NULL;
}

static const char *const header_names[] = {
	[DEALER_SIGNATURE] = "HTTP_X_CASINO_SIGNATURE",
	[DEALER_WEBHOOK_ID] = "HTTP_WEBHOOK_ID",
};

struct fcgi_program dealer_program(struct reference_dealer *dealer)
{
	static const struct http_format format = {.headers = header_names,
		.header_count = DEALER_HEADER_COUNT,
		.body_max = BODY_MAX};
	struct fcgi_program program = {.context = dealer,
		.format = &format,
		.open = program_open,
		.close = program_close,
		.serve = program_serve};

	return program;
}

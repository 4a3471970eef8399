#include "callback/sender.h"

#include "base/clock.h"
#include "base/text.h"
#include "callback/classify.h"
#include "callback/http.h"
#include "wire/signature.h"
#include "wire/trace.h"
#include "wire/webhook.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* contract, "Attempts". */
#define CONNECT_TIMEOUT_MS 1000
#define TOTAL_TIMEOUT_MS   3000
#define TIMESTAMP_MAX      24
#define REQUEST_ID_MAX     65

struct sender {
	struct http_client *client;
	struct sender_options options;
	unsigned int count;
	struct sending *refused; /* could not begin; waiting to be taken */
	struct sending *all;     /* those under way */
};

/* A running attempt, and the memory that its http_call points to. */
struct sending {
	struct sending *next;
	struct sending *prev;
	struct http_answer answer;
	bool (*fence)(void *closure);
	void *closure;
	bool needs_balance;
	char why[CALLBACK_NOTE_SIZE]; /* reason why it cannot be sent */
	char url[CALLBACK_URL_SIZE];
	char signature[SIGNATURE_TEXT_MAX];
	char webhook_id[CALLBACK_EVENT_ID_SIZE];
	char request_id[REQUEST_ID_MAX]; /* "": none */
	char webhook_timestamp[TIMESTAMP_MAX];
	char webhook_signature[WEBHOOK_SIGNATURE_MAX];
	struct http_header headers[5];
	size_t body_len;
	uint8_t body[];
};

struct sender_options sender_options_of(const struct settings *settings)
{
	return (struct sender_options){
		.networks = settings->callback_networks,
		.network_count = settings->callback_network_count,
		.connect_timeout_ms = settings->callback_connect_timeout_ms,
		.total_timeout_ms = settings->callback_timeout_ms,
	};
}

struct sender *sender_new(const struct sender_options *options)
{
	const struct http_demands demands = {
		.public_only = true,
		.networks = options->networks,
		.network_count = options->network_count,
		.ca_file = options->ca_file,
	};
	struct sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return NULL;
	sender->options = *options;
	sender->options.ca_file = NULL; /* the client has its own copy */
	if (!sender->options.connect_timeout_ms)
		sender->options.connect_timeout_ms = CONNECT_TIMEOUT_MS;
	if (!sender->options.total_timeout_ms)
		sender->options.total_timeout_ms = TOTAL_TIMEOUT_MS;
	sender->client = http_client_new();
	if (!sender->client || !http_client_demand(sender->client, &demands)) {
		sender_free(sender);
		return NULL;
	}
	if (options->keep)
		http_client_keep(sender->client, options->keep);
	return sender;
}

static void list_push(struct sending **list, struct sending *sending)
{
	sending->prev = NULL;
	sending->next = *list;
	if (*list)
		(*list)->prev = sending;
	*list = sending;
}

static void list_remove(struct sending **list, struct sending *sending)
{
	if (sending->prev)
		sending->prev->next = sending->next;
	else
		*list = sending->next;
	if (sending->next)
		sending->next->prev = sending->prev;
}

static void sending_free(struct sending *sending)
{
	http_answer_free(&sending->answer);
	free(sending);
}

void sender_free(struct sender *sender)
{
	struct sending *sending;

	if (!sender)
		return;
	/* First, because it still points to the others. */
	http_client_free(sender->client);
	while ((sending = sender->all)) {
		list_remove(&sender->all, sending);
		sending_free(sending);
	}
	while ((sending = sender->refused)) {
		list_remove(&sender->refused, sending);
		sending_free(sending);
	}
	free(sender);
}

unsigned int sender_count(const struct sender *sender)
{
	return sender->count;
}

static void make_url(struct sending *sending, const struct callback_target *target)
{
	size_t size = sizeof(sending->why);

	if (!target->url[0])
		snprintf(sending->why, size,
			"the dealer has no URL: `creditbridgectl dealer "
			"set CASINO --url URL`");
	else if (!callback_path_ok(target->path))
		snprintf(sending->why, size,
			"the path of this callback is not usable: correct "
			"it with `creditbridgectl dealer set`");
	else if (http_url_check(target->url, target->allow_http, sending->why, size))
		callback_target_url(target, sending->url);
}

static void make_signatures(struct sending *sending, const struct callback_request *request)
{
	const struct callback_target *target = request->target;
	int64_t now_s = clock_wall_ms() / 1000;
	const char *secret = NULL;

	callback_event_id(request->kind, request->event, sending->webhook_id);
	snprintf(sending->webhook_timestamp, sizeof(sending->webhook_timestamp), "%" PRId64, now_s);
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (target->keys[i].key_id[0] && target->keys[i].secret[0] &&
			strcmp(target->keys[i].key_id, target->signing_key_id) == 0)
			secret = target->keys[i].secret;
	}
	if (!secret)
		snprintf(sending->why, sizeof(sending->why),
			"the dealer has no signing key: "
			"`creditbridgectl dealer key-add`, then key-use");
	else if (!signature_make(target->signature_algorithm, target->signature_encoding, secret,
			 sending->body, sending->body_len, sending->signature) ||
		!webhook_sign(target->keys, target->signing_key_id, sending->webhook_id, now_s,
			sending->body, sending->body_len, sending->webhook_signature))
		snprintf(sending->why, sizeof(sending->why),
			"the signature could not be "
			"computed: memory is short, or the cryptographic library refuses the "
			"algorithm");
}

static void set_headers(struct sending *sending)
{
	const struct http_header headers[] = {
		{"Content-Type", "application/json"},
		{"x-casino-signature", sending->signature},
		{"webhook-id", sending->webhook_id},
		{"webhook-timestamp", sending->webhook_timestamp},
		{"webhook-signature", sending->webhook_signature},
	};

	_Static_assert(sizeof(headers) == sizeof(sending->headers), "a header has no place");
	memcpy(sending->headers, headers, sizeof(headers));
}

/*
 * Prepares an attempt. Returns NULL if memory is exhausted. If it cannot be sent, @why gets the
 * reason.
 */
static struct sending *prepare_sending(const struct callback_request *request)
{
	struct sending *sending = calloc(1, sizeof(*sending) + request->body.len);

	if (!sending)
		return NULL;
	http_answer_init(&sending->answer);
	sending->answer.owner = sending;
	sending->fence = request->fence;
	sending->closure = request->closure;
	sending->needs_balance = request->target->needs_balance;
	sending->body_len = request->body.len;
	if (request->request_id)
		text_copy(sending->request_id, sizeof(sending->request_id), request->request_id);
	if (request->body.len)
		memcpy(sending->body, request->body.data, request->body.len);
	make_url(sending, request->target);
	if (!sending->why[0])
		make_signatures(sending, request);
	set_headers(sending);
	return sending;
}

/* Logs a body at level debug. */
static void trace_callback(const struct sending *sending, const char *what, const void *body,
	size_t len)
{
	const struct trace_of of = {
		.request_id = sending->request_id[0] ? sending->request_id : NULL,
		.webhook_id = sending->webhook_id,
		.what = what,
	};

	trace_body(&of, (struct bytes){body, (uint32_t)len});
}

static struct http_call make_call(const struct sender *sender, const struct sending *sending)
{
	return (struct http_call){
		.method = "POST",
		.url = sending->url,
		.headers = sending->headers,
		.header_count = sizeof(sending->headers) / sizeof(sending->headers[0]),
		.body = sending->body,
		.body_len = sending->body_len,
		.connect_timeout_ms = sender->options.connect_timeout_ms,
		.total_timeout_ms = sender->options.total_timeout_ms,
		.fence = sending->fence,
		.closure = sending->closure,
	};
}

static void outcome_of(const struct sending *sending, struct callback_outcome *outcome)
{
	if (!sending->why[0]) {
		if (sending->answer.code)
			trace_callback(sending, "callback_answer", sending->answer.body.data,
				sending->answer.body.len);
		classify(&sending->answer, sending->needs_balance, outcome);
		return;
	}
	memset(outcome, 0, sizeof(*outcome));
	outcome->class = CALLBACK_NOT_SENT;
	memcpy(outcome->note, sending->why, sizeof(outcome->note));
}

bool sender_add(struct sender *sender, const struct callback_request *request)
{
	struct sending *sending;
	struct http_call call;

	if (sender->count >= SENDER_INFLIGHT_MAX)
		return false;
	sending = prepare_sending(request);
	if (!sending)
		return false;
	sender->count++;
	if (sending->why[0]) {
		list_push(&sender->refused, sending);
		return true;
	}
	list_push(&sender->all, sending);
	trace_callback(sending, "callback", sending->body, sending->body_len);
	call = make_call(sender, sending);
	http_begin(sender->client, &call, &sending->answer);
	return true;
}

void sender_watch(struct sender *sender, int fd)
{
	http_client_watch(sender->client, fd);
}

void sender_run(struct sender *sender, uint32_t timeout_ms)
{
	/* If an outcome is ready, serve the other attempts without waiting. */
	http_run(sender->client, sender->refused ? 0 : timeout_ms);
}

bool sender_take(struct sender *sender, struct callback_outcome *outcome, void **closure)
{
	struct sending *sending = sender->refused;
	struct http_answer *answer;

	if (sending) {
		list_remove(&sender->refused, sending);
	} else {
		answer = http_take(sender->client);
		if (!answer)
			return false;
		sending = answer->owner;
		list_remove(&sender->all, sending);
	}
	outcome_of(sending, outcome);
	*closure = sending->closure;
	sending_free(sending);
	sender->count--;
	return true;
}

void callback_send(struct sender *sender, const struct callback_request *request,
	struct callback_outcome *outcome)
{
	struct sending *sending = prepare_sending(request);
	struct http_call call;

	if (!sending) {
		memset(outcome, 0, sizeof(*outcome));
		outcome->class = CALLBACK_NOT_SENT;
		snprintf(outcome->note, sizeof(outcome->note), "out of memory");
		return;
	}
	if (!sending->why[0]) {
		trace_callback(sending, "callback", sending->body, sending->body_len);
		call = make_call(sender, sending);
		http_exchange(sender->client, &call, &sending->answer);
	}
	outcome_of(sending, outcome);
	sending_free(sending);
}

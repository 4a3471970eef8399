/*
 * exam_send - sends the requests of `dealer test` and receives the answers.
 */
#include "conformance/exam.h"

#include "base/clock.h"
#include "callback/classify.h"
#include "wire/callback_body.h"
#include "wire/dealer_answer.h"
#include "wire/signature.h"
#include "wire/webhook.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PIECE_MS      200
#define CUT_LEN       8
#define HEADERS_MAX   5
#define TIMESTAMP_MAX 24

/* The headers of a request and their texts. */
struct call_head {
	char signature[SIGNATURE_TEXT_MAX];
	char webhook_id[CALLBACK_EVENT_ID_SIZE];
	char webhook_timestamp[TIMESTAMP_MAX];
	char webhook_signature[WEBHOOK_SIGNATURE_MAX];
	struct http_header headers[HEADERS_MAX];
	unsigned int count;
};

static void add_header(struct call_head *head, const char *name, const char *value)
{
	head->headers[head->count++] = (struct http_header){name, value};
}

/*
 * Makes both signatures with the keys of @target. Returns false if memory or randomness is
 * exhausted.
 */
static bool make_signatures(const struct exam_request *request, struct callback_target *target,
	struct call_head *head)
{
	const struct bytes *body = &request->signed_body;
	int64_t now_s = clock_wall_ms() / 1000;
	const char *secret = "";
	bool made = true;

	callback_event_id(request->kind, request->event, head->webhook_id);
	snprintf(head->webhook_timestamp, sizeof(head->webhook_timestamp), "%" PRId64, now_s);
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		struct dealer_key *key = &target->keys[i];

		if (request->sign == SIGN_OTHER_KEY && key->secret[0])
			made &= signature_new_secret(key->secret);
		if (strcmp(key->key_id, target->signing_key_id) == 0)
			secret = key->secret;
	}
	made = made &&
		signature_make(target->signature_algorithm, target->signature_encoding, secret,
			body->data, body->len, head->signature) &&
		webhook_sign(target->keys, target->signing_key_id, head->webhook_id, now_s,
			body->data, body->len, head->webhook_signature);
	if (request->sign == SIGN_CUT)
		head->signature[CUT_LEN] = '\0';
	return made;
}

static bool make_head(const struct exam *exam, const struct exam_request *request,
	struct call_head *head)
{
	struct callback_target target = exam->targets[request->door];
	bool capital = request->way == WAY_CAPITAL, made;

	memset(head, 0, sizeof(*head));
	if (request->way == WAY_GET)
		return true;
	made = make_signatures(request, &target, head);
	explicit_bzero(target.keys, sizeof(target.keys));
	add_header(head, "Content-Type", "application/json");
	if (request->sign != SIGN_NONE)
		add_header(head, capital ? "X-CASINO-SIGNATURE" : "x-casino-signature",
			head->signature);
	if (request->way != WAY_BARE) {
		add_header(head, capital ? "WEBHOOK-ID" : "webhook-id", head->webhook_id);
		add_header(head, "webhook-timestamp", head->webhook_timestamp);
		if (request->sign != SIGN_NONE && request->sign != SIGN_CUT)
			add_header(head, "webhook-signature", head->webhook_signature);
	}
	return made;
}

/* Returns true if the Content-Type of @answer is JSON. */
static bool says_json(const struct http_answer *answer)
{
	static const char type[] = "application/json";
	const size_t len = sizeof(type) - 1;
	char value[128];

	return http_answer_header(answer, "Content-Type", value, sizeof(value)) &&
		strncasecmp(value, type, len) == 0 && (!value[len] || strchr("; \t", value[len]));
}

/* Records an answer, also in the totals of the exam. */
static void record_answer(struct exam *exam, const struct exam_request *request,
	struct http_answer *answer, struct exam_reply *reply)
{
	classify(answer, exam->targets[request->kind].needs_balance, &reply->outcome);
	reply->is_json = says_json(answer);
	reply->len = answer->body.len;
	if (buffer_append(&answer->body, "", 1))
		dealer_answer_quote(reply->text, sizeof(reply->text),
			(const char *)answer->body.data);
	exam->calls++;
	exam->unanswered = reply->outcome.http_status ? 0 : exam->unanswered + 1;
	if (request->way != WAY_SLOW && reply->outcome.ms > exam->slowest_ms)
		exam->slowest_ms = reply->outcome.ms;
}

/* A request under way. */
struct exam_sending {
	char url[CALLBACK_URL_SIZE];
	struct call_head head;
	struct http_call call;
	struct http_answer answer;
};

/* Prepares @sending. Returns false if the signature cannot be computed. */
static bool prepare_request(const struct exam *exam, const struct exam_request *request,
	struct exam_sending *sending)
{
	const struct settings *settings = &exam->session->settings;
	uint32_t piece_ms = request->way == WAY_SLOW ? PIECE_MS : 0;

	callback_target_url(&exam->targets[request->door], sending->url);
	if (!make_head(exam, request, &sending->head))
		return false;
	sending->call = (struct http_call){
		.method = request->way == WAY_GET ? "GET" : "POST",
		.url = sending->url,
		.headers = sending->head.headers,
		.header_count = sending->head.count,
		.connect_timeout_ms = settings->callback_connect_timeout_ms,
		.total_timeout_ms = settings->callback_timeout_ms + piece_ms * HTTP_PIECES,
		.piece_ms = piece_ms,
		.last = request->way == WAY_LAST,
	};
	if (request->way != WAY_GET) {
		sending->call.body = request->body.data;
		sending->call.body_len = request->body.len;
	}
	return true;
}

void exam_send(struct exam *exam, const struct exam_request *requests, unsigned int count,
	struct exam_reply replies[EXAM_COPIES])
{
	struct exam_sending sendings[EXAM_COPIES];
	bool prepared[EXAM_COPIES];
	unsigned int begun = 0;

	memset(replies, 0, count * sizeof(*replies));
	for (unsigned int i = 0; i < count; i++) {
		prepared[i] = prepare_request(exam, &requests[i], &sendings[i]);
		if (prepared[i])
			continue;
		replies[i].outcome.class = CALLBACK_NOT_SENT;
		snprintf(replies[i].outcome.note, sizeof(replies[i].outcome.note),
			"the signature could not be computed: memory is short, or the "
			"cryptographic library refuses the algorithm");
	}
	for (unsigned int i = 0; i < count; i++) {
		http_answer_init(&sendings[i].answer);
		if (prepared[i])
			http_begin(exam->client, &sendings[i].call, &sendings[i].answer);
		begun += prepared[i];
	}
	for (unsigned int taken = 0; taken < begun;) {
		http_run(exam->client, exam->session->settings.callback_timeout_ms);
		while (http_take(exam->client))
			taken++;
	}
	for (unsigned int i = 0; i < count; i++) {
		if (prepared[i])
			record_answer(exam, &requests[i], &sendings[i].answer, &replies[i]);
		http_answer_free(&sendings[i].answer);
	}
}

bool exam_ask(struct exam *exam)
{
	static const struct exam_step step = {.action = EXAM_BALANCE};
	static const struct exam_round round = {.number = 0, .name = "balance"};
	struct exam_request request = {.kind = CALLBACK_BALANCE_INQUIRE,
		.door = CALLBACK_BALANCE_INQUIRE};
	struct exam_reply replies[EXAM_COPIES] = {{.is_json = false}};
	const struct callback_outcome *outcome = &replies[0].outcome;
	struct buffer body;

	buffer_init(&body, CALLBACK_BODY_MAX);
	exam->has_balance = exam_body(exam, &round, &step, 0, 0, &body);
	if (exam->has_balance) {
		request.event = exam_id(exam);
		request.body = request.signed_body = (struct bytes){body.data, (uint32_t)body.len};
		exam_send(exam, &request, 1, replies);
		exam->has_balance =
			callback_balance_ok(outcome, exam->player.user_id, exam->dealer.currency);
		exam->balance = outcome->balance;
		snprintf(exam->balance_note, sizeof(exam->balance_note), "%s%s%s",
			callback_class_names[outcome->class], outcome->note[0] ? ", " : "",
			outcome->dealer_error_id[0] ? outcome->dealer_error_id : outcome->note);
	} else {
		snprintf(exam->balance_note, sizeof(exam->balance_note), "out of memory");
	}
	buffer_free(&body);
	return exam->has_balance;
}

#include "doctor/probe.h"

#include "metrics/counters.h"
#include "wire/body.h"
#include "wire/dealer_answer.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

#define CONNECT_MS 3000
/* A worker waits at most 6 s for the ledger. */
#define TOTAL_MS 8000

/* Returns true if a worker answered: the answer contains the request id. */
static bool is_ours(const struct http_answer *answer, const char *request_id)
{
	char value[128];

	return http_answer_header(answer, "X-Request-Id", value, sizeof(value)) &&
		strcmp(value, request_id) == 0;
}

static void read_probe_answer(struct probe *probe, const struct http_answer *answer,
	const char *request_id)
{
	struct callback_outcome outcome;
	char value[128];

	memset(&outcome, 0, sizeof(outcome));
	probe->code = answer->code;
	probe->ours = is_ours(answer, request_id);
	if (dealer_answer_read(answer->body.data, answer->body.len, &outcome) ==
		DEALER_ANSWER_ERROR)
		snprintf(probe->id, sizeof(probe->id), "%s", outcome.dealer_error_id);
	http_answer_header(answer, "Date", probe->date, sizeof(probe->date));
	http_answer_header(answer, "Location", probe->location, sizeof(probe->location));
	if (http_answer_header(answer, "Server", value, sizeof(value)))
		dealer_answer_quote(probe->server, sizeof(probe->server), value);
}

void probe_call(struct probe *probe, const char *base, const char *method,
	enum web_operation operation, size_t body_len)
{
	static char body[BODY_MAX + 1];
	char random[21] = "", request_id[32];
	const struct http_header headers[] = {
		{"Content-Type", "application/json"},
		{"X-Request-Id", request_id},
	};
	struct http_call http_call = {
		.method = method,
		.headers = headers,
		.header_count = sizeof(headers) / sizeof(headers[0]),
		.body = body_len ? body : NULL,
		.body_len = body_len,
		.connect_timeout_ms = CONNECT_MS,
		.total_timeout_ms = TOTAL_MS,
	};
	struct http_client *client = http_client_new();
	struct http_answer answer;
	size_t len = strlen(base);

	memset(probe, 0, sizeof(*probe));
	probe->outcome = HTTP_FAILED;
	while (len && base[len - 1] == '/')
		len--;
	snprintf(probe->url, sizeof(probe->url), "%.*s%s", (int)len, base,
		http_operations[operation].path);
	http_call.url = probe->url;
	memset(body, ' ', sizeof(body));
	memcpy(body, "{}", 2);
	signature_random_id(random, sizeof(random));
	snprintf(request_id, sizeof(request_id), COUNTERS_DOCTOR_PREFIX "%s", random);
	http_answer_init(&answer);
	if (client) {
		probe->outcome = http_exchange(client, &http_call, &answer);
		if (probe->outcome == HTTP_ANSWERED)
			read_probe_answer(probe, &answer, request_id);
		probe->fault = answer.fault;
		dealer_answer_quote(probe->error, sizeof(probe->error), answer.error);
		http_client_free(client);
	}
	http_answer_free(&answer);
}

bool probe_finds_wallet(const char *base)
{
	struct probe probe;

	probe_call(&probe, base, "GET", PROBE_WALLET, 0);
	return probe.ours && probe.code == 405;
}

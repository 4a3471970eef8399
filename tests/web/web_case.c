#include "web_case.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "web/request/headers.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

/*
 * Deadline for the ledger's answers. It is relative to the boot time that a test supplies, which
 * may not advance during the test. It is therefore longer than any test, also under valgrind.
 */
#define DEADLINE_MS (3600 * 1000)

struct fake_ledger fake;
struct web_service service;
struct flood flood;
struct worker worker;
unsigned int signatures;
unsigned int signatures_of[SIGNATURE_ALGORITHM_COUNT];
size_t signature_bytes;
static struct network loopback;

bool __real_signature_verify(const struct signature *given, const char *secret, const void *body,
	size_t len);
bool __wrap_signature_verify(const struct signature *given, const char *secret, const void *body,
	size_t len);

bool __wrap_signature_verify(const struct signature *given, const char *secret, const void *body,
	size_t len)
{
	signatures++;
	signature_bytes += len;
	signatures_of[given->algorithm]++;
	return __real_signature_verify(given, secret, body, len);
}

static void setup(enum serve_group group)
{
	/*
	 * Requests are logged on standard error, because a program reads a test's standard
	 * output.
	 */
	log_open("test", false, LOG_LEVEL_ERROR);
	fake_init(&fake);
	fake_add_dealer(&fake, "demo", KEY_ONE, KEY_TWO);
	fake_add_dealer(&fake, "other", KEY_OTHER, "");
	fake_add_client(&fake, "game", KEY_ONE, KEY_TWO);
	fake_add_client(&fake, "other", KEY_OTHER, "");
	fake_start(&fake);
	ck_assert(network_parse("127.0.0.0/8", &loopback));
	service = (struct web_service){
		.group = group,
		.request_window_s = 300,
		.ledger_deadline_ms = DEADLINE_MS,
		.callbacks = {.networks = &loopback, .network_count = 1, .total_timeout_ms = 3000},
	};
	ck_assert(flood_init(&flood));
	service.flood = &flood;
	ck_assert(text_copy(service.ledger_path, sizeof(service.ledger_path), fake.path));
	ck_assert(worker_init(&worker, &service));
}

void web_case_setup(void)
{
	setup(SERVE_WALLET);
}

void web_case_platform(void)
{
	setup(SERVE_PLATFORM);
}

void web_case_teardown(void)
{
	worker_free(&worker);
	fake_stop(&fake);
}

/* The unread part of a body in memory. */
struct text_source {
	const char *at;
	size_t left;
};

static size_t text_read(void *context, void *to, size_t len)
{
	struct text_source *source = context;

	if (len > source->left)
		len = source->left;
	memcpy(to, source->at, len);
	source->at += len;
	source->left -= len;
	return len;
}

static const char *or_default(const char *text, const char *preset)
{
	return text ? text : preset;
}

void request_read(struct http_request *request, char *const *environment)
{
	const char *equals;

	http_request_begin(request, &web_format);
	for (; *environment; environment++) {
		equals = strchr(*environment, '=');
		if (equals)
			http_request_variable(request, *environment,
				(size_t)(equals - *environment), equals + 1);
	}
	http_request_route(request);
}

int ask_at(const struct ask *ask, int64_t wall_ms, int64_t boot_ms)
{
	static char lines[5][256];
	static uint8_t store[BODY_MAX + 1];
	char *environment[sizeof(lines) / sizeof(lines[0]) + 4 + 1];
	const char *body = or_default(ask->body, BODY_TRANSFER);
	bool is_wallet = service.group == SERVE_WALLET;
	const char *caller = or_default(ask->caller, is_wallet ? "demo" : "game");
	const char *kind = is_wallet ? "CASINO" : "CLIENT";
	char signature[SIGNATURE_TEXT_MAX];
	struct text_source text = {body, strlen(body)};
	struct http_source source = {.read = text_read, .context = &text};
	struct http_request request;
	size_t count = 0;

	ck_assert(signature_make(HMAC_SHA256, ENCODING_HEX, or_default(ask->key, KEY_ONE), body,
		text.left, signature));
	snprintf(lines[0], sizeof(lines[0]), "REQUEST_METHOD=%s", or_default(ask->method, "POST"));
	snprintf(lines[1], sizeof(lines[1]), "PATH_INFO=%s", or_default(ask->path, TRANSFER_IN));
	snprintf(lines[2], sizeof(lines[2]), "CONTENT_LENGTH=%zu", text.left);
	snprintf(lines[3], sizeof(lines[3]), "HTTP_X_%s_ID=%s", kind, caller);
	snprintf(lines[4], sizeof(lines[4]), "HTTP_X_%s_SIGNATURE=%s", kind,
		or_default(ask->signature, signature));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strcmp(strchr(lines[i], '='), "=-") != 0)
			environment[count++] = lines[i];
	}
	for (size_t i = 0; i < 4 && ask->more[i]; i++)
		environment[count++] = (char *)(uintptr_t)ask->more[i];
	environment[count] = NULL;
	request_read(&request, environment);
	ck_assert(http_body_read(&request, store, &source));
	request.wall_ms = wall_ms;
	request.boot_ms = boot_ms;
	request.excess = ask->excess;
	signatures = 0;
	signature_bytes = 0;
	memset(signatures_of, 0, sizeof(signatures_of));
	serve(&worker, &request);
	return reply_code(&worker.reply);
}

int ask(const struct ask *what)
{
	return ask_at(what, NOW_MS, clock_boot_ms());
}

static const char *text_of(const struct buffer *buffer, char *text, size_t size)
{
	ck_assert(!buffer->failed && buffer->len < size);
	memcpy(text, buffer->data, buffer->len);
	text[buffer->len] = '\0';
	return text;
}

const char *reply_head(void)
{
	static char text[2048];

	return text_of(&worker.reply.head, text, sizeof(text));
}

const char *reply_body(void)
{
	static char text[32768];

	return text_of(reply_content(&worker.reply), text, sizeof(text));
}

bool reply_has(const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\r\n%s\r\n", line);
	return strstr(reply_head(), whole) != NULL;
}

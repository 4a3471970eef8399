#include "callback/http.h"

#include "base/clock.h"
#include "callback/curl_library.h"
#include "callback/http_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct http_client {
	CURLM *multi;
	struct http_demands demands;
	struct http_sockets sockets;
	char *ca_file;
	struct exchange *active;
	struct exchange *spare;
	unsigned int active_count;
	int watched;              /* a descriptor whose readiness ends http_run(); -1: none */
	struct http_answer *done; /* oldest first */
	struct http_answer **done_end;
};

void http_client_keep(struct http_client *client, unsigned int count)
{
	curl_library.multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)count);
}

struct http_client *http_client_new(void)
{
	struct http_client *client = curl_library_load() ? calloc(1, sizeof(*client)) : NULL;

	if (!client)
		return NULL;
	client->multi = curl_library.multi_init();
	if (!client->multi) {
		free(client);
		return NULL;
	}
	http_client_keep(client, HTTP_EXCHANGES_MAX);
	curl_library.multi_setopt(client->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
	client->done_end = &client->done;
	client->watched = -1;
	return client;
}

static void list_push(struct exchange **list, struct exchange *exchange)
{
	exchange->prev = NULL;
	exchange->next = *list;
	if (*list)
		(*list)->prev = exchange;
	*list = exchange;
}

static void list_remove(struct exchange **list, struct exchange *exchange)
{
	if (exchange->prev)
		exchange->prev->next = exchange->next;
	else
		*list = exchange->next;
	if (exchange->next)
		exchange->next->prev = exchange->prev;
}

void http_client_watch(struct http_client *client, int fd)
{
	client->watched = fd;
}

void http_client_free(struct http_client *client)
{
	struct exchange *exchange;

	if (!client)
		return;
	while ((exchange = client->active)) {
		list_remove(&client->active, exchange);
		curl_library.multi_remove_handle(client->multi, exchange->curl);
		exchange_free(exchange);
	}
	while ((exchange = client->spare)) {
		list_remove(&client->spare, exchange);
		exchange_free(exchange);
	}
	curl_library.multi_cleanup(client->multi);
	free(client->ca_file);
	free(client);
}

bool http_client_demand(struct http_client *client, const struct http_demands *demands)
{
	char *ca_file = NULL;

	if (demands->ca_file) {
		ca_file = strdup(demands->ca_file);
		if (!ca_file)
			return false;
	}
	free(client->ca_file);
	client->ca_file = ca_file;
	client->demands = *demands;
	client->demands.ca_file = ca_file;
	return true;
}

void http_answer_init(struct http_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->outcome = HTTP_FAILED;
	buffer_init(&answer->headers, HTTP_ANSWER_HEADER_MAX);
	buffer_init(&answer->body, HTTP_ANSWER_MAX);
}

void http_answer_free(struct http_answer *answer)
{
	buffer_free(&answer->headers);
	buffer_free(&answer->body);
}

static void answer_done(struct http_client *client, struct http_answer *answer)
{
	answer->done = true;
	answer->next = NULL;
	*client->done_end = answer;
	client->done_end = &answer->next;
}

/* Ends an exchange that the multi handle no longer holds. */
static void finish_exchange(struct http_client *client, struct exchange *exchange, CURLcode code)
{
	struct http_answer *answer = exchange->answer;

	list_remove(&client->active, exchange);
	client->active_count--;
	exchange_end(exchange, code);
	list_push(&client->spare, exchange);
	answer_done(client, answer);
}

void http_begin(struct http_client *client, const struct http_call *call,
	struct http_answer *answer)
{
	struct exchange *exchange = client->spare;

	buffer_reset(&answer->headers);
	buffer_reset(&answer->body);
	answer->error[0] = '\0';
	answer->code = 0;
	answer->ms = 0;
	answer->timed_out = answer->done = false;
	answer->outcome = HTTP_FAILED;
	if (client->active_count >= HTTP_EXCHANGES_MAX) {
		snprintf(answer->error, sizeof(answer->error),
			"more than %d calls at a time: "
			"repeat this later",
			HTTP_EXCHANGES_MAX);
		answer_done(client, answer);
		return;
	}
	if (exchange)
		list_remove(&client->spare, exchange);
	else
		exchange = exchange_new(&client->demands, &client->sockets);
	if (!exchange) {
		snprintf(answer->error, sizeof(answer->error), "out of memory");
		answer_done(client, answer);
		return;
	}
	if (!exchange_begin(exchange, call, answer)) {
		list_push(&client->spare, exchange);
		answer_done(client, answer);
		return;
	}
	list_push(&client->active, exchange);
	client->active_count++;
	if (curl_library.multi_add_handle(client->multi, exchange->curl) != CURLM_OK)
		finish_exchange(client, exchange, CURLE_OUT_OF_MEMORY);
}

/* Collects the exchanges that libcurl has finished. */
static void reap_exchanges(struct http_client *client)
{
	struct exchange *exchange = NULL;
	CURLMsg *message;
	CURLcode code;
	int left;

	while ((message = curl_library.multi_info_read(client->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		/* The message is freed with the handle. */
		code = message->data.result;
		curl_library.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
		curl_library.multi_remove_handle(client->multi, exchange->curl);
		if (exchange_again(exchange) &&
			curl_library.multi_add_handle(client->multi, exchange->curl) == CURLM_OK)
			continue;
		finish_exchange(client, exchange, code);
	}
}

/* libcurl itself failed: end every exchange with the outcome that it may have had. */
static void give_up(struct http_client *client)
{
	while (client->active) {
		struct exchange *exchange = client->active;

		curl_library.multi_remove_handle(client->multi, exchange->curl);
		finish_exchange(client, exchange, CURLE_FAILED_INIT);
	}
}

/* Resumes bodies whose next piece is due. Returns the time to the next piece in milliseconds. */
static int64_t resume_bodies(struct http_client *client)
{
	struct exchange *exchange, *next;
	int64_t soonest_ms = INT64_MAX, ms;

	for (exchange = client->active; exchange; exchange = next) {
		next = exchange->next;
		ms = exchange_wake(exchange);
		soonest_ms = ms < soonest_ms ? ms : soonest_ms;
	}
	return soonest_ms;
}

/*
 * Waits for the sockets. Returns true if the watched descriptor is readable, for the caller that
 * awaits no particular exchange.
 */
static bool wait_sockets(struct http_client *client, bool watches, int64_t ms)
{
	struct curl_waitfd watched = {.fd = client->watched, .events = CURL_WAIT_POLLIN};
	bool has = watches && client->watched >= 0;

	if (curl_library.multi_poll(client->multi, has ? &watched : NULL, has, (int)ms, NULL) !=
		CURLM_OK)
		give_up(client);
	return has && watched.revents;
}

/* Runs until @awaited is done (NULL: any), none is left, or @timeout_ms have passed. */
static void run_client(struct http_client *client, const struct http_answer *awaited,
	uint32_t timeout_ms)
{
	int64_t deadline_ms = clock_boot_ms() + timeout_ms, left_ms, wake_ms;
	int running;

	for (;;) {
		if (curl_library.multi_perform(client->multi, &running) != CURLM_OK)
			give_up(client);
		reap_exchanges(client);
		left_ms = deadline_ms - clock_boot_ms();
		if ((awaited ? awaited->done : client->done != NULL) || !client->active ||
			left_ms <= 0)
			return;
		wake_ms = resume_bodies(client);
		left_ms = wake_ms < left_ms ? wake_ms : left_ms;
		if (wait_sockets(client, !awaited, left_ms))
			deadline_ms = 0;
	}
}

void http_run(struct http_client *client, uint32_t timeout_ms)
{
	run_client(client, NULL, timeout_ms);
}

struct http_answer *http_take(struct http_client *client)
{
	struct http_answer *answer = client->done;

	if (!answer)
		return NULL;
	client->done = answer->next;
	if (!client->done)
		client->done_end = &client->done;
	answer->next = NULL;
	return answer;
}

/* Removes one answer from the list of finished ones, at any position. */
static void take_this(struct http_client *client, struct http_answer *answer)
{
	struct http_answer **link = &client->done;

	while (*link != answer)
		link = &(*link)->next;
	*link = answer->next;
	if (!*link)
		client->done_end = link;
	answer->next = NULL;
}

enum http_outcome http_exchange(struct http_client *client, const struct http_call *call,
	struct http_answer *answer)
{
	http_begin(client, call, answer);
	while (!answer->done)
		run_client(client, answer, call->total_timeout_ms);
	take_this(client, answer);
	return answer->outcome;
}

/*
 * Returns the value of the next header @name after @at, and its length, or NULL. *at is 0 at first.
 */
static const char *next_header(const struct http_answer *answer, const char *name, size_t *at,
	size_t *len)
{
	size_t name_len = strlen(name);

	while (*at < answer->headers.len) {
		const char *line = (const char *)answer->headers.data + *at;
		const char *end = memchr(line, '\n', answer->headers.len - *at);

		*at += (size_t)(end - line) + 1;
		if ((size_t)(end - line) > name_len && line[name_len] == ':' &&
			strncasecmp(line, name, name_len) == 0) {
			for (line += name_len + 1; line < end && strchr(" \t", *line);)
				line++;
			*len = (size_t)(end - line);
			return line;
		}
	}
	return NULL;
}

bool http_answer_header(const struct http_answer *answer, const char *name, char *value,
	size_t size)
{
	size_t at = 0, len;
	const char *text = next_header(answer, name, &at, &len);

	if (!text || len >= size)
		return false;
	memcpy(value, text, len);
	value[len] = '\0';
	return true;
}

bool http_answer_only(const struct http_answer *answer, const char *name, const char *value)
{
	size_t at = 0, len;
	const char *text;

	while ((text = next_header(answer, name, &at, &len))) {
		if (len != strlen(value) || strncasecmp(text, value, len) != 0)
			return false;
	}
	return true;
}

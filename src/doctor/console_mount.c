/*
 * doctor_console_mount - checks at the URL of the web console that the web server asks for a user, over
 * TLS only, and that the console answers through it.
 */
#include "doctor/doctor.h"

#include "callback/http.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define URL_MAX_BYTES 2048
#define CONNECT_MS    3000
#define TOTAL_MS      8000

/* The answer to a request without a user. */
struct visit {
	char url[URL_MAX_BYTES];
	enum http_outcome outcome;
	enum http_fault fault;
	int code;
	char error[HTTP_ERROR_SIZE];
	char page[1024]; /* the beginning of the body */
};

static void visit_url(struct visit *visit, const char *scheme, const char *rest)
{
	const struct http_call call = {
		.method = "GET",
		.url = visit->url,
		.connect_timeout_ms = CONNECT_MS,
		.total_timeout_ms = TOTAL_MS,
	};
	struct http_client *client = http_client_new();
	struct http_answer answer;
	size_t len = strlen(rest);

	memset(visit, 0, sizeof(*visit));
	visit->outcome = HTTP_FAILED;
	while (len && rest[len - 1] == '/')
		len--;
	snprintf(visit->url, sizeof(visit->url), "%s%.*s/", scheme, (int)len, rest);
	http_answer_init(&answer);
	if (client) {
		visit->outcome = http_exchange(client, &call, &answer);
		visit->fault = answer.fault;
		visit->code = answer.code;
		snprintf(visit->error, sizeof(visit->error), "%s", answer.error);
		snprintf(visit->page, sizeof(visit->page), "%.*s", (int)answer.body.len,
			(const char *)answer.body.data);
		http_client_free(client);
	}
	http_answer_free(&answer);
}

/* Answers that are wrong, and what to do. @words are on the page of the console; "": any page. */
static const struct {
	int code;
	const char *words;
	const char *found;
	const char *remedy;
} wrong_answers[] = {
	{403, "named no user", "the web server asks for no user",
		"require a valid user in the location of the console: see fcgi-conf/console-*.conf"},
	{403, "over TLS only", "the web server does not say that the request came over TLS",
		"let it pass HTTPS=on: see fcgi-conf/console-*.conf"},
	{403, "", "the web server forbids it",
		"allow the location of the console in its configuration"},
	{404, "", "the console is not mounted there",
		"include fcgi-conf/console-*.conf in that host, or give the right URL"},
	{500, "", "the web server fails", "see the web server's log"},
	{502, "", "the web server reaches no console", "see console_sockets"},
	{503, "", "the web server reaches no console, or the console no ledger",
		"see console_sockets"},
	{504, "", "the console does not answer in time", "see the console's log"},
	{200, "", "the page is shown without a user",
		"require a valid user in the location of the console: see fcgi-conf/console-*.conf"},
};

/* Judges what the console or the web server answered to a request without a user. */
static bool judge_visit(struct doctor *doctor, const struct visit *visit)
{
	const char *remedy;

	if (visit->outcome != HTTP_ANSWERED) {
		remedy = http_fault_remedy(visit->fault);
		doctor_fail(doctor, "%s: no answer: %s", visit->url, visit->error);
		doctor_remedy(doctor, "%s",
			remedy[0] ? remedy : "start the web server, or give the right URL");
		return false;
	}
	for (size_t i = 0; i < sizeof(wrong_answers) / sizeof(wrong_answers[0]); i++) {
		if (visit->code != wrong_answers[i].code ||
			!strstr(visit->page, wrong_answers[i].words))
			continue;
		doctor_fail(doctor, "%s: HTTP %d: %s", visit->url, visit->code,
			wrong_answers[i].found);
		doctor_remedy(doctor, "%s", wrong_answers[i].remedy);
		return false;
	}
	return true;
}

static bool is_loopback(const char *url)
{
	char host[256];

	return http_url_host(url, host, sizeof(host)) &&
		(strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
			(strncmp(host, "127.", 4) == 0 && inet_addr(host) != INADDR_NONE));
}

/* The same address without TLS must not ask for a password. @rest has no port, so both ports are known. */
static void judge_plain(struct doctor *doctor, const char *rest)
{
	struct visit visit;

	if (strchr(rest, ':') || strchr(rest, '['))
		return;
	visit_url(&visit, "http://", rest);
	if (visit.outcome != HTTP_ANSWERED || visit.code != 401)
		return;
	doctor_fail(doctor, "%s asks for a password without TLS", visit.url);
	doctor_remedy(doctor, "mount the console in the HTTPS host only (SSLRequireSSL in Apache)");
}

void doctor_console_mount(struct doctor *doctor)
{
	const char *url = doctor->options->console_url;
	struct visit visit;

	if (strncmp(url, "https://", 8) == 0) {
		visit_url(&visit, "https://", url + 8);
		if (judge_visit(doctor, &visit))
			judge_plain(doctor, url + 8);
	} else if (strncmp(url, "http://", 7) == 0 && is_loopback(url)) {
		visit_url(&visit, "http://", url + 7);
		judge_visit(doctor, &visit);
	} else {
		doctor_fail(doctor, "%s has no TLS: others on the network see passwords and codes",
			url);
		doctor_remedy(doctor, "serve the console over https, and give that URL");
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%s asks for a user", url);
}

/*
 * send_one - sends callbacks as standard input says, and prints what came of each, for
 * tests/callback/test_faults.py.
 *
 * send_one [-c CA_FILE] [-n NETWORK]... [-t TOTAL_MS] [-k CONNECT_MS]
 *
 * A line is fields with tabs between them:
 *   add  JOB KIND EVENT FLAGS URL PATH BODY   begins an attempt
 *   call JOB KIND EVENT FLAGS URL PATH BODY   does one from beginning to end
 *   wait                                      waits for all attempts
 *   sleep MS
 * KIND is a number; FLAGS hold h: http is allowed; f: the fence says no; 2: two keys are live.
 * For each attempt one line {"job", "fences", "outcome"} is printed; fences counts how often the
 * fence was asked.
 *
 * Names ending in .invalid are not found; hang.example takes ten seconds to be; at.HOST has the
 * addresses of HOST, two.HOST a forbidden one and those of HOST.
 */
#include "base/clock.h"
#include "base/settings.h"
#include "callback/sender.h"
#include "wire/render.h"

#include <dlfcn.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS     7
#define LINE_BYTES (1024 * 1024)
#define KEY1       "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KEY2       "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

struct job {
	char name[128];
	bool pass; /* what the fence says */
	unsigned int fences;
};

static struct network networks[SETTINGS_NETWORKS_MAX];

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Stands before the C library's: libcurl's resolver comes here. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
	struct addrinfo **result)
{
	typedef int function(const char *, const char *, const struct addrinfo *,
		struct addrinfo **);
	function *real;
	void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

	memcpy(&real, &symbol, sizeof(real));
	if (node && ends_with(node, ".invalid"))
		return EAI_NONAME;
	if (node && strcmp(node, "hang.example") == 0) {
		clock_sleep_ms(10000);
		return EAI_AGAIN;
	}
	if (node && strncmp(node, "at.", 3) == 0)
		return real(node + 3, service, hints, result);
	if (node && strncmp(node, "two.", 4) == 0) {
		int first = real("10.255.255.1", service, hints, result);

		return first ? first : real(node + 4, service, hints, &(*result)->ai_next);
	}
	return real(node, service, hints, result);
}

static bool fence(void *closure)
{
	struct job *job = closure;

	job->fences++;
	return job->pass;
}

static void print(struct job *job, const struct callback_outcome *outcome)
{
	struct buffer out;

	buffer_init(&out, 65536);
	buffer_append_str(&out, "{\"job\":");
	render_string(&out, job->name);
	buffer_printf(&out, ",\"fences\":%u,\"outcome\":", job->fences);
	if (!render_record(&out, callback_outcome_fields, outcome))
		exit(EXIT_FAILURE);
	printf("%.*s}\n", (int)out.len, (const char *)out.data);
	fflush(stdout);
	buffer_free(&out);
	free(job);
}

static void take_all(struct sender *sender)
{
	struct callback_outcome outcome;
	void *closure;

	while (sender_take(sender, &outcome, &closure))
		print(closure, &outcome);
}

static void wait_all(struct sender *sender)
{
	take_all(sender);
	while (sender_count(sender)) {
		sender_run(sender, 60000);
		take_all(sender);
	}
}

static void make_target(struct callback_target *target, char *const *fields)
{
	memset(target, 0, sizeof(*target));
	target->allow_http = strchr(fields[3], 'h') != NULL;
	snprintf(target->url, sizeof(target->url), "%s", fields[4]);
	snprintf(target->path, sizeof(target->path), "%s", fields[5]);
	strcpy(target->keys[0].key_id, "k1");
	strcpy(target->keys[0].secret, KEY1);
	strcpy(target->signing_key_id, "k1");
	if (strchr(fields[3], '2')) {
		strcpy(target->keys[1].key_id, "k2");
		strcpy(target->keys[1].secret, KEY2);
		strcpy(target->signing_key_id, "k2");
	}
}

static void send_job(struct sender *sender, bool wait, char *const *fields)
{
	struct job *job = calloc(1, sizeof(*job));
	struct callback_target target;
	struct callback_outcome outcome;
	struct callback_request request = {
		.kind = (enum callback_kind)atoi(fields[1]),
		.event = strtoull(fields[2], NULL, 10),
		.target = &target,
		.body = {(const uint8_t *)fields[6], (uint32_t)strlen(fields[6])},
		.fence = fence,
		.closure = job,
	};

	if (!job)
		exit(EXIT_FAILURE);
	snprintf(job->name, sizeof(job->name), "%s", fields[0]);
	job->pass = !strchr(fields[3], 'f');
	make_target(&target, fields);
	if (wait) {
		callback_send(sender, &request, &outcome);
		print(job, &outcome);
	} else if (!sender_add(sender, &request)) {
		fprintf(stderr, "send_one: %s cannot be added\n", job->name);
		exit(EXIT_FAILURE);
	}
	/* What was lent is no longer needed. */
	memset(&target, 'x', sizeof(target));
	memset(fields[6], 'x', strlen(fields[6]));
}

static void obey(struct sender *sender, char *line)
{
	char *fields[FIELDS + 1] = {strsep(&line, "\t")};
	unsigned int count = 1;

	while (line && count <= FIELDS)
		fields[count++] = strsep(&line, "\t");
	if (strcmp(fields[0], "wait") == 0) {
		wait_all(sender);
	} else if (strcmp(fields[0], "sleep") == 0 && count == 2) {
		clock_sleep_ms(atoi(fields[1]));
	} else if (count == FIELDS + 1) {
		send_job(sender, strcmp(fields[0], "call") == 0, fields + 1);
	} else {
		fprintf(stderr, "send_one: %s: no such line\n", fields[0]);
		exit(EXIT_FAILURE);
	}
	/* If a test sends its lines slowly, the calls under way go on meanwhile. */
	sender_run(sender, 0);
	take_all(sender);
}

int main(int argc, char **argv)
{
	static char line[LINE_BYTES];
	struct sender_options options = {.networks = networks};
	struct sender *sender;
	int option;

	signal(SIGPIPE, SIG_IGN);
	while ((option = getopt(argc, argv, "c:n:t:k:")) != -1) {
		if (option == 'c')
			options.ca_file = optarg;
		else if (option == 't')
			options.total_timeout_ms = (uint32_t)atoi(optarg);
		else if (option == 'k')
			options.connect_timeout_ms = (uint32_t)atoi(optarg);
		else if (option != 'n' || options.network_count >= SETTINGS_NETWORKS_MAX ||
			!network_parse(optarg, &networks[options.network_count++]))
			return 2;
	}
	sender = sender_new(&options);
	if (!sender)
		return EXIT_FAILURE;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(sender, line);
	}
	wait_all(sender);
	sender_free(sender);
	return EXIT_SUCCESS;
}

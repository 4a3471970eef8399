/*
 * hello - a FastCGI application that does nothing: the ceiling of what is measured here.
 *
 * Takes the options of creditbridge.fcgi that web servers give it (--threads N, --socket PATH,
 * --together, with which each process serves by itself; the rest is ignored), reads each request's
 * body and answers with as many bytes as a transfer's answer has. --delay-us N sleeps before
 * each answer and --answer TEXT gives another answer: together they play a slow dealer.
 */
#include <errno.h>
#include <fcgiapp.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define THREADS_MAX 512
#define BODY_MAX    65536

static const char *answer =
	"{\"amount\":1.25,\"before_balance\":1001250.75,\"currency\":\"thb\","
	"\"current_balance\":1001252.0,\"player_id\":\"6c3tvo4hbrru2i2loz7n\","
	"\"request_transaction_id\":\"transfer-in-64-2-0-123456\",\"transaction_id\":1234567,"
	"\"user_id\":\"u12345\"}";
static long delay_us;
static int listener;

static void serve(FCGX_Request *request)
{
	char body[4096];
	const char *length = FCGX_GetParam("CONTENT_LENGTH", request->envp);
	long left = length ? strtol(length, NULL, 10) : 0;
	struct timespec delay = {.tv_sec = delay_us / 1000000,
		.tv_nsec = delay_us % 1000000 * 1000};

	while (left > 0) {
		int n = FCGX_GetStr(body, (int)sizeof(body), request->in);

		if (n <= 0)
			break;
		left -= n;
	}
	if (delay_us > 0)
		nanosleep(&delay, NULL);
	FCGX_FPrintF(request->out,
		"Status: 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
		"Cache-Control: no-store\r\nX-Request-Id: 6qn466ybcyy56wdotkc3\r\n\r\n%s",
		(int)strlen(answer), answer);
}

static void *run(void *unused)
{
	FCGX_Request request;

	FCGX_InitRequest(&request, listener, 0);
	while (FCGX_Accept_r(&request) == 0) {
		serve(&request);
		FCGX_Finish_r(&request);
	}
	return unused;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"threads", required_argument, NULL, 't'},
		{"socket", required_argument, NULL, 's'},
		{"delay-us", required_argument, NULL, 'd'},
		{"answer", required_argument, NULL, 'a'}, {"config", required_argument, NULL, 'x'},
		{"serve", required_argument, NULL, 'x'},
		{"base-path", required_argument, NULL, 'x'}, {"exclusive", no_argument, NULL, 'x'},
		{"together", no_argument, NULL, 'T'}, {NULL, 0, NULL, 0}};
	pthread_t threads[THREADS_MAX];
	bool alone = false;
	long count = 1;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 't')
			count = strtol(optarg, NULL, 10);
		else if (option == 'd')
			delay_us = strtol(optarg, NULL, 10);
		else if (option == 'a')
			answer = optarg;
		else if (option == 'T')
			alone = true;
		else if (option == 's')
			listener = FCGX_OpenSocket(optarg, 1024);
		else if (option != 'x')
			return 64;
	}
	/* mod_fcgid asks each process for one thing at a time. */
	if (alone)
		count = 1;
	if (FCGX_Init() || listener < 0 || count < 1 || count > THREADS_MAX)
		return 1;
	for (long i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	run(NULL);
	return 0;
}

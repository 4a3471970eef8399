/*
 * tiny_dealer - a thread that acts as an HTTP server on the loopback interface, for tests of
 * calls to dealers. It answers every request in the same way. Change its members only between two
 * requests, under tiny_lock().
 */
#ifndef TESTS_WEB_TINY_DEALER_H
#define TESTS_WEB_TINY_DEALER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum tiny_act {
	TINY_ANSWER,
	TINY_HANG, /* received, never answered */
	TINY_CUT,  /* received, then the connection is closed */
};

struct tiny_dealer {
	int listen_fd;
	int port;
	pthread_t thread;
	pthread_mutex_t mutex;
	bool stopping;

	enum tiny_act act;
	int status;            /* default: 200 */
	const char *body;      /* default: {} */
	unsigned int delay_ms; /* before the answer */

	unsigned int connections;
	unsigned int requests;
	char head[4096];   /* of the last request */
	char text[131072]; /* its body */
};

/* Creates the listening socket; tiny_start() begins to answer. Aborts on failure. */
void tiny_init(struct tiny_dealer *dealer);
void tiny_start(struct tiny_dealer *dealer);
void tiny_stop(struct tiny_dealer *dealer);

void tiny_lock(struct tiny_dealer *dealer);
void tiny_unlock(struct tiny_dealer *dealer);

#endif

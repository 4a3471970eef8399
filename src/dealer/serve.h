/*
 * serve - the reference dealer over HTTP: the dealer's side of spec.md B.
 *
 * It checks path, method, size, signature and the body's members, in this order. Then it applies
 * the rule and commits, one call at a time. Then it sends the answer: 200 {user_id, balance,
 * currency}, or an error body {id, detail}. The refund of an unknown bet is answered with 200 {}.
 *
 * For your own dealer, copy rules.h, which has the whole table, and callback.h, keys.h and store.h.
 * faulty/ is a script of misbehaviour, only for tests and demonstrations. Without a script its
 * functions have no effect.
 */
#ifndef DEALER_SERVE_H
#define DEALER_SERVE_H

#include "base/buffer.h"
#include "dealer/faulty/faults.h"
#include "dealer/keys.h"
#include "dealer/store.h"
#include "fcgi/server.h"

#include <pthread.h>

struct reference_dealer {
	const char *base_path; /* "" or "/..." without a closing slash */
	const char *currency;
	const char *key_file;
	bool control; /* serve the paths of faulty/control.h */
	struct dealer_faults faults;
	struct dealer_store *store;
	pthread_mutex_t mutex; /* of store */
};

/* The state of one answering thread. */
struct dealer_worker {
	struct reference_dealer *dealer;
	struct buffer head;
	struct buffer body;
	enum dealer_answer answer; /* for the log */
	int code;
	bool ended; /* the store failed: the process must be restarted */
};

/* Replaces the reply with an error body. */
void worker_error(struct dealer_worker *worker, int code, const char *id, const char *detail);
/* Like worker_error(), for @answer. If @detail is NULL or "", the answer's own text is used. */
void worker_refuse(struct dealer_worker *worker, enum dealer_answer answer, const char *detail);

/* Returns the dealer as a program for fcgi_run(), valid while @dealer lives. */
struct fcgi_program dealer_program(struct reference_dealer *dealer);

#endif

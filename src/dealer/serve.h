/*
 * serve - the reference dealer over HTTP: the other side of spec.md B.
 *
 * In this order: path, method, size, signature, shape of the body; then, one call at a time, the
 * rule and its durable commit; then the answer: 200 {user_id, balance, currency}, or an error body
 * {id, detail}. The refund of a bet that is not known is answered 200 {}.
 *
 * To carry over: rules.h, which has it all in one table, and beside it callback.h, keys.h and
 * store.h. faulty/ is the script of misbehaviour, for tests and demonstrations alone: what serve.c
 * asks of it does nothing while there is no script.
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
	bool control; /* the paths of faulty/control.h are there */
	struct dealer_faults faults;
	struct dealer_store *store;
	pthread_mutex_t mutex; /* of store */
};

/* What a thread answers with. */
struct dealer_worker {
	struct reference_dealer *dealer;
	struct buffer head;
	struct buffer body;
	enum dealer_answer answer; /* for the log */
	int code;
	bool ended; /* the store failed: the process is to be started anew */
};

/* Replaces the reply by an error body. */
void worker_error(struct dealer_worker *worker, int code, const char *id, const char *detail);
/* The same, of @answer. @detail NULL or "": the answer's own. */
void worker_refuse(struct dealer_worker *worker, enum dealer_answer answer, const char *detail);

/* The dealer as a program of fcgi_run(), for as long as @dealer lives. */
struct fcgi_program dealer_program(struct reference_dealer *dealer);

#endif

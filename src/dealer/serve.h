/*
 * serve - the reference dealer over HTTP: the dealer's side of the specification, "Group B:
 * callbacks to the dealer".
 *
 * It checks path, method, size, signature and the body's members, in this order. Then it applies
 * the rule and commits, one call at a time. Then it sends the answer: 200 {user_id, balance,
 * currency}, or an error body {id, detail}. The refund of an unknown bet is answered with 200 {}.
 *
 * For your own dealer, copy rules.h, which has the whole table, and callback.h, keys.h and store.h.
 */
#ifndef DEALER_SERVE_H
#define DEALER_SERVE_H

#include "base/buffer.h"
#include "dealer/keys.h"
#include "dealer/rules.h"
#include "dealer/store.h"
#include "fcgi/server.h"

#include <pthread.h>

struct dealer_worker;

/* The effect of a hook on a request. */
enum dealer_served {
	SERVED_NOT, /* nothing: the dealer serves it */
	SERVED,
	SERVED_CUT, /* the connection is closed without an answer */
};

/* Serves the request of @path, which is below base_path, or leaves it to the dealer. */
typedef enum dealer_served dealer_hook(struct dealer_worker *worker, const char *path,
	const char *method, const struct http_request *request);

struct reference_dealer {
	const char *base_path; /* "" or "/..." without a closing slash */
	const char *currency;
	const char *key_file;
	bool control; /* serve the paths of control.h */
	/* NULL, or called first for each request. A test's dealer misbehaves by it. */
	dealer_hook *hook;
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

/* Counts @call in the journal. Sets ended if the store fails. */
void worker_note(struct dealer_worker *worker, const struct http_request *request,
	const struct dealer_call *call);

/*
 * Loads the rows of @call into @rows, applies the rule, and commits. @alter is NULL, or changes the
 * loaded rows before the rule sees them. Returns ANSWER_INTERNAL_ERROR and sets ended if the store
 * fails.
 */
enum dealer_answer worker_apply(struct dealer_worker *worker, const struct dealer_call *call,
	struct dealer_rows *rows,
	void (*alter)(void *context, const struct dealer_call *call, struct dealer_rows *rows),
	void *context);

/* Writes the answer to a call that was applied to @rows. */
void worker_answer(struct dealer_worker *worker, enum dealer_answer answer,
	const struct dealer_rows *rows);

/* Logs the answer to @call. */
void worker_log(const struct dealer_worker *worker, const struct http_request *request,
	const struct dealer_call *call);

/* Returns the dealer as a program for fcgi_run(), valid while @dealer lives. */
struct fcgi_program dealer_program(struct reference_dealer *dealer);

#endif

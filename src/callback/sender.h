/*
 * sender - sends callbacks to dealers: each of them once, many at a time (api.md, B).
 *
 * POST with the signatures of api.md, Signature, over kept connections. What a sender does is one
 * attempt: it repeats nothing and stores nothing. The caller has made the attempt durable before,
 * and its fence is asked right before the first byte leaves.
 */
#ifndef CALLBACK_SENDER_H
#define CALLBACK_SENDER_H

#include "base/field.h"
#include "base/network.h"
#include "base/settings.h"
#include "domain/callback.h"

/* Attempts under way at a time. */
#define SENDER_INFLIGHT_MAX 256

struct sender_options {
	/* Not public, and still allowed (the setting callback_networks). Must outlive the sender. */
	const struct network *networks;
	unsigned int network_count;
	const char *ca_file;         /* PEM; NULL: the system's */
	uint32_t connect_timeout_ms; /* 0: 1000 */
	uint32_t total_timeout_ms;   /* of the whole call; 0: 3000 */
	unsigned int keep;           /* connections that stay open; 0: SENDER_INFLIGHT_MAX */
};
/* As @settings say, which must outlive the sender. */
struct sender_options sender_options_of(const struct settings *settings);

/* One attempt. Everything is copied, but for what @closure points to. */
struct callback_request {
	enum callback_kind kind;
	uint64_t event; /* number of the event: webhook-id is made of it */
	const struct callback_target *target;
	struct bytes body; /* sent byte for byte */
	const char *request_id; /* that it is sent for, for the log (wire/trace.h); NULL: none */
	/*
	 * Asked once at most, when a connection stands, right before the first byte of the request
	 * leaves. False: nothing is sent, the class is CALLBACK_NOT_SENT and the note "fence". It
	 * may not use the sender. NULL: always true.
	 */
	bool (*fence)(void *closure);
	void *closure;
};

/* One thread; connections are kept between attempts. NULL: memory. The program ignores SIGPIPE. */
struct sender;
struct sender *sender_new(const struct sender_options *options);
/* What is under way is cut off; its outcome is unknown, and not told. */
void sender_free(struct sender *sender);

/*
 * Begins an attempt. Its outcome comes from sender_take(), also when it cannot be sent at all.
 * False: SENDER_INFLIGHT_MAX are under way, or memory is exhausted; nothing was begun.
 */
bool sender_add(struct sender *sender, const struct callback_request *request);

/* Attempts that were begun and not taken. */
unsigned int sender_count(const struct sender *sender);

/* Works until an outcome can be taken, nothing is under way, or @timeout_ms have passed. */
void sender_run(struct sender *sender, uint32_t timeout_ms);

/* Gives the outcome of an attempt that ended, each once, and the closure of its request. */
bool sender_take(struct sender *sender, struct callback_outcome *outcome, void **closure);

/*
 * One attempt from beginning to end: at most total_timeout_ms. What else is under way goes on
 * meanwhile. Always gives an outcome; without memory CALLBACK_NOT_SENT.
 */
void callback_send(struct sender *sender, const struct callback_request *request,
	struct callback_outcome *outcome);

#endif

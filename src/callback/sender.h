/*
 * sender - sends callbacks to dealers, each once, many at a time (contract, "Attempts").
 *
 * It sends a POST with the signatures of the contract, "Signature", over kept connections. A sender
 * performs one attempt: it repeats and stores nothing. The caller has committed the attempt before.
 * The caller's fence is called before the first byte leaves.
 */
#ifndef CALLBACK_SENDER_H
#define CALLBACK_SENDER_H

#include "base/field.h"
#include "base/network.h"
#include "base/settings.h"
#include "domain/callback.h"

/* Limit of concurrent attempts. */
#define SENDER_INFLIGHT_MAX 256

struct sender_options {
	/*
	 * Permitted networks that are not public (the setting callback_networks). Must outlive the
	 * sender.
	 */
	const struct network *networks;
	unsigned int network_count;
	const char *ca_file;         /* PEM; NULL: the system's */
	uint32_t connect_timeout_ms; /* 0: 1000 */
	uint32_t total_timeout_ms;   /* limit of the whole call; 0: 3000 */
	unsigned int keep;           /* kept connections; 0: SENDER_INFLIGHT_MAX */
};
/* Returns the options of @settings, which must outlive the sender. */
struct sender_options sender_options_of(const struct settings *settings);

/* One attempt. All data is copied except the target of @closure. */
struct callback_request {
	enum callback_kind kind;
	uint64_t event; /* number of the event, part of the webhook-id */
	const struct callback_target *target;
	struct bytes body; /* sent byte for byte */
	/* id of the HTTP request that caused it, for the log (wire/trace.h); NULL: none */
	const char *request_id;
	/*
	 * Called at most once, when a connection exists, before the first byte of the request
	 * leaves. If it returns false, nothing is sent, the class is CALLBACK_NOT_SENT and the note
	 * "fence". It may not use the sender. NULL: always true.
	 */
	bool (*fence)(void *closure);
	void *closure;
};

/*
 * For one thread; connections are kept between attempts. The program must ignore SIGPIPE.
 * sender_new() returns NULL if memory is exhausted, or if libcurl cannot be loaded, which is logged.
 */
struct sender;
struct sender *sender_new(const struct sender_options *options);
/* Cuts off running attempts. Their outcome is unknown and not reported. */
void sender_free(struct sender *sender);

/*
 * Begins an attempt. sender_take() returns its outcome, even if it cannot be sent at all. Returns
 * false, with nothing begun, if SENDER_INFLIGHT_MAX attempts are running or memory is exhausted.
 */
bool sender_add(struct sender *sender, const struct callback_request *request);

/* Returns the number of attempts that were begun and not taken. */
unsigned int sender_count(const struct sender *sender);

/* Makes sender_run() also return when @fd is readable. -1: no descriptor, as at first. */
void sender_watch(struct sender *sender, int fd);

/* Runs until an outcome can be taken, no attempt is left, or @timeout_ms have passed. */
void sender_run(struct sender *sender, uint32_t timeout_ms);

/* Returns the outcome of an ended attempt, each once, and the closure of its request. */
bool sender_take(struct sender *sender, struct callback_outcome *outcome, void **closure);

/*
 * Performs one attempt, in at most total_timeout_ms, and continues the others meanwhile. Always
 * sets an outcome: CALLBACK_NOT_SENT if memory is exhausted.
 */
void callback_send(struct sender *sender, const struct callback_request *request,
	struct callback_outcome *outcome);

#endif

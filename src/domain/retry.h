/*
 * retry - when a callback that was not delivered is sent again (api.md, B).
 */
#ifndef DOMAIN_RETRY_H
#define DOMAIN_RETRY_H

#include "domain/records.h"

#define RETRY_RESULT_ATTEMPTS 3

/* Settings of the configuration; tests shorten them. */
struct retry_policy {
	int64_t result_delay_ms[RETRY_RESULT_ATTEMPTS - 1]; /* 5 s, 30 s */
	int64_t refund_backoff_ms;     /* 1 s, doubled with each attempt ... */
	int64_t refund_backoff_max_ms; /* ... up to 300 s, less up to a quarter (jitter) */
	int64_t refund_give_up_ms;     /* 24 h after it was first due */
};

/* What becomes of a callback after an attempt that did not deliver it. */
struct retry {
	enum callback_state state; /* CALLBACK_DUE or CALLBACK_PARKED; CALLBACK_FAILED for a betting */
	int64_t delay_ms;          /* CALLBACK_DUE: from now */
};

/* The standard of api.md. */
void retry_policy_defaults(struct retry_policy *policy);

/*
 * @callback as it is after the attempt (its attempts counted). The jitter comes from the event and
 * the attempt, so that the same question has the same answer.
 */
struct retry retry_next(const struct retry_policy *policy, const struct callback *callback,
	int64_t now_ms);

/*
 * No callback of @kind waits longer for its next attempt, but for a refund's first, which is the
 * dealer's refund_delay.
 */
int64_t retry_longest_ms(const struct retry_policy *policy, enum callback_kind kind);

#endif

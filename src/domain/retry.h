/* retry - the time of the next attempt of an undelivered callback (contract, "Attempts"). */
#ifndef DOMAIN_RETRY_H
#define DOMAIN_RETRY_H

#include "domain/records.h"

#define RETRY_RESULT_ATTEMPTS 3

/* From the configuration; tests use shorter times. */
struct retry_policy {
	int64_t result_delay_ms[RETRY_RESULT_ATTEMPTS - 1]; /* 5 s, 30 s */
	int64_t refund_backoff_ms;                          /* 1 s, doubled with each attempt ... */
	int64_t refund_backoff_max_ms; /* ... up to 300 s, less up to a quarter (jitter) */
	int64_t refund_give_up_ms;     /* 24 h after it was first due */
};

/* The state of a callback after a failed attempt. */
struct retry {
	/* CALLBACK_DUE or CALLBACK_PARKED; CALLBACK_FAILED for a betting */
	enum callback_state state;
	int64_t delay_ms; /* delay from now, for CALLBACK_DUE */
};

/* Sets the defaults of the contract, "Attempts". */
void retry_policy_defaults(struct retry_policy *policy);

/*
 * Returns the state after a failed attempt; @callback already counts the attempt. The jitter is
 * derived from the event and the attempt, so equal arguments give equal results.
 */
struct retry retry_next(const struct retry_policy *policy, const struct callback *callback,
	int64_t now_ms);

/*
 * Returns the longest delay of a callback of @kind before its next attempt. The first attempt of a
 * refund is excluded: it waits for the dealer's refund_delay.
 */
int64_t retry_longest_ms(const struct retry_policy *policy, enum callback_kind kind);

#endif

#include "domain/retry.h"

#define SECOND_MS INT64_C(1000)
#define HOUR_MS   (3600 * SECOND_MS)

void retry_policy_defaults(struct retry_policy *policy)
{
	*policy = (struct retry_policy){
		.result_delay_ms = {5 * SECOND_MS, 30 * SECOND_MS},
		.refund_backoff_ms = SECOND_MS,
		.refund_backoff_max_ms = 300 * SECOND_MS,
		.refund_give_up_ms = 24 * HOUR_MS,
	};
}

static struct retry result_next(const struct retry_policy *policy, const struct callback *callback)
{
	if (callback->attempts < 1 || callback->attempts >= RETRY_RESULT_ATTEMPTS)
		return (struct retry){CALLBACK_PARKED, 0};
	return (struct retry){CALLBACK_DUE, policy->result_delay_ms[callback->attempts - 1]};
}

/* Subtracts up to a quarter, by a hash of event and attempt (last steps of splitmix64). */
static int64_t retry_jitter(int64_t delay_ms, const struct callback *callback)
{
	uint64_t hash = callback->event * UINT64_C(0x9e3779b97f4a7c15) + callback->attempts;

	hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
	hash ^= hash >> 31;
	return delay_ms - (int64_t)(hash % 1000) * delay_ms / 4000;
}

static struct retry refund_next(const struct retry_policy *policy, const struct callback *callback,
	int64_t now_ms)
{
	int64_t delay_ms = policy->refund_backoff_ms;

	for (uint32_t i = 1; i < callback->attempts && delay_ms < policy->refund_backoff_max_ms;
		i++)
		delay_ms *= 2;
	if (delay_ms > policy->refund_backoff_max_ms)
		delay_ms = policy->refund_backoff_max_ms;
	delay_ms = retry_jitter(delay_ms, callback);
	if (now_ms + delay_ms > callback->first_ms + policy->refund_give_up_ms)
		return (struct retry){CALLBACK_PARKED, 0};
	return (struct retry){CALLBACK_DUE, delay_ms};
}

int64_t retry_longest_ms(const struct retry_policy *policy, enum callback_kind kind)
{
	int64_t longest_ms = 0;

	if (kind == CALLBACK_BETTING_REFUND)
		return policy->refund_backoff_max_ms;
	if (kind == CALLBACK_BETTING_RESULT || kind == CALLBACK_BETTING_CORRECTION)
		for (unsigned int i = 0; i < RETRY_RESULT_ATTEMPTS - 1; i++)
			if (policy->result_delay_ms[i] > longest_ms)
				longest_ms = policy->result_delay_ms[i];
	return longest_ms;
}

struct retry retry_next(const struct retry_policy *policy, const struct callback *callback,
	int64_t now_ms)
{
	if (callback->once_more)
		return (struct retry){CALLBACK_PARKED, 0};
	switch (callback->kind) {
	case CALLBACK_BETTING_RESULT:
	case CALLBACK_BETTING_CORRECTION:
		return result_next(policy, callback);
	case CALLBACK_BETTING_REFUND:
		return refund_next(policy, callback, now_ms);
	case CALLBACK_BETTING:
	case CALLBACK_BALANCE_INQUIRE:
	case CALLBACK_KIND_COUNT:
		break;
	}
	return (struct retry){CALLBACK_FAILED, 0};
}

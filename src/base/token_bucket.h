/*
 * token_bucket - permits some calls at once, and so many a second on average.
 */
#ifndef BASE_TOKEN_BUCKET_H
#define BASE_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#define TOKEN_BUCKET_CALL 1000 /* a call, in thousandths */

struct token_bucket {
	int64_t left; /* in thousandths of a call */
	int64_t filled_ms;
};

/* Returns a full bucket for @most calls. */
static inline struct token_bucket token_bucket_full(uint32_t most, int64_t now_ms)
{
	return (struct token_bucket){(int64_t)most * TOKEN_BUCKET_CALL, now_ms};
}

/*
 * Takes @calls from a bucket that holds @most and gains @rate a second. @now_ms is boot time; one that a slower
 * thread read earlier changes nothing. Returns false, and takes nothing, if fewer are left.
 */
static inline bool token_bucket_take(struct token_bucket *bucket, uint32_t calls, uint32_t rate,
	uint32_t most, int64_t now_ms)
{
	const int64_t full = (int64_t)most * TOKEN_BUCKET_CALL;

	/* A call has a thousand thousandths, a second a thousand milliseconds: each adds @rate. */
	if (now_ms > bucket->filled_ms) {
		bucket->left += (now_ms - bucket->filled_ms) * rate;
		bucket->filled_ms = now_ms;
	}
	if (bucket->left > full)
		bucket->left = full;
	if (bucket->left < (int64_t)calls * TOKEN_BUCKET_CALL)
		return false;
	bucket->left -= (int64_t)calls * TOKEN_BUCKET_CALL;
	return true;
}

#endif

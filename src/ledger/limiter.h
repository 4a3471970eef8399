/*
 * limiter - a token bucket for each dealer (contract, "Rate limit"). The buckets are in memory; a
 * restart fills them.
 */
#ifndef LEDGER_LIMITER_H
#define LEDGER_LIMITER_H

#include "base/token_bucket.h"
#include "domain/records.h"

#define LIMITER_SLOTS (2 * DEALERS_MAX)

struct limiter {
	struct {
		char casino_id[CASINO_ID_SIZE];
		struct token_bucket calls;
	} slots[LIMITER_SLOTS];
};

/*
 * Takes one call of @casino_id, which may make @rate calls a second, and as many at once. @now_ms is boot
 * time. Returns false if there were too many; one is permitted again within a second.
 */
bool limiter_take(struct limiter *limiter, const char *casino_id, uint32_t rate, int64_t now_ms);

#endif

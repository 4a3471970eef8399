/*
 * limiter - a token bucket for each dealer (contract, "Rate limit"). The buckets are in memory; a
 * restart fills them.
 */
#ifndef LEDGER_LIMITER_H
#define LEDGER_LIMITER_H

#include "domain/records.h"

#define LIMITER_SLOTS (2 * DEALERS_MAX)

struct limiter {
	struct {
		char casino_id[CASINO_ID_SIZE];
		int64_t millitokens;
		int64_t filled_ms;
	} slots[LIMITER_SLOTS];
};

/*
 * Takes one token of @casino_id. The bucket holds @rate tokens and gains @rate tokens a second.
 * @now_ms is boot time. Returns false if the bucket is empty; a token is available again within a
 * second.
 */
bool limiter_take(struct limiter *limiter, const char *casino_id, uint32_t rate, int64_t now_ms);

#endif

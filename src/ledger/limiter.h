/*
 * limiter - a token bucket per dealer (api.md A 10), in memory: a restart fills them.
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
 * Takes one call of @casino_id, whose bucket holds @rate calls and is filled with @rate calls a
 * second. @now_ms: boot time. False: none is left; one is there again within a second.
 */
bool limiter_take(struct limiter *limiter, const char *casino_id, uint32_t rate, int64_t now_ms);

#endif

#include "ledger/limiter.h"

#include "base/text.h"

#include <string.h>

#define CALL_MILLITOKENS 1000

bool limiter_take(struct limiter *limiter, const char *casino_id, uint32_t rate, int64_t now_ms)
{
	const int64_t full = (int64_t)rate * CALL_MILLITOKENS;
	uint32_t at = text_hash(casino_id) % LIMITER_SLOTS;

	/* Dealers are never removed and there are fewer than slots, so the loop ends. */
	while (limiter->slots[at].casino_id[0] &&
		strcmp(limiter->slots[at].casino_id, casino_id) != 0)
		at = (at + 1) % LIMITER_SLOTS;
	if (!limiter->slots[at].casino_id[0]) {
		text_copy(limiter->slots[at].casino_id, CASINO_ID_SIZE, casino_id);
		limiter->slots[at].millitokens = full;
		limiter->slots[at].filled_ms = now_ms;
	}
	/* Each millisecond adds @rate millitokens. */
	limiter->slots[at].millitokens += (now_ms - limiter->slots[at].filled_ms) * rate;
	limiter->slots[at].filled_ms = now_ms;
	if (limiter->slots[at].millitokens > full)
		limiter->slots[at].millitokens = full;
	if (limiter->slots[at].millitokens < CALL_MILLITOKENS)
		return false;
	limiter->slots[at].millitokens -= CALL_MILLITOKENS;
	return true;
}

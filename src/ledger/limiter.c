#include "ledger/limiter.h"

#include "base/text.h"

#include <string.h>

bool limiter_take(struct limiter *limiter, const char *casino_id, uint32_t rate, int64_t now_ms)
{
	uint32_t at = text_hash(casino_id) % LIMITER_SLOTS;

	/* Dealers are never removed and there are fewer than slots, so the loop ends. */
	while (limiter->slots[at].casino_id[0] &&
		strcmp(limiter->slots[at].casino_id, casino_id) != 0)
		at = (at + 1) % LIMITER_SLOTS;
	if (!limiter->slots[at].casino_id[0]) {
		text_copy(limiter->slots[at].casino_id, CASINO_ID_SIZE, casino_id);
		limiter->slots[at].calls = token_bucket_full(rate, now_ms);
	}
	return token_bucket_take(&limiter->slots[at].calls, 1, rate, rate, now_ms);
}

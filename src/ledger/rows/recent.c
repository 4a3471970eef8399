#include "ledger/rows/recent.h"

#include "base/text.h"

void recent_begin(struct recent *recent, uint64_t from)
{
	recent->from = from;
	recent->first = recent->count = 0;
}

void recent_add(struct recent *recent, const struct transaction *entry)
{
	uint32_t at;

	if (recent->count == RECENT_MAX) {
		recent->from = recent->entries[recent->first].transaction_id;
		recent->first = (recent->first + 1) % RECENT_MAX;
		recent->count--;
	}
	at = (recent->first + recent->count++) % RECENT_MAX;
	recent->entries[at].transaction_id = entry->transaction_id;
	recent->entries[at].dealer = text_hash(entry->casino_id);
}

/* Returns how many entries have no larger id than @after. */
static uint32_t entries_until(const struct recent *recent, uint64_t after)
{
	uint32_t low = 0, high = recent->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (recent->entries[(recent->first + middle) % RECENT_MAX].transaction_id <= after)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool recent_find(const struct recent *recent, const char *casino_id, uint64_t after, uint64_t *ids,
	uint32_t most, struct recent_found *found)
{
	const uint32_t dealer = text_hash(casino_id);

	*found = (struct recent_found){.last = after};
	if (after < recent->from)
		return false;
	for (uint32_t i = entries_until(recent, after); i < recent->count; i++) {
		const uint32_t at = (recent->first + i) % RECENT_MAX;

		if (found->count == most) {
			found->more = true;
			break;
		}
		found->last = recent->entries[at].transaction_id;
		if (recent->entries[at].dealer == dealer)
			ids[found->count++] = found->last;
	}
	return true;
}

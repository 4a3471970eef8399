#include "metrics/dealer_counts.h"

#include "base/text.h"

#include <string.h>

const int counted_codes[COUNTED_CODES] = {200, 400, 401, 402, 403, 404, 405, 409, 413, 429, 500,
	502, 503, 504};

unsigned int counted_code_find(int code)
{
	unsigned int place = 0;

	while (place < COUNTED_CODES && counted_codes[place] != code)
		place++;
	return place;
}

/* FNV-1a; never 0. Two dealers with equal hashes would be counted as one. */
static uint64_t hash_of_name(const char *casino_id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *casino_id; casino_id++)
		hash = (hash ^ (uint8_t)*casino_id) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

/* Returns the slot of the dealer, which is taken if need be, or COUNTED_DEALERS. */
static uint32_t slot_of_dealer(struct dealer_cells *cells, uint64_t hash)
{
	uint32_t at = (uint32_t)(hash % COUNTED_DEALERS);

	for (uint32_t tries = 0; tries < COUNTED_DEALERS; tries++) {
		uint64_t found = atomic_load_explicit(&cells->hashes[at], memory_order_relaxed);

		if (!found)
			atomic_compare_exchange_strong_explicit(&cells->hashes[at], &found, hash,
				memory_order_relaxed, memory_order_relaxed);
		if (!found || found == hash)
			return at;
		at = (at + 1) % COUNTED_DEALERS;
	}
	return COUNTED_DEALERS;
}

bool dealer_cells_count(struct dealer_cells *cells, const char *casino_id, unsigned int place)
{
	uint32_t slot;

	if (place >= COUNTED_CODES)
		return false;
	slot = slot_of_dealer(cells, hash_of_name(casino_id));
	if (slot == COUNTED_DEALERS)
		return false;
	/* Every process writes the same bytes here. */
	if (!atomic_load_explicit(&cells->named[slot], memory_order_acquire)) {
		text_copy(cells->names[slot], CASINO_ID_SIZE, casino_id);
		atomic_store_explicit(&cells->named[slot], 1, memory_order_release);
	}
	atomic_fetch_add_explicit(&cells->counts[slot][place], 1, memory_order_relaxed);
	return true;
}

uint32_t dealer_cells_read(const struct dealer_cells *cells,
	struct dealer_counts counts[COUNTED_DEALERS])
{
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < COUNTED_DEALERS; slot++) {
		struct dealer_counts *dealer = &counts[count];

		if (!atomic_load_explicit(&cells->named[slot], memory_order_acquire))
			continue;
		memcpy(dealer->casino_id, cells->names[slot], CASINO_ID_SIZE);
		dealer->casino_id[CASINO_ID_SIZE - 1] = '\0';
		if (!text_is_name(dealer->casino_id, CASINO_ID_SIZE - 1))
			continue;
		for (unsigned int i = 0; i < COUNTED_CODES; i++)
			dealer->requests[i] =
				atomic_load_explicit(&cells->counts[slot][i], memory_order_relaxed);
		count++;
	}
	return count;
}

#include "store/bdb/env/page_checksum.h"

#include <string.h>

/* Of libdb's db_page.h, struct BTMETA and PG_CHKSUM. */
#define CHECKSUM_SIZE    4
#define META_BYTES       512
#define META_CHECKSUM_AT 492
#define PAGE_CHECKSUM_AT 28

/* libdb's __ham_func4(). */
static uint32_t hash_bytes(uint32_t state, const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		state = state * 33 + data[i];
	return state;
}

static bool is_zero_page(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

bool page_checksum_ok(const uint8_t *page, uint64_t number)
{
	static const uint8_t zeros[CHECKSUM_SIZE];
	const uint32_t bytes = number ? PAGE_BYTES : META_BYTES;
	const uint32_t at = number ? PAGE_CHECKSUM_AT : META_CHECKSUM_AT;
	uint32_t stored, sum;

	memcpy(&stored, page + at, sizeof(stored));
	sum = hash_bytes(0, page, at);
	sum = hash_bytes(sum, zeros, CHECKSUM_SIZE);
	sum = hash_bytes(sum, page + at + CHECKSUM_SIZE, bytes - at - CHECKSUM_SIZE);
	return sum == stored || is_zero_page(page);
}

#include "proof/sets.h"

#include <string.h>

/* FNV-1a over the bytes, then a finalizer (splitmix64), so that sums of hashes do not cancel. */
static uint64_t hash_row(uint64_t seed, const void *data, size_t len)
{
	const uint8_t *byte = data;

	seed ^= UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < len; i++)
		seed = (seed ^ byte[i]) * UINT64_C(0x100000001b3);
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	return seed ^ seed >> 31;
}

void row_hash_begin(struct row_hash *row, const uint64_t seed[2])
{
	memcpy(row->state, seed, sizeof(row->state));
}

void row_hash_bytes(struct row_hash *row, const void *data, size_t len)
{
	/* Each hash is seeded with the previous one. */
	for (int i = 0; i < 2; i++)
		row->state[i] = hash_row(row->state[i], data, len);
}

void row_hash_text(struct row_hash *row, const char *text)
{
	row_hash_bytes(row, text, strlen(text) + 1);
}

void row_hash_number(struct row_hash *row, uint64_t number)
{
	row_hash_bytes(row, &number, sizeof(number));
}

void fingerprint_add(struct fingerprint *set, const struct row_hash *row)
{
	set->count++;
	set->sum[0] += row->state[0];
	set->sum[1] += row->state[1];
}

void fingerprint_merge(struct fingerprint *set, const struct fingerprint *other)
{
	set->count += other->count;
	set->sum[0] += other->sum[0];
	set->sum[1] += other->sum[1];
}

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b)
{
	return a->count == b->count && a->sum[0] == b->sum[0] && a->sum[1] == b->sum[1];
}

bool fingerprint_lacks(const struct fingerprint *set, const struct fingerprint *whole,
	const struct row_hash *row)
{
	struct fingerprint sum = *set;

	fingerprint_add(&sum, row);
	return fingerprint_equal(&sum, whole);
}

/*
 * sets - sets of rows, compared by sums of hashes.
 *
 * Each row is hashed with a secret of this run. A set is the number of its rows and the sum of
 * their hashes. So two sets can be compared in any order and in constant memory.
 */
#ifndef PROOF_SETS_H
#define PROOF_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A multiset of rows. */
struct fingerprint {
	uint64_t count;
	uint64_t sum[2];
};

/* The hash of one row, built member by member, in order. */
struct row_hash {
	uint64_t state[2];
};

void row_hash_begin(struct row_hash *hash, const uint64_t seed[2]);
void row_hash_text(struct row_hash *hash, const char *text);
void row_hash_number(struct row_hash *hash, uint64_t number);
void row_hash_bytes(struct row_hash *hash, const void *data, size_t len);

void fingerprint_add(struct fingerprint *set, const struct row_hash *row);
/* Adds all rows of @other. */
void fingerprint_merge(struct fingerprint *set, const struct fingerprint *other);
bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);
/* Returns true if @set with one more row, @row, would equal @whole. */
bool fingerprint_lacks(const struct fingerprint *set, const struct fingerprint *whole,
	const struct row_hash *row);

#endif

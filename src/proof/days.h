/*
 * days - checks that the sums of dealers' days are those of their rows (domain/dealer_day.h).
 *
 * The days of a dealer are spread over PROOF_DAY_PARTS parts, so that it needs little memory. The sums
 * of a part are compared by a weighed sum of all its figures. If they differ, the caller looks for the
 * day.
 *
 * The rows of days are read before all others and after them. A part that changed meanwhile is being
 * written to; it proves nothing and is left to a later check.
 */
#ifndef PROOF_DAYS_H
#define PROOF_DAYS_H

#include "domain/records.h"

#include <stddef.h>

#define PROOF_DAY_PARTS 64

struct proof;
struct proof_dealer;
struct round_reading;

/* Of a dealer. */
struct proof_days {
	bool known; /* its row was added */
	int32_t utc_offset_min;
	int64_t days_from_ms;
	uint32_t first;                    /* the first day that is complete */
	uint64_t made[PROOF_DAY_PARTS];    /* by the rows */
	uint64_t kept[2][PROOF_DAY_PARTS]; /* as stored, before and after */
};

/* Adds the dealer's row. proof_dealer() must have been called. Other rows count from then on. */
void proof_days_dealer(struct proof *proof, const struct dealer *row);
/* Adds a stored day. @when: 0 before all other rows, 1 after them. */
void proof_days_row(struct proof *proof, const struct dealer_day *row, unsigned int when);

/* proof_transaction(), proof_round_take() and so on call these. */
void proof_days_transaction(struct proof *proof, const struct transaction *row);
void proof_days_bet(struct proof *proof, const struct bet *row, uint64_t made[PROOF_DAY_PARTS]);
void proof_days_round(struct proof *proof, const struct round *row,
	const uint64_t made[PROOF_DAY_PARTS]);
void proof_days_correction(struct proof *proof, const struct round *round,
	const struct correction *row);
void proof_days_callback(struct proof *proof, const struct callback *row);

/* Returns true if the part of the dealer's days did not change and differs from its rows. */
bool proof_days_differ(const struct proof_dealer *dealer, unsigned int part);

#endif

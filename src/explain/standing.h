/*
 * standing - what a refused call means for the money: what each side owes, and the next step.
 *
 * Pure. The input is the call and the row of its idempotency key, which says whether a later call
 * with the same reference moved credit.
 */
#ifndef EXPLAIN_STANDING_H
#define EXPLAIN_STANDING_H

#include "domain/records.h"
#include "link/refused_calls.h"

#define STANDING_TEXT_MAX 512

/* The ledger's rows of the call's request_transaction_id. */
struct standing_key {
	bool known; /* @request is its row */
	struct request request;
};

struct standing {
	char owed[STANDING_TEXT_MAX];
	char next[STANDING_TEXT_MAX];
};

/* @decimals: of the dealer, for amounts. */
void standing_of(const struct refused_call *call, const struct standing_key *key,
	unsigned int decimals, struct standing *standing);

#endif

/*
 * batch - the key of an item of a batch of results and the answer that the batch stored for it
 * (contract, "Results of a live round").
 */
#ifndef PROOF_BATCH_H
#define PROOF_BATCH_H

#include "domain/records.h"

struct proof_batch_answer {
	bool settled; /* the item was settled; otherwise it was refused */
	uint64_t transaction_id;
	money_t payout_amount;
};

/*
 * Returns what is wrong with the key of an item, or NULL. @answer is NULL if the batch stored none, or does
 * not exist.
 */
const char *proof_batch_item(const struct request *item, const struct proof_batch_answer *answer);

#endif

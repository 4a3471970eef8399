#include "proof/batch.h"

const char *proof_batch_item(const struct request *item, const struct proof_batch_answer *answer)
{
	if (!answer)
		return "which has no answer for it";
	if (!answer->settled)
		return "whose answer is a refusal";
	if (answer->transaction_id != item->transaction_id)
		return "whose answer names another transaction";
	return answer->payout_amount == item->amount ? NULL : "whose answer has another payout";
}

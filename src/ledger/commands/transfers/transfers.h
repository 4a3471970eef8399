/* transfers - the answer of a transfer, which transfer_inquiry.c gives as well. */
#ifndef LEDGER_COMMANDS_TRANSFERS_TRANSFERS_H
#define LEDGER_COMMANDS_TRANSFERS_TRANSFERS_H

#include "link/edge_commands.h"

/*
 * Fills @result with the answer that is stored under a key that is not sealed, except
 * request_transaction_id and user_id.
 */
void transfer_answer(const struct request *stored, const struct dealer *dealer,
	struct transfer_result *result);

#endif

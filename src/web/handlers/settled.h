/* settled - the answer for a settled round, to a result and to an item of a batch. */
#ifndef WEB_HANDLERS_SETTLED_H
#define WEB_HANDLERS_SETTLED_H

#include "web/handlers/handlers.h"

/* The answer (contract, "Group C: what game servers call"). */
struct delivery_report {
	enum callback_state state;
	uint32_t attempts;
};
struct settled {
	uint64_t transaction_id;
	money_t bet_amount;
	money_t addition_amount;
	money_t win_amount;
	money_t payout_amount;
	struct delivery_report callback; /* in a transfer wallet: delivered after 0 attempts */
};
extern const struct field settled_fields[];

/* Gives the ledger's invalid_amount the reason for which it refuses a payout of @result. */
void settled_describe(struct verdict *verdict, enum round_result result);

#endif

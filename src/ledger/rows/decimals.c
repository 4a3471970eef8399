#include "ledger/rows/decimals.h"

#include <stdio.h>

void verdict_decimals(struct verdict *verdict, const char *field, money_t amount,
	const struct dealer *dealer)
{
	char sent[MONEY_TEXT_MAX], text[MONEY_TEXT_MAX];
	money_t nearest;

	if (verdict->refusal != REFUSAL_INVALID_AMOUNT || amount > MONEY_MAX ||
		amount < -MONEY_MAX || money_has_decimals(amount, dealer->decimals))
		return;
	money_nearest(money_to_double(amount), dealer->decimals, &nearest);
	money_format(amount, 0, sent);
	money_format(nearest, dealer->decimals, text);
	if (nearest)
		snprintf(verdict->detail, sizeof(verdict->detail),
			"%s: must have at most %u decimals; %s is nearest to %s", field,
			(unsigned int)dealer->decimals, sent, text);
	else
		snprintf(verdict->detail, sizeof(verdict->detail),
			"%s: must have at most %u decimals", field, (unsigned int)dealer->decimals);
}

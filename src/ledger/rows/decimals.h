/*
 * decimals - amounts that have more decimals than their dealer.
 */
#ifndef LEDGER_ROWS_DECIMALS_H
#define LEDGER_ROWS_DECIMALS_H

#include "domain/records.h"
#include "link/verdict.h"

/*
 * Describes in @verdict, where it is an invalid_amount for that reason, how many decimals the dealer has
 * and which amount is nearest to @amount, the value of the member @field.
 */
void verdict_decimals(struct verdict *verdict, const char *field, money_t amount,
	const struct dealer *dealer);

#endif

/* decimals - describes amounts that have more decimals than their dealer. */
#ifndef LEDGER_ROWS_DECIMALS_H
#define LEDGER_ROWS_DECIMALS_H

#include "domain/records.h"
#include "link/verdict.h"

/*
 * If @verdict is an invalid_amount for this reason, adds the decimals of the dealer and the amount
 * nearest to @amount. @amount is the value of the member @field.
 */
void verdict_decimals(struct verdict *verdict, const char *field, money_t amount,
	const struct dealer *dealer);

#endif

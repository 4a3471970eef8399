/*
 * row_bounds - limits of the members of a single row, which the ledger's commands observe.
 *
 * Rows from outside (an import) are checked before they are stored. Consistency between rows is
 * checked later by `creditbridgectl check`.
 *
 * Pure. A member without a rule of its own has the limit of its type. Amounts: MONEY_MAX; times: 0
 * to 2^53 ms; text: clean UTF-8; 64-bit numbers: 63 bits.
 */
#ifndef DOMAIN_ROW_BOUNDS_H
#define DOMAIN_ROW_BOUNDS_H

#include "domain/records.h"

#define ROW_BOUNDS_WHY_SIZE  160
#define ROW_BOUNDS_NAME_SIZE 320

/*
 * Returns true if each member of @row, a struct of @record, is within its limits. Otherwise @why
 * gets a sentence that names the member and the rule. If @secrets is false, the row has no secrets
 * of its keys.
 */
bool row_bounds_check(enum record record, const void *row, bool secrets,
	char why[ROW_BOUNDS_WHY_SIZE]);

/* Writes the row's kind and key for people: "bet PLAYER_ID GAME_ID 1". */
void row_bounds_name(enum record record, const void *row, char name[ROW_BOUNDS_NAME_SIZE]);

#endif

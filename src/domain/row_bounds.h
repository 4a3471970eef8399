/*
 * row_bounds - the bounds that the ledger's commands keep in each row by itself.
 *
 * A row that comes from elsewhere (an import) is checked before it is stored. What rows say of each other
 * is proved later, by the proof of `creditbridgectl check`.
 *
 * Pure. Members without a rule of their own are bounded by their type: amounts by MONEY_MAX, times to the
 * range 0 to 2^53 ms, text to clean UTF-8, numbers of 64 bits to 63.
 */
#ifndef DOMAIN_ROW_BOUNDS_H
#define DOMAIN_ROW_BOUNDS_H

#include "domain/records.h"

#define ROW_BOUNDS_WHY_SIZE 160
#define ROW_BOUNDS_NAME_SIZE 320

/*
 * True: each member of @row, a struct of @record, is within its bounds. False: @why is a sentence that
 * names the member and the rule. @secrets false: the row came without its keys' secrets.
 */
bool row_bounds_check(enum record record, const void *row, bool secrets,
	char why[ROW_BOUNDS_WHY_SIZE]);

/* Writes which row it is, for people: its kind and its key, "bet PLAYER_ID GAME_ID 1". */
void row_bounds_name(enum record record, const void *row, char name[ROW_BOUNDS_NAME_SIZE]);

#endif

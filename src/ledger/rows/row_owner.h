/*
 * row_owner - finds the dealer that a row belongs to.
 *
 * Some rows name their dealer. Others name a player or a callback, whose row names the dealer. A batch of
 * results may have items of several dealers. Rows of the whole cell have no dealer: counters, the audit, game
 * servers, operators, replays, and the key of a batch.
 */
#ifndef LEDGER_ROWS_ROW_OWNER_H
#define LEDGER_ROWS_ROW_OWNER_H

#include "store/ws.h"

/* Returns true if rows of the kind can belong to a dealer. */
bool row_has_owner(enum record record);

/* Declares the rows that row_is_of() reads. Call it again while rows are pending: one may name the next. */
void row_owner_want(struct ws *ws, enum record record, const void *row);

/* Returns true if the row belongs to the dealer; of a batch of results, if one of its items does. */
bool row_is_of(struct ws *ws, enum record record, const void *row, const char *casino_id);

/* Returns true if an item of the batch belongs to another dealer than @casino_id. */
bool batch_is_of_others(struct ws *ws, const struct result_batch *batch, const char *casino_id);

#endif

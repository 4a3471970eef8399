/* move_rows - what the commands of a move have in common. */
#ifndef LEDGER_COMMANDS_MOVES_MOVE_ROWS_H
#define LEDGER_COMMANDS_MOVES_MOVE_ROWS_H

#include "ledger/rows/context.h"

/* A row of any kind. */
union move_row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

/* Returns the move of the dealer if it is @id, else NULL. The row must be declared. */
const struct dealer_move *move_find(struct ws *ws, const char *casino_id, const char *id);

/* Returns true if rows of the kind move with a dealer. */
bool move_has_record(enum record record);

/* Clears the members of @row that have a meaning only in the cell that wrote it. */
void move_localise(enum record record, union move_row *row);

/* Returns the key of the batch among the requests. */
struct request move_batch_request(const struct result_batch *batch);

/*
 * Returns true if both are the same batch. Each cell may have received it, at its own time, and the answers may
 * differ in items that were tried again.
 */
bool move_batch_is_same(const struct result_batch *one, const struct result_batch *another);

/*
 * Writes the answers of two copies to @merged: of each item the one that settled, else one that is final. Returns false if memory is
 * exhausted or a copy has not as many answers as it says.
 */
bool move_batch_merge(const struct result_batch *ours, const struct result_batch *theirs,
	struct buffer *merged);

/* Sets the operation id of @operator to that of the step @number of the kind @letter in the move @id. */
void move_operator(const char *id, char letter, uint64_t number, struct operator* operator);

/* Refuses with a detail. */
void move_refuse(struct verdict *verdict, enum refusal refusal, const char *detail);

#endif

/* subject - the dealer that a command is about, to find out whether it is being moved. */
#ifndef LEDGER_COMMANDS_SUBJECT_H
#define LEDGER_COMMANDS_SUBJECT_H

#include "ledger/rows/context.h"

struct moves;

/*
 * Returns true if the command is refused because its dealer is being moved (ledger/rows/moves.h), and sets
 * @verdict. The rows of the command must be loaded. The end of an attempt is never refused, and a claim finds
 * no permit.
 */
bool subject_is_moving(const struct moves *moves, enum command command, const union any_cmd *cmd,
	struct ws *ws, struct verdict *verdict);

/* Likewise for an item of a batch, whose answer may be stored: it is always one after which the item is tried again. */
bool subject_item_is_moving(const struct moves *moves, const struct player_ref *player,
	struct ws *ws, struct verdict *verdict);

#endif

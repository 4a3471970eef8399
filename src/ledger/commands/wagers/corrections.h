/*
 * corrections - the correction of a settled round, which a game server or an operator requests
 * (contract, "Corrections").
 */
#ifndef LEDGER_COMMANDS_WAGERS_CORRECTIONS_H
#define LEDGER_COMMANDS_WAGERS_CORRECTIONS_H

#include "ledger/rows/context.h"
#include "link/edge_commands.h"

/*
 * Makes the correction or repeats its answer. With @preview it changes nothing, and @result is the
 * answer that the correction would give, without a transaction_id and an event.
 * round_correct_keys() declares the rows. Without cmd->sender the sweeper sends the callback.
 */
void correction_apply(const struct round_correct_cmd *cmd, bool preview,
	const struct apply_context *context, struct ws *ws, struct round_correct_result *result);

#endif

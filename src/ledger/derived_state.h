/*
 * derived_state - the state that the ledger derives from the rows and holds in memory.
 *
 * It contains the permits of callbacks under way (permits.h), the times and senders of callbacks
 * (schedule.h), counters, and the generation of the keyring.
 */
#ifndef LEDGER_DERIVED_STATE_H
#define LEDGER_DERIVED_STATE_H

#include "ledger/ledger.h"

/*
 * Builds the state from the rows at the start. Returns STATUS_NOMEM, or the status of a row that
 * cannot be read.
 */
enum status derived_state_load(struct ledger *ledger);

/*
 * Applies the rows of a saved batch to the state. Returns false if memory is exhausted; then only
 * a restart makes both agree.
 */
bool derived_state_follow(struct ledger *ledger);

#endif

/*
 * derived_state - what the ledger holds in memory of the rows: limits of callbacks under way (permits.h), when
 * callbacks are due and who sends them (schedule.h), counters, the keyring's generation.
 */
#ifndef LEDGER_DERIVED_STATE_H
#define LEDGER_DERIVED_STATE_H

#include "ledger/ledger.h"

/* At the start: reads it from the rows. STATUS_NOMEM, or the status of a row that cannot be read. */
enum status memory_load(struct ledger *ledger);

/*
 * After a save: brings it in step with the rows of the batch. False: no memory, and only a new
 * start can bring them in step.
 */
bool memory_follow(struct ledger *ledger);

#endif

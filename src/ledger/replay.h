/*
 * replay - does the steps of the replays that run: each makes some parked callbacks due.
 *
 * A step looks at a bounded number of callbacks and runs one REPLAY_STEP, which moves the replay on in the
 * same transaction in which it makes the callbacks due. So a crash at any moment repeats no callback and
 * leaves none out. Of each dealer one replay runs at a time, the oldest first, with replay_rate
 * callbacks a second. A replay waits while REPLAY_AHEAD_MAX of its callbacks are due or being sent, so that a stop
 * leaves few of them. After several steps in turn that could not read or save a row, the replay ends as
 * failed, and the next one of the dealer begins.
 */
#ifndef LEDGER_REPLAY_H
#define LEDGER_REPLAY_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* Callbacks of a replay that may be due or being sent at a time. */
#define REPLAY_AHEAD_MAX 100

struct ledger;

/* For the event loop, with the rules of retention_wait_ms() and retention_use_time() (ledger/retention.h). */
int replay_wait_ms(const struct ledger *ledger, int64_t boot_ms, int most);
bool replay_use_time(struct ledger *ledger, bool idle, const struct moment *now);

/*
 * Runs one step of the replay whose turn it is. Must not run while a batch is under way. Returns false if
 * the outcome of a save is unknown.
 */
bool replay_step(struct ledger *ledger, const struct moment *now);

#endif

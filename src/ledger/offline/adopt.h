/*
 * adopt - an operator says what a state is that was copied or moved (state/identity.h).
 *
 * A new life begins either way, so that no id is given out twice (ledger/rows/life.h). Repeated, it begins
 * another one, which does no harm. All callbacks of a copy are held (ledger/outbox/hold.h).
 */
#ifndef LEDGER_OFFLINE_ADOPT_H
#define LEDGER_OFFLINE_ADOPT_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "link/verdict.h"
#include "state/directory.h"

struct adopt_options {
	const struct settings *settings;
	bool copied;       /* a copy or an older state; false: the only one, which was moved */
	bool accept_clock; /* although the clock is before the newest row (ledger/rows/life.h) */
	const struct operator *operator; /* for the trail */
	struct moment now;
};

struct adopt_result {
	char installation[STATE_INSTALLATION_MAX];
	bool copied;
	uint64_t last_transaction_id; /* of the last movement, bet or result that it holds, ... */
	int64_t last_ms;              /* ... and its time; 0: it holds none */
	uint64_t raised_by;           /* how far the transaction ids went up, to ... */
	uint64_t first_id;            /* ... the first id of the new life; 0: no ledger was started on it */
};

/*
 * Adopts the state, which no ledger has. STATUS_BUSY: one has it. Others as of state_dir_check() and
 * atrest_trail(). With a sentence in @why. libdb may end the process (store/bdb/bdb.h).
 */
enum status adopt_run(const struct adopt_options *options, struct adopt_result *result, char *why,
	size_t why_size);

#endif

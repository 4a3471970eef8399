/*
 * adopt - records the decision of an operator about a state that was copied or moved
 * (state/identity.h).
 *
 * Each adoption begins a new life, so that no id is used twice (ledger/rows/life.h). A repetition
 * begins another life, which does no harm. All callbacks of a copy are held
 * (ledger/outbox/hold.h).
 */
#ifndef LEDGER_OFFLINE_ADOPT_H
#define LEDGER_OFFLINE_ADOPT_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"
#include "link/verdict.h"
#include "state/directory.h"
#include "state/identity.h"

struct adopt_options {
	const struct settings *settings;
	bool copied;       /* a copy or an older state; false: the original, which was moved */
	bool accept_clock; /* accept a clock before the newest row (ledger/rows/life.h) */
	const struct operator* operator; /* for the audit */
	struct moment now;
	/* With @copied, called for each dealer, each game server and each suspended player; NULL: none. */
	void (*revived)(void *context, enum record record, const void *row);
	void *rows_context; /* of revived */
};

struct adopt_result {
	char installation[STATE_INSTALLATION_MAX];
	bool copied;
	uint64_t last_transaction_id; /* the last transaction, bet or result in the data, ... */
	int64_t last_ms;              /* ... and its time; 0: it holds none */
	uint64_t raised_by;           /* the increase of the transaction ids to ... */
	uint64_t first_id;            /* ... first id of the new life; 0: never started */
};

/*
 * Adopts the state. Returns STATUS_BUSY if a ledger holds it, otherwise the results of
 * state_dir_check() and offline_trail(). Writes the reason to @why. The store may end the process
 * (store/exit.h).
 */
enum status adopt_run(const struct adopt_options *options, struct adopt_result *result, char *why,
	size_t why_size);

#endif

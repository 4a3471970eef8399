/*
 * offline - data that no ledger serves, opened by an operator's command.
 */
#ifndef LEDGER_OFFLINE_OFFLINE_H
#define LEDGER_OFFLINE_OFFLINE_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "ledger/life.h"
#include "link/verdict.h"
#include "store/store.h"

struct atrest_options {
	const char *directory;
	bool create;    /* the data is new */
	bool keep_logs; /* what is kept of them is the ledger's affair */
};

/* Opens the data as a ledger with these settings would; as bdb_open(). */
enum status atrest_open(struct store **store, const struct settings *settings,
	const struct atrest_options *options, char *why, size_t why_size);

/* The last movement, bet or result of the data, and its time. 0: there is none. */
enum status atrest_find_last(struct store *store, uint64_t *transaction_id, int64_t *ms);

/* What an operator did to it. */
struct atrest_deed {
	const struct operator *operator;
	struct moment now;
	const char *action;
	const char *object; /* cut to fit, as @detail is */
	const char *detail;
	struct life_begun *life; /* out: of the life that begins in the same transaction; NULL: none does */
	bool hold; /* with @life: every callback is held until the operator releases it (hold.h) */
	int64_t complete_to_ms; /* with @hold: what the data hold, where their newest row is older */
	/* With @hold, is given each dealer and each game server that is in force; NULL: none. */
	void (*revived)(void *context, enum record record, const void *row);
	void *context;
	bool accept_clock;       /* the life begins although the clock is before the newest row */
};

/*
 * Writes it into the trail. STATUS_CONFIG: a life cannot begin, since the clock of the host cannot be
 * right or no ids are left;
 * STATUS_CORRUPT, STATUS_IO, STATUS_NOMEM. With a sentence in @why.
 */
enum status atrest_trail(struct store *store, const struct atrest_deed *deed, char *why,
	size_t why_size);

#endif

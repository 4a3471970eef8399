/*
 * offline - data that no ledger serves, opened by an operator's command.
 */
#ifndef LEDGER_OFFLINE_OFFLINE_H
#define LEDGER_OFFLINE_OFFLINE_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "ledger/rows/life.h"
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
	/* Of a life that begins: */
	bool hold; /* every callback is held until the operator releases it (hold.h) */
	int64_t complete_to_ms; /* with @hold: what the data hold, where their newest row is older */
	/* With @hold, is given each dealer, each game server and each suspended player; NULL: none. */
	void (*revived)(void *context, enum record record, const void *row);
	void *context;
	bool accept_clock; /* it begins although the clock is before the newest row */
};

/*
 * Writes it into the trail. STATUS_CORRUPT, STATUS_IO, STATUS_NOMEM. With a sentence in @why.
 */
enum status atrest_trail(struct store *store, const struct atrest_deed *deed, char *why,
	size_t why_size);

/* The life that began with a deed, and what it goes on from. */
struct atrest_life {
	uint64_t last_transaction_id; /* of the last movement, bet or result; 0: there is none */
	int64_t last_ms;              /* its time */
	struct life_begun begun;
};

/*
 * Writes it into the trail, and begins a new life in the same transaction. As atrest_trail(), and
 * STATUS_CONFIG: the clock of the host cannot be right or no ids are left.
 */
enum status atrest_begin_life(struct store *store, const struct atrest_deed *deed,
	struct atrest_life *life, char *why, size_t why_size);

#endif

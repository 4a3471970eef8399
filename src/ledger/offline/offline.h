/* offline - opens data that no ledger serves, for the commands of an operator. */
#ifndef LEDGER_OFFLINE_OFFLINE_H
#define LEDGER_OFFLINE_OFFLINE_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "ledger/rows/life.h"
#include "link/verdict.h"
#include "store/store.h"

struct offline_options {
	const char *directory;
	bool create;              /* the data is new; call its filled() at the end */
	const char *installation; /* of new data; NULL: not compared */
	bool keep_logs;           /* remove no old logs; the ledger decides about them */
	bool accept_older;        /* servers that have less than this host has served */
};

/* Opens the data with the settings that a ledger would use. Returns the results of store_open(). */
enum status offline_open(struct store **store, const struct settings *settings,
	const struct offline_options *options, char *why, size_t why_size);

/* Finds the last transaction, bet or result of the data and its time; 0 if there is none. */
enum status offline_find_last(struct store *store, uint64_t *transaction_id, int64_t *ms);

/* The action of an operator on the data. */
struct offline_deed {
	const struct operator* operator;
	struct moment now;
	const char *action;
	const char *object; /* cut to fit, as @detail is */
	const char *detail;
	/* For a new life: */
	bool hold; /* hold every callback until the operator releases it (hold.h) */
	/* with @hold: the time to which the data are complete, if that is after the newest row */
	int64_t complete_to_ms;
	/*
	 * With @hold, called for each dealer, each game server and each suspended player; NULL:
	 * none.
	 */
	void (*revived)(void *context, enum record record, const void *row);
	void *context;
	uint32_t ledger_number; /* of this host's settings */
	bool accept_clock;      /* accept a clock before the newest row */
};

/*
 * Records the action in the audit. Returns STATUS_CORRUPT, STATUS_IO or STATUS_NOMEM, with a
 * reason in @why.
 */
enum status offline_trail(struct store *store, const struct offline_deed *deed, char *why,
	size_t why_size);

/* The life that began with an action, and the ids before it. */
struct offline_life {
	uint64_t last_transaction_id; /* last transaction, bet or result; 0: none */
	int64_t last_ms;              /* its time */
	struct life_begun begun;
};

/*
 * Records the action in the audit and begins a new life in the same transaction. Returns the
 * results of offline_trail(), and STATUS_CONFIG if the clock of the host cannot be right or no ids
 * are left.
 */
enum status offline_begin_life(struct store *store, const struct offline_deed *deed,
	struct offline_life *life, char *why, size_t why_size);

#endif

/*
 * proof - the pure part of `creditbridgectl check`: the consistency of the ledger's rows.
 *
 * It gets row by row, in limited memory (one small struct for each dealer, and 96 KiB).
 * Transactions up to the point @as_of, the last transaction id when the sums were read, never
 * change. So a running ledger does not affect the proof; later rows are left to a later check. For
 * events (proof/event.h) the event counter serves the same purpose.
 *
 * The proof that each transaction has its request key, and the reverse, compares sets
 * (proof/sets.h). If they differ, the caller searches the rows one by one, and
 * proof_entry_request() and similar functions (proof/links.h) report the fault.
 *
 * proof/chain.h proves that a player's transactions follow each other. proof/round.h and
 * proof/event.h cover bets, rounds and callbacks.
 */
#ifndef PROOF_PROOF_H
#define PROOF_PROOF_H

#include "base/buffer.h"
#include "proof/sets.h"
#include "proof/bounds.h"
#include "proof/days.h"
#include "domain/records.h"

#define PROOF_LINE_SIZE   512 /* line that describes a problem, cut to fit */
#define PROOF_CHAIN_PARTS 1024

/* The start of the proof: rows up to here are proved. */
struct proof_point {
	uint64_t as_of;   /* the last transaction id */
	uint64_t event;   /* the last event's number */
	int64_t begin_ms; /* wall clock */
};

/* The moment at which a dealer's sums were read. */
struct proof_moment {
	uint64_t as_of; /* the last transaction id */
	/* Bounds of the moment by the event counter and the wall clock. */
	uint64_t event_from;
	uint64_t event_until;
	int64_t from_ms;
	int64_t until_ms;
};

/* Rows as bets and rounds require them, or as found. */
struct wager_sets {
	struct fingerprint requests;     /* idempotency keys of bets and results */
	struct fingerprint transactions; /* their transaction rows */
	struct fingerprint callbacks;    /* owner of the event, and its exact bytes */
	struct fingerprint bet_index;    /* rows by which bets are found (domain/bet_index.h) */
	struct fingerprint ends;         /* outcomes of bettings and refunds before begin_ms */
};

struct proof_dealer {
	struct total total;         /* as stored by the ledger, ... */
	struct proof_moment moment; /* ... read then */
	uint64_t players;           /* player rows seen */
	bool present;               /* its dealer row was seen: */
	char currency[CURRENCY_SIZE];
	/* sums of the transactions up to as_of */
	sum_t transferred_in;
	sum_t transferred_out;
	sum_t adjusted;
	sum_t staked;
	sum_t paid;
	sum_t corrected;
	sum_t cancelled;
	/* Bets and results open at the moment: lower and upper limit. */
	uint64_t open_least;
	uint64_t open_most;
	struct proof_bounds bounds;
	struct proof_days days;
	uint64_t parked; /* callbacks seen in these states */
	uint64_t held;
};

struct proof {
	uint64_t seed[2];
	struct proof_point point; /* transactions and events up to here are permanent */
	bool (*report)(void *closure, const char *problem);
	void *closure;
	/*
	 * The wall clock when the rows were read; INT64_MAX until the caller sets it. If a row has
	 * a later time, the clock was set back since, so its time does not show when it changed.
	 * Such a row counts as older than the proof.
	 */
	int64_t read_ms;
	struct proof_dealer *dealers; /* in the order of casino_id */
	size_t dealer_count;
	/* figures */
	uint64_t players;
	uint64_t entries;
	uint64_t requests;
	uint64_t transactions;
	uint64_t rounds;
	uint64_t bets;
	uint64_t callbacks;
	uint64_t problems;
	uint64_t loose; /* those reported by proof_loose() */
	/* sets that must be equal in pairs */
	struct fingerprint player_rows;
	struct fingerprint name_rows;
	struct fingerprint entry_requests; /* request keys that the transactions require */
	struct fingerprint request_rows;
	struct wager_sets wanted; /* required by bets and rounds */
	struct wager_sets found;
	struct buffer body; /* for rendering */
	/*
	 * Transactions and the references to them: sets that must be equal. They are divided into
	 * many parts in two ways, so that a surplus one can be found although another fault is in
	 * one of its parts.
	 */
	struct chain_part {
		struct fingerprint rows;
		struct fingerprint expected;
	} chains[2][PROOF_CHAIN_PARTS];
	bool no_memory;  /* memory was exhausted, so the proof is void */
	bool incomplete; /* rows kept changing: proof_loose() proves nothing */
};

/*
 * Begins a proof. @report gets a line for every problem; it returns false if the problem was
 * reported before and must not be counted again.
 */
void proof_init(struct proof *proof, const uint64_t seed[2], const struct proof_point *point,
	bool (*report)(void *closure, const char *problem), void *closure);
void proof_free(struct proof *proof);

/*
 * Returns true if an event dated @time_ms happened at @moment_ms or later. A time in the future
 * does not count.
 */
bool proof_is_since(const struct proof *proof, int64_t time_ms, int64_t moment_ms);

/* Counts and reports a problem that the caller found. */
void proof_problem(struct proof *proof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Like proof_problem(), for a fault that a clock set back can cause. It must be found again to
 * count.
 */
void proof_loose(struct proof *proof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds a dealer by its total, read at @moment, whose upper bounds proof_dealers_read() sets. A
 * repetition is harmless. Returns false if memory is exhausted.
 */
bool proof_add_dealer(struct proof *proof, const struct total *total,
	const struct proof_moment *moment);
/* Sets the upper bounds of the dealers added since the last call. */
void proof_dealers_read(struct proof *proof, uint64_t event_until, int64_t until_ms);
struct proof_dealer *proof_find_dealer(const struct proof *proof, const char *casino_id);

/* Adds a dealer row. Its total row, if any, must have been added before. */
void proof_dealer(struct proof *proof, const char *casino_id, const char *currency);

/*
 * Checks the number of a dealer's players, which have no transaction id. @before and @after are the
 * totals before and after the rows were counted. Returns true if it was proved or reported. Returns
 * false if players were added meanwhile: set dealer->players and count again.
 */
bool proof_player_count(struct proof *proof, const struct proof_dealer *dealer, uint64_t before,
	uint64_t after);

/*
 * Adds a player row of a dealer that was added. @settled: it existed before the check began, so its
 * name will be among the names.
 */
void proof_player(struct proof *proof, const struct player *player, bool settled);

/* Adds a name row with its player row (NULL: not found); @settled as in proof_player(). */
void proof_name(struct proof *proof, const struct player_name *name, const struct player *player,
	bool settled);

/* Adds a transaction row, in any order. @page_as_of: the last transaction id when it was read. */
void proof_transaction(struct proof *proof, const struct transaction *transaction,
	uint64_t page_as_of);

/*
 * Checks the parked callbacks; call it after all callbacks. @after is the dealer's present total,
 * and no operator acted since it was first read. Then callbacks are parked and none is released, so
 * an unchanged number was correct throughout.
 */
void proof_waiting(struct proof *proof, const struct total *after);

/* Checks the dealers' sums. Call it after all rows. */
void proof_totals(struct proof *proof);

/*
 * Returns true if the request key of a transaction of @kind may be of @scope. A payout may be an item of a
 * batch, and an operator may correct a round.
 */
bool proof_scope_fits(enum entry_kind kind, enum request_scope scope);
/* Returns true for bets and payouts, whose keys and transactions bets and rounds name. */
bool proof_is_wager(enum entry_kind kind);
/* ... and for corrections and cancellations, which name theirs. */
bool proof_is_linked(enum entry_kind kind);
/* Returns true for the kinds that belong to a game, and for those that name a number of it. */
bool proof_names_game(enum entry_kind kind);
bool proof_names_number(enum entry_kind kind);
money_t proof_entry_asked(const struct transaction *entry);

#endif

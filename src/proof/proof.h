/*
 * proof - the pure part of `creditbridgectl check`: is what the ledger holds consistent?
 *
 * Fed row by row, in bounded memory (one small struct a dealer, and 96 KiB). Movements up to the point in time
 * @as_of, the last transaction id given out when the sums were read, are an immutable set, so that
 * a ledger at work changes nothing about what is proved; what came later is left to a later check.
 * Events (proof/event.h) have the event counter for that.
 *
 * That every movement has its request key, and each key its movement, is proved by comparing sets
 * (proof/sets.h). When they differ, the caller looks for the rows one by one and
 * proof_entry_request() and the like (proof/links.h) tell what is wrong.
 *
 * That a player's movements follow each other is proof/chain.h; bets, rounds and callbacks are
 * proof/round.h and proof/event.h.
 */
#ifndef PROOF_PROOF_H
#define PROOF_PROOF_H

#include "base/buffer.h"
#include "proof/sets.h"
#include "domain/records.h"

#define PROOF_LINE_SIZE 512 /* of a problem, cut to fit */
#define PROOF_CHAIN_PARTS 1024

/* When the proof began: what was there then is proved. */
struct proof_point {
	uint64_t as_of;   /* the last transaction id */
	uint64_t event;   /* the last event's number */
	int64_t begin_ms; /* wall clock */
};

/* When a dealer's sums were read. */
struct proof_moment {
	uint64_t as_of; /* this was the last transaction id */
	/* Between two looks at the event counter and at the wall clock. */
	uint64_t event_from;
	uint64_t event_until;
	int64_t from_ms;
	int64_t until_ms;
};

/* What bets and rounds say of other rows; or what these are. */
struct wager_sets {
	struct fingerprint requests;     /* idempotency keys of bets and results */
	struct fingerprint transactions; /* rows of theirs */
	struct fingerprint callbacks;    /* whose event it is, and its exact bytes */
	struct fingerprint ends;         /* how bettings and refunds ended, before begin_ms */
};

struct proof_dealer {
	struct total total;  /* as the ledger keeps it, ... */
	struct proof_moment moment; /* ... read then */
	uint64_t players;    /* player rows seen */
	bool present;        /* its dealer row was seen */
	/* sums of the movements up to as_of */
	sum_t transferred_in;
	sum_t transferred_out;
	sum_t adjusted;
	sum_t staked;
	sum_t paid;
	/* Bets and results that were open at the moment: surely, and at most. */
	uint64_t open_least;
	uint64_t open_most;
	uint64_t parked; /* callbacks seen in these states */
	uint64_t held;
};

struct proof {
	uint64_t seed[2];
	struct proof_point point; /* every movement and event up to here is there for good */
	bool (*report)(void *closure, const char *problem);
	void *closure;
	/*
	 * The wall clock when the rows that are fed were read; INT64_MAX until the caller sets it. A
	 * row of a later time does not tell when it was changed: the clock was set back since. It is
	 * taken for one that was there when the proof began.
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
	uint64_t loose; /* of them, by proof_loose() */
	/* sets that must be equal in pairs */
	struct fingerprint player_rows;
	struct fingerprint name_rows;
	struct fingerprint entry_requests; /* what the movements want as request keys */
	struct fingerprint request_rows;
	struct wager_sets wanted; /* by bets and rounds */
	struct wager_sets found;
	struct buffer body;       /* for rendering */
	/*
	 * The movements, and what the next ones and the players tell of them: sets that must be equal,
	 * each divided into many parts, twice, so that one that is too many can be found although
	 * another fault is in the same part.
	 */
	struct chain_part {
		struct fingerprint rows;
		struct fingerprint told;
	} chains[2][PROOF_CHAIN_PARTS];
	bool no_memory;           /* something was left out: the proof is worth nothing */
	bool incomplete;          /* something changed all the time: proof_loose() tells nothing */
};

/* @report gets a line for every problem; false: it was told before, and is not counted again. */
void proof_init(struct proof *proof, const uint64_t seed[2], const struct proof_point *point,
	bool (*report)(void *closure, const char *problem), void *closure);
void proof_free(struct proof *proof);

/* True: what is dated @time_ms happened at @moment_ms or later. A time that has not come does not. */
bool proof_is_since(const struct proof *proof, int64_t time_ms, int64_t moment_ms);

/* Counts and reports a problem that the caller found. */
void proof_problem(struct proof *proof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same of what a clock that is set back can make: to be found again before it is believed. */
void proof_loose(struct proof *proof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds a dealer by its total, read at @moment, of which the ends are set by proof_dealers_read().
 * Twice is no harm. False: memory.
 */
bool proof_add_dealer(struct proof *proof, const struct total *total,
	const struct proof_moment *moment);
/* The dealers added since the last call were all read by now. */
void proof_dealers_read(struct proof *proof, uint64_t event_until, int64_t until_ms);
struct proof_dealer *proof_find_dealer(const struct proof *proof, const char *casino_id);

/* A dealer row, whose total row was added before if there is one. */
void proof_dealer(struct proof *proof, const char *casino_id);

/*
 * The number of a dealer's players, which have no transaction id: @before and @after are what the
 * total held before and after the rows were counted. True: proved or reported; false: players were
 * added meanwhile, count again (set dealer->players).
 */
bool proof_player_count(struct proof *proof, const struct proof_dealer *dealer, uint64_t before,
	uint64_t after);

/*
 * A player row of a dealer that was added; @settled: it was there before the check began, so that
 * its name will be among the names.
 */
void proof_player(struct proof *proof, const struct player *player, bool settled);

/* A name row with its player row (NULL: there is none); @settled as of proof_player(). */
void proof_name(struct proof *proof, const struct player_name *name, const struct player *player,
	bool settled);

/* A transaction row, in any order; @page_as_of: the last transaction id when it was read. */
void proof_transaction(struct proof *proof, const struct transaction *transaction,
	uint64_t page_as_of);

/*
 * After all callbacks: @after is the dealer's total now, and no operator did anything since it was
 * read first. Then callbacks are parked and none is taken up again, so that a number that has not
 * changed was right all the time.
 */
void proof_waiting(struct proof *proof, const struct total *after);

/* After all rows: do the dealers' sums agree? */
void proof_totals(struct proof *proof);

/* What each kind of movement is: whose key moved it, and what was asked for by it. */
enum request_scope proof_kind_scope(enum entry_kind kind);
/* Bets and payouts belong to a game. */
bool proof_is_wager(enum entry_kind kind);
money_t proof_entry_asked(const struct transaction *entry);

#endif

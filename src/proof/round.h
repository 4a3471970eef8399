/*
 * round - a round and its bets: states, sums, and the rows that they require.
 *
 * A running ledger may change rows between two reads. So a round and its bets are one reading. It
 * is counted by proof_round_take(), or discarded and repeated if it has a fault. A fault counts
 * only if the round's row did not change meanwhile. The same applies to a bet and its callbacks.
 */
#ifndef PROOF_ROUND_H
#define PROOF_ROUND_H

#include "proof/proof.h"
#include "domain/round_list.h"

#define PROOF_FAULTS_MAX 8

/* The faults of a reading, one line each. */
struct proof_faults {
	uint32_t count;
	char lines[PROOF_FAULTS_MAX][PROOF_LINE_SIZE];
};
/* Adds a fault. Faults beyond PROOF_FAULTS_MAX are left to the next check. */
void proof_fault(struct proof_faults *faults, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reports them as problems. */
void proof_accuse(struct proof *proof, const struct proof_faults *faults);

/*
 * Limit of live bets of one round. It is exceeded only if hundreds of bets of one player in one
 * game are rejected during the check. Then the reading reports that the ledger changed too fast.
 */
#define PROOF_LIVE_MAX 4096

struct round_reading {
	struct proof *proof;
	struct round round; /* its bytes, except listed, are unused after proof_round_begin() */
	uint8_t list[ROUND_LIST_SIZE]; /* the copy of listed */
	bool there;
	bool counts; /* false: all bets were placed since the proof began; left to a later check */
	uint32_t bets; /* number of the last one */
	uint32_t settled;
	money_t staked;
	money_t added;
	bool overflow;
	uint32_t listed;     /* number of bets listed as part of the round ... */
	sum_t listed_amount; /* ... and their sum */
	uint64_t event;      /* highest event named; by bet event_bet, or by the round if 0 */
	uint32_t event_bet;
	/* Bets whose callbacks are checked one by one: unfinished, or changed meanwhile. */
	uint32_t live_count;
	uint32_t live[PROOF_LIVE_MAX];
	uint64_t open_least;
	uint64_t open_most;
	struct proof_bounds bounds;
	uint64_t days[PROOF_DAY_PARTS]; /* what the bets add to the days of their dealer */
	struct wager_sets wanted;
	struct proof_faults faults;
};

/*
 * Begins a reading. @round is NULL if the row @key does not exist but bets of it do. @as_of: the
 * last transaction id when the row was read.
 */
void proof_round_begin(struct round_reading *reading, struct proof *proof, const struct round *key,
	const struct round *round, uint64_t as_of);
/* Adds the bets, in order. */
void proof_round_bet(struct round_reading *reading, const struct bet *bet, uint64_t as_of);
/* Ends the reading. @event_given: the event counter, read after the rows. */
void proof_round_end(struct round_reading *reading, uint64_t event_given);
/* Counts the reading. */
void proof_round_take(const struct round_reading *reading);

/*
 * Returns true if the bet shows how its betting and refund ended, and both ended before the proof.
 */
bool proof_bet_is_quiet(const struct proof *proof, const struct bet *bet);

/* Adds the faults of the bet by itself. */
void proof_bet_alone(const struct bet *bet, struct proof_faults *faults);

/* Adds the rows that the bet requires. @user_id: that of its round. */
void proof_bet_links(struct proof *proof, const struct bet *bet, const char *user_id,
	struct wager_sets *wanted);
void proof_round_links(struct proof *proof, const struct round *round, struct wager_sets *wanted);

/*
 * Returns what is wrong between a bet and its callback of @kind, a betting or a refund (NULL: not
 * found), or NULL.
 */
const char *proof_bet_callback(const struct bet *bet, enum callback_kind kind,
	const struct callback *callback);
/* Like proof_bet_callback(), for a round and its betting-result. */
const char *proof_round_callback(const struct round *round, const struct callback *callback);

/*
 * Adds the end of a bet that was compared with its callback to the set, if it was before the proof.
 */
void proof_bet_ended(struct proof *proof, const struct bet *bet, const struct callback *callback);

/*
 * Renders the body that the callback of a bet or round must have into proof->body. Returns false
 * and sets proof->no_memory if memory is exhausted. The timestamp of a refund is left 0: see
 * proof_body_hash().
 */
bool proof_bet_body(struct proof *proof, const struct bet *bet, const char *user_id,
	enum callback_kind kind);
bool proof_round_body(struct proof *proof, const struct round *round);

/* The members of a body that do not follow from its bet or round. */
struct proof_body_extra {
	int64_t timestamp;            /* of a refund, which is that of its event; otherwise 0 */
	char currency[CURRENCY_SIZE]; /* "": none */
};
/* Adds a body to the row's hash. The members of *@extra are left out. */
void proof_body_hash(struct row_hash *row, enum callback_kind kind, struct bytes body,
	struct proof_body_extra *extra);

/* Hash the members of the sets. */
void proof_hash_callback(const struct proof *proof, const struct callback *callback,
	struct row_hash *row); /* the caller adds the body afterwards */
void proof_hash_end(const struct proof *proof, const struct callback *callback,
	struct row_hash *row);

#endif

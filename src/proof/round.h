/*
 * round - a round and its bets: states, sums, and what they want of other rows.
 *
 * A ledger at work changes rows between the reading of one and the next. So a round and its bets
 * are a reading, which is taken (proof_round_take) or, when it has a fault, thrown away and made
 * anew: only a fault that stands while the round's row does not change is believed. The same holds
 * for a bet and its callbacks.
 */
#ifndef PROOF_ROUND_H
#define PROOF_ROUND_H

#include "proof/proof.h"
#include "domain/round_list.h"

#define PROOF_FAULTS_MAX 8

/* What is wrong with a reading, a line each. */
struct proof_faults {
	uint32_t count;
	char lines[PROOF_FAULTS_MAX][PROOF_LINE_SIZE];
};
/* Those after the first PROOF_FAULTS_MAX are left to the next check. */
void proof_fault(struct proof_faults *faults, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reports them as problems. */
void proof_accuse(struct proof *proof, const struct proof_faults *faults);

/*
 * Of one round. More can only be where hundreds of bets of one player in one game are rejected while
 * the check runs: then it says that the ledger changed too fast.
 */
#define PROOF_LIVE_MAX 4096

struct round_reading {
	struct proof *proof;
	struct round round; /* its bytes are not used after proof_round_begin(), but for listed */
	uint8_t list[ROUND_LIST_SIZE]; /* which are these */
	bool there;
	bool counts;   /* false: only bets placed since the proof began: left to a later one */
	uint32_t bets; /* number of the last one */
	uint32_t settled;
	money_t staked;
	money_t added;
	bool overflow;
	uint32_t listed;     /* bets that are listed as part of the round ... */
	sum_t listed_amount; /* ... and their sum */
	uint64_t event; /* the highest one named; by bet number event_bet, 0: the round */
	uint32_t event_bet;
	/* Bets whose callbacks are to be looked at one by one: under way, or changed meanwhile. */
	uint32_t live_count;
	uint32_t live[PROOF_LIVE_MAX];
	uint64_t open_least;
	uint64_t open_most;
	struct wager_sets wanted;
	struct proof_faults faults;
};

/*
 * @round NULL: @key's row is not there, but bets of it are. @as_of: the last transaction id when
 * the row was read.
 */
void proof_round_begin(struct round_reading *reading, struct proof *proof, const struct round *key,
	const struct round *round, uint64_t as_of);
/* The bets in their order. */
void proof_round_bet(struct round_reading *reading, const struct bet *bet, uint64_t as_of);
/* @event_given: the event counter, read after the rows. */
void proof_round_end(struct round_reading *reading, uint64_t event_given);
/* Counts the reading. */
void proof_round_take(const struct round_reading *reading);

/* True: the bet alone says how its betting and its refund ended, and they did before the proof. */
bool proof_bet_is_quiet(const struct proof *proof, const struct bet *bet);

/* What is wrong with the bet by itself. */
void proof_bet_alone(const struct bet *bet, struct proof_faults *faults);

/* Adds what the bet wants of other rows. @user_id: of its round. */
void proof_bet_links(struct proof *proof, const struct bet *bet, const char *user_id,
	struct wager_sets *wanted);
void proof_round_links(struct proof *proof, const struct round *round, struct wager_sets *wanted);

/*
 * What is wrong between a bet and its callback of @kind, a betting or a refund (NULL: there is
 * none); NULL: nothing.
 */
const char *proof_bet_callback(const struct bet *bet, enum callback_kind kind,
	const struct callback *callback);
/* The same for a round and its betting-result. */
const char *proof_round_callback(const struct round *round, const struct callback *callback);

/*
 * Of a bet that was compared with its callback: adds its end to the set, if it was before the
 * proof.
 */
void proof_bet_ended(struct proof *proof, const struct bet *bet, const struct callback *callback);

/*
 * Renders the body that the callback of a bet or a round must have into proof->body. False: no
 * memory (proof->no_memory is set). A refund's timestamp is left 0: see proof_body_hash().
 */
bool proof_bet_body(struct proof *proof, const struct bet *bet, const char *user_id,
	enum callback_kind kind);
bool proof_round_body(struct proof *proof, const struct round *round);

/*
 * Adds a body to the row's hash, without the timestamp of a refund, which is that of its event:
 * *timestamp gets it; 0: it has none.
 */
void proof_body_hash(struct row_hash *row, enum callback_kind kind, struct bytes body,
	int64_t *timestamp);

/* The members of the sets. */
void proof_hash_callback(const struct proof *proof, const struct callback *callback,
	struct row_hash *row); /* to be followed by the body */
void proof_hash_end(const struct proof *proof, const struct callback *callback,
	struct row_hash *row);

#endif

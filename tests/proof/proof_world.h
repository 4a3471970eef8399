/*
 * proof_world - the rows of a ledger with bets, rounds and callbacks in every state, and their
 * proof.
 */
#ifndef TESTS_PROOF_PROOF_WORLD_H
#define TESTS_PROOF_PROOF_WORLD_H

#include "domain/delivery.h"
#include "proof/event.h"
#include "proof/links.h"
#include "wire/callback_body.h"

#define WORLD_ROUNDS   10
#define WORLD_BETS     20
#define WORLD_EVENTS   32
#define WORLD_ATTEMPTS 40
#define WORLD_ANSWERS  2
#define WORLD_CHANGES  8
#define WORLD_KEYS     (WORLD_BETS + WORLD_ROUNDS + 2 * WORLD_CHANGES)
#define WORLD_BODY     1024

/* The times of this world. Everything that has ended ended before. */
#define WORLD_NOW_MS INT64_C(100000)

struct world {
	struct proof_point point;
	struct proof_moment moment; /* of the sums */
	int64_t read_ms;            /* when the rows were read; 0: long afterwards */
	uint64_t transaction_id;    /* the last ids assigned */
	uint64_t event;
	struct total totals[2];
	struct round rounds[WORLD_ROUNDS];
	unsigned int round_count;
	struct bet bets[WORLD_BETS];
	unsigned int bet_count;
	struct request requests[WORLD_KEYS];
	unsigned int request_count;
	struct transaction transactions[WORLD_KEYS];
	unsigned int transaction_count;
	struct correction corrections[WORLD_CHANGES];
	unsigned int correction_count;
	struct cancellation cancellations[WORLD_CHANGES];
	unsigned int cancellation_count;
	struct callback callbacks[WORLD_EVENTS];
	unsigned int callback_count;
	struct callback_body bodies[WORLD_EVENTS];
	unsigned int body_count;
	char texts[WORLD_EVENTS][WORLD_BODY]; /* of the bodies */
	struct attempt attempts[WORLD_ATTEMPTS];
	unsigned int attempt_count;
	struct answer answers[WORLD_ANSWERS]; /* in the order of their keys */
	unsigned int answer_count;
	struct due dues[WORLD_EVENTS];
	unsigned int due_count;
};

/* The result of a proof. */
struct world_verdict {
	uint64_t problems;
	uint64_t loose;
	bool requests; /* the sets are equal */
	bool transactions;
	bool callbacks;
	bool ends;
	uint64_t open_least;
	uint64_t open_most;
	char text[16384];
};

void world_make(struct world *world);
/*
 * Adds corrected rounds and cancelled bets. Of the seamless wallet: g4 was lost, then corrected to
 * 30.00 (delivered), to 20.00 (the dealer could not take 4.00) and to 30.00 (6.00 are due); the
 * betting-refund of g5/1 is due. Of the transfer wallet: a win of h4 was corrected to a loss, with a
 * shortfall of 3.00; the stake of h5/1 was returned.
 */
void world_add_changes(struct world *world);
struct round *world_round(struct world *world, const char *game_id);
struct bet *world_bet(struct world *world, const char *game_id, uint32_t number);
struct callback *world_callback(struct world *world, uint64_t event);
struct correction *world_correction(struct world *world, const char *game_id, uint32_t revision);
struct cancellation *world_cancellation(struct world *world, const char *game_id);
struct attempt *world_attempt(struct world *world, uint64_t event, uint32_t number);
struct due *world_due(struct world *world, uint64_t event);
/* Returns the idempotency key of the bet or (number 0) of the result, or the one named @id. */
struct request *world_key(struct world *world, const char *id);
struct request *world_request(struct world *world, const char *game_id, uint32_t number);
struct transaction *world_transaction(struct world *world, uint64_t transaction_id);
/* Removes a row from its array. */
#define world_remove(array, count, row)                                                            \
	do {                                                                                       \
		void *row_ = (row);                                                                \
		size_t size_ = sizeof(*(array));                                                   \
		char *end_ = (char *)(array) + size_ * (count)--;                                  \
		memmove(row_, (char *)row_ + size_, (size_t)(end_ - (char *)row_) - size_);        \
	} while (0)

void world_prove(struct world *world, struct world_verdict *verdict);
bool world_is_sound(const struct world_verdict *verdict);

#endif

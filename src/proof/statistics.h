/*
 * statistics - are the sums that A4 tells those of the player's bets? The pure part of what
 * `check` proves of them.
 *
 * A player's lifetime and days are computed anew from his rounds and bets, by the rules that booked
 * them (domain/statistics.h), and compared with the rows. One player at a time, in the memory of a
 * row for each day on which he bet.
 *
 *     begin; for each round, in order: round, its bets; then the lifetime and the days; end
 *
 * Of a player who bets meanwhile these are not read at one point in time. Then rounds and bets are
 * fed a second time, behind the rows (proof_statistics_again()): everything that is summed up only
 * grows, acceptances and refunds, stakes and payouts, so the rows must lie between what was there
 * before they were read and what is there behind them.
 */
#ifndef PROOF_STATISTICS_H
#define PROOF_STATISTICS_H

#include "domain/statistics.h"

/* A bet of a later day than 2149-06-06 is none: it bounds the memory. */
#define PROOF_DAYS_MAX 65536

/* What grows, each by itself. */
struct proof_growth {
	uint64_t accepted; /* bets without additions */
	uint64_t refunded;
	sum_t turnover;
	sum_t paid; /* profit_loss is paid less turnover */
};

/* Of a day, or of all time. */
struct proof_sums {
	uint32_t day;
	struct statistics kept; /* zeros: there is no row */
	struct proof_growth made[2]; /* by the bets: when first fed, and when fed again */
};

struct proof_statistics {
	char player_id[PLAYER_ID_SIZE];
	struct proof_sums lifetime;
	struct proof_sums *days; /* in the order of their numbers */
	uint32_t day_count;
	uint32_t day_room;
	unsigned int reading; /* 0; 1: fed again */
	bool no_memory;
	/* the round that is being fed */
	bool settled;
	bool waits; /* a bet of it was met that was read before the round was settled */
	bool paid;  /* a settled one was, whose day has the payout */
	enum round_result result;
	money_t payout_amount;
	/* what does not fit */
	uint64_t differences;
	void (*report)(void *closure, const char *problem); /* NULL: they are only counted */
	void *closure;
};

/* Prepares @proof, without memory. */
void proof_statistics_init(struct proof_statistics *proof,
	void (*report)(void *closure, const char *problem), void *closure);
void proof_statistics_free(struct proof_statistics *proof);

/* Another player, or the same one anew. */
void proof_statistics_begin(struct proof_statistics *proof, const char *player_id);
/* What is fed from now on was read behind the rows. */
void proof_statistics_again(struct proof_statistics *proof);

/* A round, NULL for bets without one; then its bets in the order of their numbers. */
void proof_statistics_round(struct proof_statistics *proof, const struct round *round);
void proof_statistics_bet(struct proof_statistics *proof, const struct bet *bet);

/* The rows, each once. */
void proof_statistics_lifetime(struct proof_statistics *proof, const struct lifetime *row);
void proof_statistics_day(struct proof_statistics *proof, const struct day *row);

/* Compares. False: memory was exhausted, nothing is proved. */
bool proof_statistics_end(struct proof_statistics *proof);

#endif

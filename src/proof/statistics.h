/*
 * statistics - checks that the sums of A4 are those of the player's bets: the pure part of `check`.
 *
 * The proof recomputes a player's lifetime and days from the rounds and bets, by the rules of
 * domain/statistics.h, and compares them with the rows. It handles one player at a time and needs
 * memory for a row for each day with a bet.
 *
 *     begin; for each round, in order: round, its bets; then the lifetime and the days; end
 *
 * If a player bets during the check, these rows are not from one moment. Then the caller passes
 * rounds and bets a second time, read after the rows (proof_statistics_again()). Acceptances,
 * refunds, stakes and payouts only grow, except by corrections. So the rows must lie between the sums
 * of the first pass and those of the second, or farther by what the corrections since the first pass
 * can have changed (proof_statistics_correction()).
 */
#ifndef PROOF_STATISTICS_H
#define PROOF_STATISTICS_H

#include "domain/statistics.h"

/* Bets after 2149-06-06 are invalid; this limits the memory. */
#define PROOF_DAYS_MAX 65536

/* Sums that only grow. */
struct proof_growth {
	uint64_t accepted; /* bets without additions */
	uint64_t refunded;
	sum_t turnover;
	sum_t paid;     /* profit_loss is paid less turnover */
	sum_t staked;   /* stakes of accepted bets of a transfer wallet */
	sum_t returned; /* those of the settled and cancelled ones */
};

/* The sums of a day, or of all time. */
struct proof_sums {
	uint32_t day;
	struct statistics kept; /* zeros: no row exists */
	/* computed from the bets: at the first pass, and at the second */
	struct proof_growth made[2];
};

struct proof_statistics {
	char player_id[PLAYER_ID_SIZE];
	struct proof_sums lifetime;
	sum_t staked;            /* as the lifetime row keeps it */
	struct proof_sums *days; /* in the order of their numbers */
	uint32_t day_count;
	uint32_t day_room;
	unsigned int reading; /* 0: first pass; 1: second pass */
	/* limits of what corrections between the passes changed */
	uint64_t changed_bets;
	sum_t changed_money;
	bool no_memory;
	/* the present round */
	bool settled;
	bool waits; /* one of its bets was read before the round was settled */
	bool paid;  /* a settled bet was read, whose day gets the payout */
	enum round_result result;
	money_t payout_amount;
	/* sums that do not match */
	uint64_t differences;
	void (*report)(void *closure, const char *problem); /* NULL: problems are only counted */
	void *closure;
};

/* Prepares @proof without allocation. */
void proof_statistics_init(struct proof_statistics *proof,
	void (*report)(void *closure, const char *problem), void *closure);
void proof_statistics_free(struct proof_statistics *proof);

/* Begins with another player, or with the same one again. */
void proof_statistics_begin(struct proof_statistics *proof, const char *player_id);
/* Begins the second pass: the following bets were read after the rows. */
void proof_statistics_again(struct proof_statistics *proof);

/* Adds a round, or NULL for bets without one; then add its bets in the order of their numbers. */
void proof_statistics_round(struct proof_statistics *proof, const struct round *round);
void proof_statistics_bet(struct proof_statistics *proof, const struct bet *bet);

/* Adds a correction that was made since the first pass began. */
void proof_statistics_correction(struct proof_statistics *proof, const struct correction *row);

/* Add the rows, each once. */
void proof_statistics_lifetime(struct proof_statistics *proof, const struct lifetime *row);
void proof_statistics_day(struct proof_statistics *proof, const struct day *row);

/* Compares the sums. Returns false if memory was exhausted and nothing is proved. */
bool proof_statistics_end(struct proof_statistics *proof);

#endif

/*
 * proof - the pure part of `creditbridgectl check`: is what the ledger holds consistent?
 *
 * Fed row by row, in bounded memory (one small struct a dealer). Movements up to the point in time
 * @as_of, the last transaction id given out when the sums were read, are an immutable set, so that
 * a ledger at work changes nothing about what is proved; what came later is left to a later check.
 *
 * That every movement has its request key and its transaction row, and these nothing else, is
 * proved by comparing sets: each row of either side is hashed with a secret of this run, and the
 * sums of the hashes (2 x 64 bits) and the numbers of rows must be equal. When they are not, the
 * caller looks for the rows one by one and proof_entry_request() and the like tell what is wrong.
 */
#ifndef CMD_CTL_PROOF_H
#define CMD_CTL_PROOF_H

#include "domain/records.h"

/* A multiset of rows. */
struct fingerprint {
	uint64_t count;
	uint64_t sum[2];
};

struct proof_dealer {
	struct total total;  /* as the ledger keeps it, ... */
	uint64_t as_of;      /* ... when this was the last transaction id */
	uint64_t players;    /* player rows seen */
	bool present;        /* its dealer row was seen */
	bool overflow;
	/* sums of the movements up to as_of */
	money_t transferred_in;
	money_t transferred_out;
	money_t adjusted;
	money_t staked;
	money_t paid;
};

struct proof {
	uint64_t seed[2];
	uint64_t as_of; /* every movement up to here is there for good */
	void (*report)(void *closure, const char *problem);
	void *closure;
	struct proof_dealer *dealers; /* in the order of casino_id */
	size_t dealer_count;
	/* figures */
	uint64_t players;
	uint64_t entries;
	uint64_t requests;
	uint64_t transactions;
	uint64_t problems;
	/* sets that must be equal in pairs */
	struct fingerprint player_rows;
	struct fingerprint name_rows;
	struct fingerprint entry_requests; /* what the movements want as request keys */
	struct fingerprint request_rows;
	struct fingerprint entry_transactions;
	struct fingerprint transaction_rows;
	/* the player whose movements are being fed */
	struct player player;
	uint64_t player_as_of;
	struct entry last;
};

/* @report gets a line for every problem. */
void proof_init(struct proof *proof, const uint64_t seed[2], uint64_t as_of,
	void (*report)(void *closure, const char *problem), void *closure);
void proof_free(struct proof *proof);

/* Counts and reports a problem that the caller found. */
void proof_problem(struct proof *proof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a dealer by its total, read at @as_of. Twice is no harm. False: memory. */
bool proof_add_dealer(struct proof *proof, const struct total *total, uint64_t as_of);
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

/*
 * The movements of one player: proof_begin() with its name row and its player row, read at @as_of
 * (@player NULL: there is none), then proof_entry() for every entry in order, read later, then
 * proof_end().
 */
void proof_begin(struct proof *proof, const struct player_name *name, const struct player *player,
	uint64_t as_of, bool settled);
/* @page_as_of: the last transaction id when the entry was read. */
void proof_entry(struct proof *proof, const struct entry *entry, uint64_t page_as_of);
void proof_end(struct proof *proof);

/* An entry of a player without a name row; the names were read at @names_as_of. */
void proof_orphan(struct proof *proof, const struct entry *entry, uint64_t names_as_of);

void proof_request(struct proof *proof, const struct request *request);
void proof_transaction(struct proof *proof, const struct transaction *transaction,
	uint64_t page_as_of);

/* After all rows: do the dealers' sums agree? */
void proof_totals(struct proof *proof);

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);

/*
 * What is wrong between a movement of @casino_id and the row that it should have; NULL: nothing.
 * NULL for the row: there is none.
 */
const char *proof_entry_request(const struct entry *entry, const char *casino_id,
	const struct request *request);
const char *proof_entry_transaction(const struct entry *entry, const char *casino_id,
	const struct transaction *transaction);

#endif

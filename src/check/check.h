/*
 * check - proves the rows of a ledger that runs: walks every row, and searches for the rows that do not
 * fit when the walk found that some do not. It prints nothing.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "admin/list.h"
#include "proof/round.h"

#define CHECK_PROBLEMS_SHOWN 100
#define CHECK_PROBLEM_SIZE   PROOF_LINE_SIZE

/* A betting-result that was sent more than three times, by operators. */
struct check_resent {
	uint64_t event;
	uint32_t attempts;
	uint32_t retries; /* that the audit tells of */
};

struct check {
	struct session *session;
	struct proof proof;
	struct proof_point point; /* begin_ms: players made before are settled */
	bool open;          /* proof is initialised */
	bool unsettled;     /* something changed faster than it could be read */
	/* Is given what is being walked, and how many rows were. NULL: nothing is. */
	void (*progress)(void *closure, const char *what, uint64_t rows);
	void *progress_closure;
	uint64_t sums;        /* lifetimes and days of players that were compared */
	/* Up to the point: what is printed. The point itself, a counter, is higher after an import. */
	uint64_t last_transaction_id;
	uint64_t event_given; /* the event counter, as it was read last */
	uint64_t audit;       /* what operators had done before the sums were read */
	char (*clients)[CLIENT_ID_SIZE]; /* that are there, in order */
	size_t client_count;
	struct check_resent *resent; /* in the order of event */
	size_t resent_count;
	char (*shown)[PROOF_LINE_SIZE]; /* the first problems */
	unsigned int shown_count;
};

/* Reports, now and then, what is being walked and how many rows were. */
void check_progress(struct check *check, const char *what, uint64_t rows);

/* Reads a counter; 0 when there is none. */
enum outcome check_counter(struct check *check, const char *name, uint64_t *value);
/* Reads the event counter into check->event_given. */
enum outcome check_count_events(struct check *check);

/* Walks names with their players. */
enum outcome check_walk_names(struct check *check);
/* Walks transactions. */
enum outcome check_walk_transactions(struct check *check);
/* Walks rounds and bets. */
enum outcome check_walk_rounds(struct check *check);
/* Walks rounds and bets beside the sums that A4 tells of them (proof/statistics.h). */
enum outcome check_walk_statistics(struct check *check);
/* Walks callbacks, bodies, attempts and due rows; and then the audit, if it must tell something. */
enum outcome check_walk_events(struct check *check);

/*
 * Reads something of @closure once more, into @faults; *stable: the row that all of it hangs on was
 * the same before and after.
 */
typedef enum outcome check_read(struct check *check, void *closure, struct proof_faults *faults,
	bool *stable);
/*
 * Reads until there are no faults, or they stand: then they are reported. *settled is false when
 * the rows changed all the time (check->unsettled is set).
 */
enum outcome check_again(struct check *check, check_read *read, void *closure, bool *settled);

/*
 * Compares a bet (its key is set) with its callbacks and their bodies, now. @ends: it was one of
 * round_reading.live.
 */
enum outcome check_bet(struct check *check, const struct bet *key, const char *user_id, bool ends);
/* The same for a settled round's betting-result. @round holds its bytes. */
enum outcome check_result(struct check *check, const struct round *round);

/* The name row of @player_id; @name keeps the last one that was asked for. */
enum outcome check_find_name(struct check *check, const char *player_id, struct player_name *name,
	bool *found);

/* The player row of a name. */
enum outcome check_find_player(struct check *check, const struct player_name *name,
	struct player *player, bool *found);

/*
 * Walks row by row, with a lookup for each, through what does not fit: reports each row. Stops when
 * CHECK_PROBLEMS_SHOWN problems are known. The first is about movements, the second, a part of it,
 * about how they follow each other, the third about bets, rounds and callbacks.
 */
enum outcome check_find_links(struct check *check);
enum outcome check_find_chains(struct check *check);
enum outcome check_find_wagers(struct check *check);
bool check_knows_enough(const struct check *check);

/* Such a walk through the movements up to the point. */
enum outcome check_search_entries(struct check *check,
	enum outcome (*look)(struct check *check, const struct transaction *entry));

/* The next row of such a walk, which tells of @what it searches. False: it is over. */
bool check_search(struct check *check, struct list *list, const char *what, void *row);

/*
 * Proves all rows that the session lists. To be closed by check_close() in any case. OUTCOME_DONE: what
 * was found is in @check. @progress may be NULL.
 */
enum outcome check_open(struct check *check, struct session *session,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure);
void check_close(struct check *check);

#endif

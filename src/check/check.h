/*
 * check - proves the rows of a running ledger. It walks every row; if sums do not match, it
 * searches for the rows that are wrong. It prints nothing.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "admin/list.h"
#include "proof/batch.h"
#include "proof/round.h"

#define CHECK_PROBLEMS_SHOWN 100
#define CHECK_PROBLEM_SIZE   PROOF_LINE_SIZE

/* A betting-result or betting-correction that operators sent more than three times. */
struct check_resent {
	uint64_t event;
	enum callback_kind kind;
	uint32_t attempts;
	uint32_t retries; /* retries recorded in the audit */
};

/* The batch of results whose items' keys are being read. */
struct check_batch {
	char client_id[CLIENT_ID_SIZE]; /* "": none yet */
	char id[EXTERNAL_ID_SIZE];
	uint32_t count;
	struct proof_batch_answer answers[BATCH_RESULTS_MAX];
};

struct check {
	struct session *session;
	struct proof proof;
	struct proof_point point; /* begin_ms: players created earlier are settled */
	bool open;                /* proof is initialised */
	bool unsettled;           /* rows changed faster than they could be read */
	bool moved;               /* a move of a dealer went on during the pass */
	uint32_t passes;          /* through all rows */
	/* Left out because they changed during the check; a later check compares them. */
	bool waiting_left_out;  /* the dealers' counts of parked and held callbacks */
	uint64_t days_left_out; /* days of dealers */
	/* Called with the kind of rows being walked and their number so far. NULL: not called. */
	void (*progress)(void *closure, const char *what, uint64_t rows);
	void *progress_closure;
	uint64_t days; /* of dealers that were compared */
	uint64_t sums; /* lifetimes and days of players that were compared */
	/*
	 * The last transaction up to the point, for printing. The point itself is a counter,
	 * which is higher after an import.
	 */
	uint64_t last_transaction_id;
	uint64_t event_given;            /* the event counter when it was last read */
	uint64_t audit;                  /* the audit counter before the sums were read */
	char (*clients)[CLIENT_ID_SIZE]; /* existing clients, sorted */
	size_t client_count;
	struct check_resent *resent; /* sorted by event */
	size_t resent_count;
	char (*shown)[PROOF_LINE_SIZE]; /* the first problems */
	unsigned int shown_count;
	struct check_batch batch;
};

/* Reports the current walk and its number of rows, at intervals. */
void check_progress(struct check *check, const char *what, uint64_t rows);

/* Reads a counter; 0 if it does not exist. */
enum outcome check_counter(struct check *check, const char *name, uint64_t *value);
/* Reads the event counter into check->event_given. */
enum outcome check_count_events(struct check *check);

/*
 * Returns false if the person's role may not list @record. Such a person checks the rest, and the command
 * reports what was left out (session.lacked_role).
 */
bool check_may_list(struct check *check, enum record record);
/* Walks the rows of retired keys, and the audit. */
enum outcome check_walk_retired_digests(struct check *check);
/* Walks the rows of callbacks that are parked or held. */
enum outcome check_walk_asides(struct check *check);
/* Looks for the row of @callback, if it is parked or held. */
enum outcome check_aside(struct check *check, const struct callback *callback);
/* Walks the rows by which bets are found (domain/bet_index.h). */
enum outcome check_walk_bet_index(struct check *check);
/* Looks for the rows by which @bet is found. */
enum outcome check_index_of_bet(struct check *check, const struct bet *bet);
/* Looks for such rows whose bet is not there. */
enum outcome check_search_bet_index(struct check *check);
/* Walks names and their players. */
enum outcome check_walk_names(struct check *check);
/* Walks request keys. */
enum outcome check_walk_requests(struct check *check);
/* Walks transactions. */
enum outcome check_walk_transactions(struct check *check);
/* Walks rounds and bets. */
enum outcome check_walk_rounds(struct check *check);
/* Walks the cancellations of bets. */
enum outcome check_walk_cancellations(struct check *check);
/* Walks the corrections of rounds, and adds the rows that they name to the proof. */
enum outcome check_walk_corrections(struct check *check);
/* Compares a round that counts corrections with them. */
enum outcome check_corrected_round(struct check *check, const struct round *round);
/* Compares a decrease with its betting-correction, and counts the part that the dealer could not
 * take. */
enum outcome check_decrease(struct check *check, const struct correction *row);
/* Adds the payout of a betting-result that has not ended to the debt of its dealer. */
enum outcome check_owed_payout(struct check *check, const struct callback *callback);
/* Searches for corrections whose key or transaction is wrong. */
enum outcome check_search_corrections(struct check *check);
/* Looks up the cancellation of a cancelled bet. */
enum outcome check_cancelled_bet(struct check *check, const struct bet *bet);
/* Looks up the bet of the key of a cancellation that moved nothing here. */
enum outcome check_cancel_key(struct check *check, const struct request *key);
/* Compares the key of an item of a batch with the batch's answer. */
enum outcome check_batch_item(struct check *check, const struct request *item);
/*
 * In a search: look up the correction or cancellation to which the transaction or the request key
 * points, which must name it.
 */
enum outcome check_owner_of_change(struct check *check, const struct transaction *row);
enum outcome check_key_of_change(struct check *check, const struct request *row);
/* Walks rounds and bets together with the sums that A4 reports (proof/statistics.h). */
enum outcome check_walk_statistics(struct check *check);
/*
 * Walk the sums of dealers' days before all rows that they count, and after them. The second one
 * compares them with those rows.
 */
enum outcome check_walk_days_before(struct check *check);
enum outcome check_walk_days_after(struct check *check);
/*
 * Walks callbacks, bodies, attempts, answers and due rows. Walks the audit afterwards if its rows are
 * needed.
 */
enum outcome check_walk_events(struct check *check);

/*
 * Rereads the rows of @closure and writes their faults to @faults. Sets *stable if the row on
 * which all others depend was the same before and after.
 */
typedef enum outcome check_read(struct check *check, void *closure, struct proof_faults *faults,
	bool *stable);
/*
 * Rereads until there is no fault, or until the fault persists in unchanged rows and is reported.
 * Sets *settled to false if the rows kept changing (check->unsettled is set then).
 */
enum outcome check_again(struct check *check, check_read *read, void *closure, bool *settled);

/*
 * Compares the current bet, whose key is set, with its callbacks and their bodies. @ends: it was
 * counted in round_reading.live.
 */
enum outcome check_bet(struct check *check, const struct bet *key, const char *user_id, bool ends);
/* As check_bet(), for the betting-result of a settled round. @round contains its bytes. */
enum outcome check_result(struct check *check, const struct round *round);

/* Fetches the name row of @player_id. @name caches the last one. */
enum outcome check_find_name(struct check *check, const char *player_id, struct player_name *name,
	bool *found);

/* Fetches the bet with that number. */
enum outcome check_find_bet(struct check *check, const char *player_id, const char *game_id,
	uint32_t number, struct bet *bet, bool *found);

/* Fetches the player row of a name. */
enum outcome check_find_player(struct check *check, const struct player_name *name,
	struct player *player, bool *found);

/*
 * Walk all rows with a lookup for each, and report each row that does not match. They stop after
 * CHECK_PROBLEMS_SHOWN problems. check_find_links() covers transactions. check_find_chains() is
 * part of that and covers their order. check_find_wagers() covers bets, rounds and callbacks.
 */
enum outcome check_find_links(struct check *check);
enum outcome check_find_chains(struct check *check);
enum outcome check_find_wagers(struct check *check);
bool check_knows_enough(const struct check *check);

/* Searches the transactions up to the point in this way. */
enum outcome check_search_entries(struct check *check,
	enum outcome (*look)(struct check *check, const struct transaction *entry));

/* Reads the next row of a search; @what describes the search. Returns false at its end. */
bool check_search(struct check *check, struct list *list, const char *what, void *row);

/* In place of the newest time: a ledger serves, and writes rows during the check. */
#define CHECK_SERVING INT64_MAX

/*
 * Proves all rows that the session lists. @newest_ms is the newest time of a row if no row changes during the
 * check, else CHECK_SERVING. Problems that a clock set back can explain are looked at again, unless each row is
 * older than the check. Call check_close() in any case. OUTCOME_DONE: the results are in @check. @progress may be
 * NULL.
 */
enum outcome check_open(struct check *check, struct session *session, int64_t newest_ms,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure);
void check_close(struct check *check);

#endif

/*
 * reconcile - compares a dealer's file of creditbridge-recon(5) with the ledger after a restore, and
 * proposes a remedy for each difference. No money moves. If no difference needs a remedy, the
 * ledger records that, and the dealer can be released (ledger/outbox/hold.h).
 *
 * The caller sets session, loads @theirs (recon_side_load()) and calls the functions in this order.
 */
#ifndef RECON_RECONCILE_H
#define RECON_RECONCILE_H

#include "recon/read.h"

enum remedy {
	REMEDY_NONE,       /* no money moves */
	REMEDY_ADD_PLAYER, /* `player add` */
	REMEDY_ADJUST,     /* `player adjust` */
	REMEDY_CANCEL,     /* `callback cancel` */
	REMEDY_RETRY,      /* `callback retry` */
	REMEDY_RELEASE,    /* `release` sends it */
	REMEDY_SWEEP,      /* `sweep`, then `reconcile` again */
	/* the game server or the dealer repeats its call while callbacks are held */
	REMEDY_REPEAT,
	REMEDY_ASK, /* the dealer corrects its own records */
	REMEDY_COUNT
};

/* A difference. The id of @ours or @theirs is NULL if that side has no such row. */
struct proposal {
	enum remedy remedy;
	struct compared ours;
	struct compared theirs;
	const char *why;
};

struct reconcile {
	struct session *session;
	struct dealer dealer;
	struct side ours;
	struct side theirs;
	struct our_text *texts; /* of the rows in @ours */
	/* their rows that are results and corrections of rounds, each sorted by game_id */
	const struct compared **results;
	size_t result_count;
	const struct compared **corrections;
	size_t correction_count;
	/* our callbacks of corrections, sorted by transaction_id */
	const struct compared **our_corrections;
	size_t our_correction_count;
	const struct compared **movements; /* their rows with a reference, sorted by it */
	size_t movement_count;
	/* our rows from this time on are examined; 0: only those that the file names */
	int64_t since_ms;
	int64_t until_ms; /* the newest of their rows; 0: the file has no times */
	bool covers; /* their newest row is not older than the restored data; the caller may set it */
	struct proposal *proposals;
	size_t count;
	size_t room;
	enum outcome code;
};

/*
 * Sets the dealer, and the time from which our rows are examined: the time of their oldest row, or
 * the time up to which restored data is complete. Fails if the file is of another dealer.
 */
enum outcome reconcile_begin(struct reconcile *reconcile, const char *casino_id);

/*
 * Loads our rows from reconcile->since_ms on, those that the file names, and the callbacks that
 * a release would send.
 */
enum outcome reconcile_load_ours(struct reconcile *reconcile);

/*
 * Compares every row of both sides. Fills @proposals in the order in which they must be carried
 * out.
 */
enum outcome reconcile_judge(struct reconcile *reconcile);

/*
 * Writes to @id the operation id of the adjustment that corresponds to transaction @theirs.
 * Returns false if the transaction's id is not a number.
 */
bool reconcile_operation(const struct compared *theirs, char id[OPERATION_ID_SIZE]);

/* Returns true if @proposal waits only for the release of the dealer as a whole. */
bool reconcile_waits_for_release(const struct proposal *proposal);

/* Returns how many proposals the operator or the dealer must still carry out. */
size_t reconcile_count_open(const struct reconcile *reconcile);

/* Makes the ledger record that no difference is open. A release requires this after a restore. */
enum outcome reconcile_record(struct reconcile *reconcile);

void reconcile_free(struct reconcile *reconcile);

#endif

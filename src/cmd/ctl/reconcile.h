/*
 * reconcile - lists the differences between a dealer's file of creditbridge-recon(5) and the
 * ledger after a restore, each with the command that resolves it. No money moves. If no
 * difference needs a remedy, the ledger records that, and the dealer can be released
 * (ledger/hold.h).
 */
#ifndef CMD_CTL_RECONCILE_H
#define CMD_CTL_RECONCILE_H

#include "cmd/ctl/output.h"
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
	REMEDY_ASK,        /* the dealer corrects its own records */
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
	struct ctl *ctl;
	struct dealer dealer;
	struct side ours;
	struct side theirs;
	struct our_text *texts;          /* of the rows in @ours */
	/* their rows that are results of rounds, sorted by game_id */
	const struct compared **results;
	size_t result_count;
	const struct compared **movements; /* their rows with a reference, sorted by it */
	size_t movement_count;
	/* our rows from this time on are examined; 0: only those that the file names */
	int64_t since_ms;
	int64_t until_ms;                /* the newest of their rows; 0: the file has no times */
	bool covers; /* they have a row later than the backup, as far as times are known */
	struct proposal *proposals;
	size_t count;
	size_t room;
	enum outcome code;
};

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

#endif

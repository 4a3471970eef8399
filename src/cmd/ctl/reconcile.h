/*
 * reconcile - what a dealer's file of creditbridge-recon(5) and the ledger do not agree on after a
 * restore, and the command that mends each difference. No credit moves. When nothing is to be mended
 * the ledger notes it, so that the dealer can be released (ledger/hold.h).
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
	REMEDY_REPEAT,     /* the game server or the dealer repeats its call while callbacks are held */
	REMEDY_ASK,        /* the dealer mends it in its books */
	REMEDY_COUNT
};

/* A difference; the id of @ours or @theirs is NULL: that side has no such row. */
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
	struct our_text *texts;          /* of the rows of @ours */
	const struct compared **results; /* of theirs that are results of rounds, by game_id */
	size_t result_count;
	const struct compared **movements; /* of theirs with a reference, by that */
	size_t movement_count;
	int64_t since_ms;                /* rows of ours since then are looked at; 0: only those named */
	int64_t until_ms;                /* the newest row of theirs; 0: the file has no times */
	bool covers;                     /* theirs has a row of after the backup, as far as times say */
	struct proposal *proposals;
	size_t count;
	size_t room;
	enum outcome code;
};

/* Judges every row of both sides, and fills @proposals in the order in which they are to be done. */
enum outcome reconcile_judge(struct reconcile *reconcile);

/* Fills @id with the operation id of the adjustment for movement @theirs; false: its id is no number. */
bool reconcile_operation(const struct compared *theirs, char id[OPERATION_ID_SIZE]);

#endif

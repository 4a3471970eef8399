/*
 * claim - decides which of several ledgers serves the data (contract, "Several hosts").
 *
 * Ledgers of several hosts may share the data of one store. One of them is active; the others stand by.
 * The active one commits at least once in STORE_BEAT_MS, and each commit raises the turn. A ledger that
 * stands by looks at the turn, and claims the data if the turn stood still for the whole takeover time
 * by its own clock. A claim raises the epoch, after which the ledger before can commit nothing more.
 */
#ifndef STORE_CLAIM_H
#define STORE_CLAIM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_MEMBER_SIZE  64
#define STORE_ADDRESS_SIZE 64
#define STORE_MEMBERS_MAX  16

/* An idle active ledger commits as often as this. */
#define STORE_BEAT_MS 300
/* Each ledger writes its row of the members as often as this. */
#define STORE_MEMBER_MS 5000

/* A ledger that may claim. */
struct store_claim {
	const char *member;  /* the name of this host: unique among the hosts of the data */
	const char *address; /* where the ledgers of other hosts reach this one; "": nowhere */
	int64_t run;         /* a random number of this supervisor: its engines share it */
	int stop_fd;         /* readable: stop waiting for a server; unsaved rows are lost */
	bool looked;         /* epoch and turn are set: a look showed them */
	int64_t epoch;
	int64_t turn;
};

/* The data as a ledger that stands by sees them. */
struct store_cell {
	int64_t epoch;
	int64_t turn;
	int64_t run;                      /* of the ledger that is active, or was the last */
	char holder[STORE_MEMBER_SIZE];   /* its host; "": it released the data */
	char address[STORE_ADDRESS_SIZE]; /* where other hosts reach it */
	char installation[33];
	int64_t schema; /* of the data: an older one is raised by the ledger that claims them */
	/* The newest batch that was answered, as far as this host knows; 0: it knows none. */
	int64_t answered_epoch;
	int64_t answered_turn;
	bool lacks; /* the server that takes writes has less than that */
};

/* A host whose ledger runs, or did. */
struct store_member {
	char name[STORE_MEMBER_SIZE];
	char address[STORE_ADDRESS_SIZE];
	char version[32];
	uint64_t seen_ms_ago; /* by the clock of the server */
	int64_t ahead_ms;     /* its clock when it was seen, against the clock of the server */
};

/* Decides when to claim. Zeroed: nothing was seen so far. */
struct claim_rule {
	int64_t run; /* of this ledger */
	uint32_t takeover_ms;
	int64_t since_ms; /* the turn stands still since */
	int64_t epoch;
	int64_t turn;
	bool seen;
};

/*
 * Takes the result of a look, which ended at @boot_ms. Returns true if the ledger may claim: the
 * holder released the data, it was an engine of the same supervisor, or the turn stood still long
 * enough.
 */
bool claim_may(struct claim_rule *rule, const struct store_cell *cell, int64_t boot_ms);

/* The server could not be asked: the time during which the turn stands still begins anew. */
void claim_forget(struct claim_rule *rule);

#endif

/* run - the state of a run of the sweeper, shared by the files of this folder. */
#ifndef SWEEP_RUN_H
#define SWEEP_RUN_H

#include "callback/granted.h"
#include "link/client.h"
#include "sweep/report.h"
#include "sweep/waking.h"

struct sweep_options;

/* A running attempt. */
struct flight {
	/* first member: its address is the flight's; free if it has no casino_id */
	struct granted granted;
	struct flight *next; /* in the list that it is in: sweep->free or sweep->ended */
};

struct sweep {
	const struct settings *settings;
	const struct sweep_options *options; /* NULL: lists only */
	struct report *report;
	struct link link;
	struct waking waking;
	struct sender *sender;
	struct flight *flights; /* sweep_concurrency of them */
	struct flight *free;
	struct flight *ended;    /* whose outcome is to be reported */
	struct due_entry *found; /* CALLBACK_FIND_MAX of them */
	int64_t looked_ms;       /* boot time of the last look */
	bool progress;           /* an attempt ended since then, so another request may find more */
	bool full;          /* the ledger's storage is full: this time only takeovers are claimed */
	bool stopping;      /* no further claims */
	bool cut_off;       /* and the ledger cannot be reached */
	enum status status; /* the first failure ... */
	char *why;          /* ... in words */
};

/*
 * Sends a command to the ledger for up to ledger_deadline_ms. Returns false if it failed or got a
 * refusal that applies to every dealer.
 */
bool ask_ledger(struct sweep *sweep, enum command command, const void *cmd, void *result);

/* Reports the outcomes of the attempts in sweep->ended, several together, and frees their slots. */
void report_ended(struct sweep *sweep);

/* A callback to be claimed, with the slot that was taken for it. */
struct claim {
	const struct due_entry *entry;
	struct flight *flight;
	struct callback_claim_cmd cmd;
	bool open; /* the ledger has not answered, or had no room */
};

/*
 * Takes a free slot for @entry. Returns false, and stops further claims, if the kernel gives no random
 * number.
 */
bool claim_prepare(struct sweep *sweep, const struct due_entry *entry, struct claim *claim);

/*
 * Claims @count callbacks together, at most LINK_SEVERAL_MAX, and begins to send them or takes them
 * over. Returns how many of them that were.
 */
unsigned int claim_several(struct sweep *sweep, struct claim *claims, unsigned int count);

#endif

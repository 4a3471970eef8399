/*
 * group_commit - decides whether the loop delays queued commands briefly to gather more for one
 * commit.
 *
 * A commit costs about the same for one transfer as for twenty. If many clients send one command
 * at a time (mod_fcgid's workers), immediate commits contain one or two commands and use up the
 * CPU. The loop therefore holds a few commands for ledger_gather_us if others are likely to
 * follow, as long as measurements show that this enlarges the batches.
 *
 * A single client never waits. Commands of a client that has sent several at a time do not wait
 * either, because that client gathers them itself.
 */
#ifndef LEDGER_DAEMON_GROUP_COMMIT_H
#define LEDGER_DAEMON_GROUP_COMMIT_H

#include "ledger/slot.h"

/* The loop runs this many commands without a delay. */
#define GROUP_COMMIT_ENOUGH 8
/*
 * After GROUP_COMMIT_TRIES delays the loop judges their benefit. If it is too small,
 * GROUP_COMMIT_REST batches run without a delay.
 */
#define GROUP_COMMIT_TRIES 32
#define GROUP_COMMIT_REST  1024

/*
 * After several commands at a time, a connection counts as gathering by itself for this many more.
 */
#define GROUP_COMMIT_SEVERAL 64

/* Fixed-point unit of mean batch sizes. */
#define GROUP_COMMIT_UNIT 256
/* Below this mean, further commands are unlikely. */
#define GROUP_COMMIT_COMPANY (GROUP_COMMIT_UNIT * 5 / 4)
/* Delayed batches must be larger than this. */
#define GROUP_COMMIT_WORTH (GROUP_COMMIT_UNIT * 5 / 2)

struct group_commit {
	uint32_t mean;  /* mean batch size; each new batch has a weight of 1/16 */
	uint32_t tries; /* delays since the last rest */
	uint32_t rest;  /* batches left that run without a delay */
};

/*
 * Returns true if the connection sends one command at a time. @several belongs to the connection
 * and starts at 0. @again: another of its commands is in this batch.
 */
bool group_commit_is_single(uint32_t *several, bool again);

/*
 * Returns true if the loop should delay these commands: they are few, one writes, others may
 * follow, and all are @singles, from clients that send one at a time.
 */
bool group_commit_wants(const struct group_commit *group, const struct slot *slots, uint32_t count,
	uint32_t singles);

/* Records the size of a batch about to run. @waited: it was delayed. */
void group_commit_learn(struct group_commit *group, uint32_t count, bool waited);

#endif

/*
 * group_commit - whether the loop waits a moment for further commands before it runs those that came.
 *
 * A commit costs about the same for one transfer as for twenty. Where many clients send one command
 * at a time (mod_fcgid's workers), running each as it comes makes commits of one or two, and the
 * processors have no time for anything else. So a few commands that others are likely to follow are
 * held for ledger_gather_us, as long as that is seen to bring more. A client that is alone never waits,
 * nor are commands held of one that has sent several at a time: it has gathered them itself.
 */
#ifndef LEDGER_DAEMON_GROUP_COMMIT_H
#define LEDGER_DAEMON_GROUP_COMMIT_H

#include "ledger/ledger.h"

/* So many commands are run at once. */
#define GATHER_ENOUGH 8
/* After so many waits it is judged whether they are worth it; if not, so many batches do not wait. */
#define GATHER_TRIES 32
#define GATHER_REST  1024

/* A connection that sent several commands at a time gathers by itself for so many more. */
#define GATHER_SEVERAL 64

/* Of mean sizes of batches. */
#define GATHER_UNIT    256
#define GATHER_COMPANY (GATHER_UNIT * 5 / 4) /* with less nobody else is likely to come */
#define GATHER_WORTH   (GATHER_UNIT * 5 / 2) /* batches that waited are to be larger than that */

struct gather {
	uint32_t mean;  /* of the last batches' sizes; an older one counts less, by 1/16 each */
	uint32_t tries; /* waits since the last rest */
	uint32_t rest;  /* batches to come that do not wait */
};

/*
 * Whether the next command of a connection is of one that sends one at a time. @several is the
 * connection's, 0 at first; @again: another of its commands is to be run with this one.
 */
bool gather_is_single(uint32_t *several, bool again);

/*
 * Whether to wait before these are run: they are few, one of them writes, others may follow, and all
 * are @singles, of clients that send one at a time.
 */
bool gather_wants(const struct gather *gather, const struct slot *slots, uint32_t count,
	uint32_t singles);

/* A batch of @count commands is about to be run; @waited: it was waited for more of them. */
void gather_learn(struct gather *gather, uint32_t count, bool waited);

#endif

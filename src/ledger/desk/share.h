/*
 * share - the part of the loop's time that commands of desk.sock get while other commands wait.
 *
 * The loop runs one desk command at a time and measures it. If other commands ran a short time ago, the next
 * one waits until the desk's part of the time that passed is not above its share. Time that the desk did not use
 * is saved up to SHARE_SAVED_US, so that the commands of a single page need not wait for one another. An idle loop
 * serves the desk at once.
 */
#ifndef LEDGER_DESK_SHARE_H
#define LEDGER_DESK_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* After this time without other commands the loop counts as idle. */
#define SHARE_IDLE_US 10000
/* The part of its share that the desk may save: the ledger's time for some large pages. */
#define SHARE_SAVED_US 30000

struct share {
	uint32_t percent; /* 1 to 100 */
	int64_t next_us; /* boot time from which a desk command may run beside others; the past: time is saved */
	int64_t others_us; /* boot time when other commands ran last; 0: never */
};

/* Records that other commands ran at @now_us. */
static inline void share_others(struct share *share, int64_t now_us)
{
	share->others_us = now_us;
}

/* Returns the time that a desk command has to wait from @now_us on; 0: it may run. */
static inline int64_t share_wait_us(const struct share *share, int64_t now_us)
{
	const int64_t idle_us = share->others_us ? share->others_us + SHARE_IDLE_US : 0;
	const int64_t until_us = share->next_us < idle_us ? share->next_us : idle_us;

	return now_us < until_us ? until_us - now_us : 0;
}

/* Records that a desk command ended at @now_us and took @spent_us. */
static inline void share_spend(struct share *share, int64_t now_us, int64_t spent_us)
{
	const int64_t begun_us = now_us - spent_us;
	const int64_t earliest_us = begun_us - SHARE_SAVED_US * 100 / share->percent;
	int64_t from_us = share->next_us > earliest_us ? share->next_us : earliest_us;

	/* If no other command waits, the desk begins before its share allows it. It owes at most
	 * one command. */
	if (from_us > begun_us)
		from_us = begun_us;
	share->next_us = from_us + spent_us * 100 / share->percent;
}

#endif

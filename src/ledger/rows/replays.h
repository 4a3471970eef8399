/*
 * replays - the replays that run, in memory, in the order of their ids.
 *
 * The ledger does their steps (ledger/replay.h). The book is filled from the rows at the start and follows
 * each saved batch.
 */
#ifndef LEDGER_ROWS_REPLAYS_H
#define LEDGER_ROWS_REPLAYS_H

#include "domain/replay.h"

#include <stdbool.h>

#define REPLAYS_RUNNING_MAX 16

struct running_replay {
	struct replay row; /* its events point to marked[] */
	uint8_t marked[REPLAY_MARKED_MAX * REPLAY_EVENT_BYTES];
	int64_t next_ms; /* boot time: no step before */
	uint32_t faults; /* steps in turn that failed */
};
struct replay_book {
	uint32_t count;
	struct running_replay list[REPLAYS_RUNNING_MAX];
};

/* Follows a row that was read or saved. Returns false if more run than the book has room for. */
bool replay_book_follow(struct replay_book *book, const struct replay *row);

#endif

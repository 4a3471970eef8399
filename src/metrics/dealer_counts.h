/*
 * dealer_counts - answered requests by dealer and HTTP status, in memory that all workers map
 * (metrics/counters.h).
 *
 * A slot belongs to the first dealer that takes it and is never freed. There are slots for
 * COUNTED_DEALERS; the requests of further dealers are counted together. Only dealers that proved
 * their key are counted, so a stranger takes no slot.
 */
#ifndef METRICS_DEALER_COUNTS_H
#define METRICS_DEALER_COUNTS_H

#include "domain/records.h"

#include <stdatomic.h>

#define COUNTED_DEALERS 512
/* The statuses of domain/refusal.def that an answer can have. */
#define COUNTED_CODES 14
extern const int counted_codes[COUNTED_CODES];

/* Returns the index of @code in counted_codes, or COUNTED_CODES. */
unsigned int counted_code_find(int code);

/* In shared memory; zeroed, no slot is taken. */
struct dealer_cells {
	/*
	 * A hash of the casino_id; 0: the slot is free. It is set first, in one step. A process
	 * that finds its own hash without the name writes the name again.
	 */
	_Atomic uint64_t hashes[COUNTED_DEALERS];
	_Atomic uint64_t named[COUNTED_DEALERS]; /* 1: the name is complete */
	char names[COUNTED_DEALERS][CASINO_ID_SIZE + 7];
	_Atomic uint64_t counts[COUNTED_DEALERS][COUNTED_CODES];
};

/* Counts one answer. Returns false if @casino_id has no slot and all are taken. */
bool dealer_cells_count(struct dealer_cells *cells, const char *casino_id, unsigned int place);

/* The counts of a dealer, by the index of counted_codes. */
struct dealer_counts {
	char casino_id[CASINO_ID_SIZE];
	uint64_t requests[COUNTED_CODES];
};

/*
 * Copies the counts of all dealers. Returns how many there are. Any worker can write to the
 * memory, so a name that is no casino_id is left out.
 */
uint32_t dealer_cells_read(const struct dealer_cells *cells,
	struct dealer_counts counts[COUNTED_DEALERS]);

#endif

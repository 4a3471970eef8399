/*
 * rejected_requests - the newest rejected requests and retired keys, for `creditbridgectl explain`
 * (link/refused_commands.h).
 *
 * It keeps requests answered with 400, 401 or user_not_found: at most REFUSED_MAX requests and
 * REFUSED_BYTES_MAX bytes. The oldest are dropped first. They exist only in the memory of the
 * engine and are never written to a file. If more than REFUSED_RATE are rejected in a second, the
 * rest is dropped, so that a flood of rejected requests costs the ledger no more.
 */
#ifndef LEDGER_COMMANDS_REFUSED_REJECTED_REQUESTS_H
#define LEDGER_COMMANDS_REFUSED_REJECTED_REQUESTS_H

#include "base/clock.h"
#include "link/refused_commands.h"

#define REFUSED_MAX         1000
#define REFUSED_BYTES_MAX   (16 * 1024 * 1024)
#define REFUSED_RATE        500
#define REFUSED_RETIRED_MAX 64
/* The most retired keys kept of one batch; further ones are not kept. */
#define REFUSED_NOTES_MAX 16

struct refused_slot {
	uint32_t offset; /* in the memory */
	uint32_t len;
};
struct refused_memory;

struct refused_ring {
	struct refused_memory *memory;
	uint32_t first; /* index of the oldest slot */
	uint32_t count;
	uint32_t head; /* offset after the newest */
	uint64_t dropped;
	int64_t started_ms;     /* wall clock */
	int64_t window_ms;      /* boot time at which the second began ... */
	uint32_t window_taken;  /* ... in which this many were kept */
	uint32_t retired_count; /* ever */
};

/* Keys that the batch under way retires. They are kept after it was saved. */
struct retired_notes {
	struct retired_key keys[REFUSED_NOTES_MAX];
	uint32_t count;
};

/* Returns false if memory is exhausted. */
bool refused_init(struct refused_ring *ring, const struct moment *now);
void refused_free(struct refused_ring *ring);

/*
 * Keeps @request, packed into @scratch. Returns false if it was dropped, also because it exceeds
 * the lengths to which workers cut it.
 */
bool refused_keep(struct refused_ring *ring, const struct refused_request *request, int64_t boot_ms,
	struct buffer *scratch);

/*
 * Fills @result with the newest request of @request_id, which points into the ring and is valid until
 * the next refused_keep().
 */
void refused_find(const struct refused_ring *ring, const char *request_id,
	struct refused_find_result *result);

/* Returns the retired key number @n, the newest being 0; NULL after the last one. */
const struct retired_key *refused_retired(const struct refused_ring *ring, uint32_t n);

/* Notes a key that a command retires. Has no effect if @notes is NULL. */
void retired_note(struct retired_notes *notes, enum keyring_of of, const char *owner,
	const struct dealer_key *key, int64_t now_ms);
/* Ends the batch: keeps the noted keys if it was @saved, and wipes the notes. */
void retired_book(struct refused_ring *ring, struct retired_notes *notes, bool saved);

#endif

/*
 * rejected_requests - the newest requests that were answered 400, 401 or user_not_found, and the keys that
 * were taken away, for `creditbridgectl explain` (link/refused_commands.h).
 *
 * At most REFUSED_MAX of them and REFUSED_BYTES_MAX in all; the oldest go first. They are in the
 * memory of the ledger's engine alone and end with it: nothing of them is written anywhere. More than
 * REFUSED_RATE in a second are dropped, so that a flood of refused requests costs the ledger no more
 * than that.
 */
#ifndef LEDGER_COMMANDS_REJECTED_REQUESTS_H
#define LEDGER_COMMANDS_REJECTED_REQUESTS_H

#include "base/clock.h"
#include "link/refused_commands.h"

#define REFUSED_MAX         1000
#define REFUSED_BYTES_MAX   (16 * 1024 * 1024)
#define REFUSED_RATE        500
#define REFUSED_RETIRED_MAX 64
/* Keys that one batch takes away; those of further ones are not kept. */
#define REFUSED_NOTES_MAX   16

struct refused_slot {
	uint32_t offset; /* in the memory */
	uint32_t len;
};
struct refused_memory;

struct refused_ring {
	struct refused_memory *memory;
	uint32_t first; /* slot of the oldest */
	uint32_t count;
	uint32_t head;  /* offset behind the newest */
	uint64_t dropped;
	int64_t started_ms;  /* wall clock */
	int64_t window_ms;   /* boot time at which the second began ... */
	uint32_t window_taken; /* ... in which so many were taken */
	uint32_t retired_count; /* ever */
};

/* Keys that commands of the batch under way take away: kept once it was saved. */
struct retired_notes {
	struct retired_key keys[REFUSED_NOTES_MAX];
	uint32_t count;
};

/* False: no memory. */
bool refused_init(struct refused_ring *ring, const struct moment *now);
void refused_free(struct refused_ring *ring);

/* Keeps @request, packed into @scratch. False: dropped, also for being longer than workers cut it. */
bool refused_keep(struct refused_ring *ring, const struct refused_request *request, int64_t boot_ms,
	struct buffer *scratch);

/*
 * Fills @result: the newest of @request_id, which points into the ring and is valid until the next
 * refused_keep(), and the retired keys of its caller, packed into @rows.
 */
void refused_find(const struct refused_ring *ring, const char *request_id,
	struct refused_find_result *result, struct buffer *rows);

/* Notes a key that a command takes away; @notes NULL: nothing is noted. */
void retired_note(struct retired_notes *notes, enum keyring_of of, const char *owner,
	const struct dealer_key *key, int64_t now_ms);
/* The batch ended: keeps what was noted if it was @saved, and wipes the notes. */
void retired_book(struct refused_ring *ring, struct retired_notes *notes, bool saved);

#endif

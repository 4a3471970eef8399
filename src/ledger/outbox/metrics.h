/*
 * metrics - counters of the ledger and of the callbacks (link/metrics_commands.h).
 *
 * The supervisor creates the memory and shares it with each engine, so that the counters survive
 * the death of an engine at any instant. Each step leaves the memory usable for the next engine.
 *
 * An attempt is counted when its end is on the disk. apply() only notes it, and the notes are
 * counted after the batch was saved. An attempt that was taken over counts as unknown, without a
 * duration.
 */
#ifndef LEDGER_OUTBOX_METRICS_H
#define LEDGER_OUTBOX_METRICS_H

#include "base/clock.h"
#include "base/histogram.h"
#include "domain/callback.h"
#include "link/metrics_commands.h"
#include "metrics/activity.h"

/* METRICS_RECENT_MS in parts: the oldest one goes as a whole. */
#define METRICS_PARTS 30
/* More slots than dealers: the hash table is never full. */
#define METRICS_SLOTS (2 * DEALERS_MAX)

struct metrics_slot {
	uint32_t used; /* set after the rest; an unused slot may hold any data */
	char casino_id[CASINO_ID_SIZE];
	uint64_t ended[CALLBACK_KIND_COUNT * CALLBACK_CLASS_COUNT];
	struct metrics_part {
		int64_t number; /* of the part since the boot, from 1 */
		uint32_t ended[CALLBACK_CLASS_COUNT];
	} parts[METRICS_PARTS]; /* at number % METRICS_PARTS */
	/* callbacks that an error of the dealer ended (struct dealer_metrics) */
	uint64_t unknown_to_dealer;
	uint64_t known_to_dealer;
};

struct metrics {
	uint64_t engine_starts;
	int64_t swept_ms; /* wall clock; 0: never */
	int64_t swept_boot_ms;
	struct histogram batches;
	struct histogram commits;
	struct histogram attempts[CALLBACK_KIND_COUNT];
	struct activity activity; /* of the workers of this host */
	uint32_t slots_used;
	struct metrics_slot slots[METRICS_SLOTS]; /* by hash of casino_id */
};

/* Returns zeroed memory that is shared with processes forked later, or NULL. */
struct metrics *metrics_new(void);

/* An attempt that ended in the batch under way. */
struct metrics_note {
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	enum callback_class class;
	bool timed; /* @ms is known */
	uint32_t ms;
	bool unknown_to_dealer;
	bool known_to_dealer;
};
/* A command ends at most one attempt. */
#define METRICS_NOTES_MAX 256
struct metrics_notes {
	struct metrics_note notes[METRICS_NOTES_MAX];
	uint32_t count;
};
/* @callback: as it is after the attempt. */
void metrics_note(struct metrics_notes *notes, const struct callback *callback,
	const struct callback_outcome *outcome, bool timed);

/* The functions below do nothing if @metrics is NULL: a ledger may run without metrics. */

/* Counts the notes after the batch was saved, at boot time @now_ms. */
void metrics_book(struct metrics *metrics, const struct metrics_notes *notes, int64_t now_ms);
/* Counts the end of a balance inquiry at once, because no batch saves it. */
void metrics_count(struct metrics *metrics, const char *casino_id, enum callback_kind kind,
	const struct callback_outcome *outcome, int64_t now_ms);
/* Counts the start of a batch of @commands. */
void metrics_batch(struct metrics *metrics, uint32_t commands);
/* Counts a commit that took @us. */
void metrics_commit(struct metrics *metrics, uint64_t us);
/* Records that the sweeper asked for due callbacks. */
void metrics_sweep(struct metrics *metrics, const struct moment *now);

/*
 * Fills the counts of @dealer with the outcomes of the attempts to @casino_id, recent ones as of boot time
 * @now_ms. Returns false if there were none.
 */
bool metrics_ended(const struct metrics *metrics, const char *casino_id, int64_t now_ms,
	struct dealer_metrics *dealer);

#endif

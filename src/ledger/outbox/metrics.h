/*
 * metrics - what the ledger counts of itself and of the callbacks (link/metrics_commands.h).
 *
 * The memory is made by the parent and shared with each engine, so that it survives an engine's
 * death at any instant: every step leaves it fit for the next engine.
 *
 * An attempt is counted when its end is on disk: apply() only notes it, and the notes are booked
 * once the batch was saved. One that somebody took over counts as unknown, with no duration.
 */
#ifndef LEDGER_OUTBOX_METRICS_H
#define LEDGER_OUTBOX_METRICS_H

#include "base/clock.h"
#include "base/histogram.h"
#include "domain/callback.h"
#include "link/metrics_commands.h"

/* More than there are dealers: a hash table that is never full. */
#define METRICS_SLOTS (2 * DEALERS_MAX)

struct metrics_slot {
	uint32_t used; /* set when the rest is; a slot that is not used may hold anything */
	char casino_id[CASINO_ID_SIZE];
	uint64_t ended[CALLBACK_KIND_COUNT * CALLBACK_CLASS_COUNT];
};

struct metrics {
	uint64_t engine_starts;
	int64_t swept_ms;      /* wall clock; 0: never */
	int64_t swept_boot_ms;
	struct histogram batches;
	struct histogram commits;
	struct histogram attempts[CALLBACK_KIND_COUNT];
	uint32_t slots_used;
	struct metrics_slot slots[METRICS_SLOTS]; /* by hash of casino_id */
};

/* Memory that processes forked from now on share, all zero. NULL: none. */
struct metrics *metrics_new(void);

/* An attempt that ended in the batch under way. */
struct metrics_note {
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	enum callback_class class;
	bool timed; /* @ms was told */
	uint32_t ms;
};
/* A command ends one at most. */
#define METRICS_NOTES_MAX 256
struct metrics_notes {
	struct metrics_note notes[METRICS_NOTES_MAX];
	uint32_t count;
};
void metrics_note(struct metrics_notes *notes, const char *casino_id, enum callback_kind kind,
	const struct callback_outcome *outcome, bool timed);

/*
 * These do nothing without @metrics (NULL): a ledger may be run without them.
 */

/* The batch was saved: counts what was noted. */
void metrics_book(struct metrics *metrics, const struct metrics_notes *notes);
/* Counts at once what no batch saves: the end of a balance inquiry. */
void metrics_count(struct metrics *metrics, const char *casino_id, enum callback_kind kind,
	const struct callback_outcome *outcome);
/* A batch of @commands begins. */
void metrics_batch(struct metrics *metrics, uint32_t commands);
/* A commit took @us. */
void metrics_commit(struct metrics *metrics, uint64_t us);
/* The sweeper asks what is due. */
void metrics_sweep(struct metrics *metrics, const struct moment *now);

/* How the attempts to @casino_id ended: of @dealer, the counts are set. False: there were none. */
bool metrics_ended(const struct metrics *metrics, const char *casino_id,
	struct dealer_metrics *dealer);

#endif

/*
 * schedule - the times and senders of callbacks: the rows of RECORD_DUE in memory, by dealer and
 * time.
 *
 * The rows are durable. The schedule is built from them at the start and updated after each save.
 * It also knows the senders: the lease of a callback lasts until its due time. A callback is taken
 * over only when its lease has expired and its owner is gone. The owner is gone when its
 * connection to the ledger is closed or 60 s have passed since.
 *
 * Times are boot time in milliseconds.
 */
#ifndef LEDGER_OUTBOX_SCHEDULE_H
#define LEDGER_OUTBOX_SCHEDULE_H

#include "domain/records.h"

#define SCHEDULE_OWNER_PATIENCE_MS 60000

struct schedule_entry {
	uint64_t event;
	int64_t due_ms;
	uint64_t owner; /* link of the sender; 0: gone, or it is not being sent */
	bool sending;
	enum callback_kind kind;
};

struct schedule_queue;
struct schedule {
	struct schedule_queue **queues; /* by dealer; queue_count of queue_room */
	uint32_t queue_count;
	uint32_t queue_room;
	struct schedule_queue **names;  /* the same by hash of casino_id */
	uint32_t turn;                  /* the dealer whose turn it is */
	struct schedule_place **places; /* by event */
	uint32_t place_buckets;
	uint64_t count;
	int64_t patience_ms; /* SCHEDULE_OWNER_PATIENCE_MS; a setting */
};

bool schedule_init(struct schedule *schedule);
void schedule_free(struct schedule *schedule);

/* Adds an event or changes its time. Returns false if memory is exhausted. */
bool schedule_set(struct schedule *schedule, const char *casino_id,
	const struct schedule_entry *entry);
/* Removes an event. Has no effect if the event is not scheduled. */
void schedule_remove(struct schedule *schedule, uint64_t event);
/* Return the entry of the event, or NULL, and its dealer. */
const struct schedule_entry *schedule_find(const struct schedule *schedule, uint64_t event);
const char *schedule_casino_of(const struct schedule *schedule, uint64_t event);

/*
 * Writes up to @most claimable events into @events and returns their number. The dealers take
 * turns. For each dealer takeovers precede due events, and the oldest come first.
 *
 * @may returns whether a dealer accepts another call, with @already more than are under way. It is
 * asked before each due event. It is not asked before a takeover, which sends no call: a bet whose
 * worker died does not wait for an unreachable dealer.
 */
typedef bool schedule_may(void *context, const char *casino_id, uint32_t already);
uint32_t schedule_claimable(struct schedule *schedule, int64_t now_ms, schedule_may *may,
	void *context, uint64_t *events, uint32_t most);

/* Returns true if the event is due and has no sender or its sender is gone. */
bool schedule_is_free(const struct schedule *schedule, const struct schedule_entry *entry,
	int64_t now_ms);

/*
 * Returns true if schedule_claimable() would find a due event, takeovers left out. Asks @may once for
 * each dealer with a due event.
 */
bool schedule_has_due(const struct schedule *schedule, int64_t now_ms, schedule_may *may,
	void *context);

/* The link @owner was closed. */
void schedule_owner_gone(struct schedule *schedule, uint64_t owner);

/* The state of a dealer's queue. */
struct schedule_figures {
	uint64_t waiting; /* due now or later */
	uint64_t sending;
	int64_t first_due_ms; /* earliest due time of waiting events; unset if none */
};
void schedule_figures(const struct schedule *schedule, const char *casino_id,
	struct schedule_figures *figures);

/*
 * Writes up to @most events of the dealer ("": of all) into @events, in no order: those being sent, or those
 * that wait. Returns how many there are in all.
 */
uint64_t schedule_events(const struct schedule *schedule, const char *casino_id, bool sending,
	uint64_t *events, uint32_t most);

/* Returns a link whose lease expired patience_ms ago, to be closed; 0: none. */
uint64_t schedule_overdue_owner(const struct schedule *schedule, int64_t now_ms);

#endif

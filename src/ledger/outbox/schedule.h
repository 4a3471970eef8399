/*
 * schedule - what is to be sent when: the rows of RECORD_DUE, in memory, by dealer and time.
 *
 * The rows say it durably; this is made from them at the start and follows each save. It also knows
 * who is sending: the lease of a callback lasts until its due time, and it is taken over only when
 * its owner is gone, too: its link to the ledger is closed, or 60 s have passed since.
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
	uint64_t owner; /* link of the one who sends; 0: gone, or it is not being sent */
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

/* Adds or moves an event. False: no memory. */
bool schedule_set(struct schedule *schedule, const char *casino_id,
	const struct schedule_entry *entry);
/* Takes an event out. One that is not there is nothing. */
void schedule_remove(struct schedule *schedule, uint64_t event);
/* The event's entry, or NULL; and its dealer. */
const struct schedule_entry *schedule_find(const struct schedule *schedule, uint64_t event);
const char *schedule_casino_of(const struct schedule *schedule, uint64_t event);

/*
 * Up to @most events that may be claimed now, into @events: round the dealers, for each first what
 * is to be taken over, then what is due, the oldest first. @may tells whether a dealer takes another
 * call, with @already more than are under way; it is asked before each event that is due, and not
 * for a takeover, which calls nobody: a bet whose worker died does not wait for a dead dealer.
 * Returns how many.
 */
typedef bool schedule_may(void *context, const char *casino_id, uint32_t already);
uint32_t schedule_claimable(struct schedule *schedule, int64_t now_ms, schedule_may *may,
	void *context, uint64_t *events, uint32_t most);

/* True: nobody is sending it, or whoever did is gone, and it is due. */
bool schedule_is_free(const struct schedule *schedule, const struct schedule_entry *entry,
	int64_t now_ms);

/* The link @owner was closed. */
void schedule_owner_gone(struct schedule *schedule, uint64_t owner);

/* How a dealer's queue is. */
struct schedule_figures {
	uint64_t waiting;     /* due now or later */
	uint64_t sending;
	int64_t first_due_ms; /* of those that wait; unset while there are none */
};
void schedule_figures(const struct schedule *schedule, const char *casino_id,
	struct schedule_figures *figures);

/* A link whose lease ended patience_ms ago, to be closed; 0: none. */
uint64_t schedule_overdue_owner(const struct schedule *schedule, int64_t now_ms);

#endif

/*
 * refusal_queue - sends the calls that a worker process answered 4xx to the ledger, which keeps
 * them on disk (link/refused_calls.h).
 *
 * The queue is in memory, has a bound, and is shared by all threads or fibers of a process. A call
 * is added after its answer was sent. The queue is sent as one command for all calls of
 * REFUSAL_GATHER_MS. A process that is killed loses the calls in its queue. A sender cannot fill
 * the queue: see link/refused_shares.h. Calls without a valid signature may fill only half of it.
 *
 * With fibers, one of them sends. With threads, the first refused call starts a thread that
 * sends. Neither delays a request while the ledger is silent.
 */
#ifndef WEB_REFUSAL_QUEUE_H
#define WEB_REFUSAL_QUEUE_H

#include "base/fiber.h"
#include "link/client.h"
#include "link/refused_shares.h"

#include <pthread.h>

#define REFUSAL_QUEUE_BYTES (4 * REFUSED_KEEP_MAX)
#define REFUSAL_GATHER_MS   50
/* The command is repeated for this time, for example while the ledger starts again. */
#define REFUSAL_DEADLINE_MS 5000
/* The process stops: how long the last commands of all queues may take. */
#define REFUSAL_END_MS 500

struct refusal_queue {
	pthread_mutex_t mutex;
	struct buffer calls; /* packed, the oldest first */
	struct refused_shares shares;
	uint64_t lost;    /* calls that were dropped after they were queued, not counted yet */
	struct link link; /* of the thread that sends */
	struct link fiber_link; /* of the fiber that sends ... */
	struct fiber *fiber;    /* ... NULL: the requests run in threads */
	bool gathering;         /* the fiber was woken, and sends soon */
	pthread_cond_t filled;
	bool started; /* the thread that sends */
	bool sending; /* it has calls that are not in the queue any more */
};

bool refusal_queue_init(struct refusal_queue *queue);

/*
 * Call it before the process begins to serve, also when it serves again in another way. Until
 * refusal_queue_add_fiber(), the requests run in threads.
 */
void refusal_queue_begin(struct refusal_queue *queue);
/* The requests run in @fibers: adds one that sends over @mux. Returns false if that fails. */
bool refusal_queue_add_fiber(struct refusal_queue *queue, struct fibers *fibers, struct mux *mux,
	const char *ledger_path);

/*
 * Takes @call from the share of its sender. Returns false if that is used up: the call is dropped,
 * before anything is done for it. Only the members about its sender need to be filled in.
 */
bool refusal_queue_has_share(struct refusal_queue *queue, const struct refused_call *call,
	int64_t boot_ms);

/*
 * Adds @call. Returns false if it was dropped, because the queue is full. *@lost gets and resets
 * queue->lost.
 */
bool refusal_queue_add(struct refusal_queue *queue, const struct refused_call *call,
	uint64_t *lost);

/*
 * After a call was added: wakes the fiber or thread that sends to the ledger at @ledger_path. If no
 * thread can be started, the queue fills up, and further calls are dropped.
 */
void refusal_queue_pass(struct refusal_queue *queue, const char *ledger_path);

/* Sends what is left when the process stops, until @deadline_ms (boot time), which all queues share. */
void refusal_queue_end(struct refusal_queue *queue, const char *ledger_path, int64_t deadline_ms);

#endif

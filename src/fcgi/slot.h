/*
 * slot - serves one request at a time: accepts a connection, reads a request, answers it, and
 * repeats.
 *
 * A slot has a thread of its own, or is a fiber of a fiber pool (fcgi/fiber_pool.h). In a fiber
 * pool, a handler may wait only by fiber_wait(). One further slot can be the load shedder: while
 * all others are busy it queues connections and rejects excess (fcgi/admission.h).
 */
#ifndef FCGI_SLOT_H
#define FCGI_SLOT_H

#include "fcgi/connection.h"
#include "fcgi/pool.h"

struct fiber_pool;

struct slot {
	struct pool *pool;
	struct fiber_pool *fiber_pool; /* of its fiber; NULL: it has a thread */
	struct fiber *fiber;
	struct slot *next_idle; /* of the fiber pool's idle slots */
	bool sheds_load;
	bool interruptible;    /* in a fiber pool: the stop must wake it from its wait */
	unsigned int failures; /* of accept(), in a row */
	int epoll_fd;          /* of a thread: the listening socket and the stop; else -1 */
	void *worker;          /* of pool->program */
	struct fcgi_conn conn;
	uint8_t *body; /* http_format.body_max + 1 bytes */
};

/*
 * Initialises @slot, which is zeroed memory. @fiber_pool is NULL for a slot with a thread.
 * Returns false if that fails, see errno; call slot_free() in any case.
 */
bool slot_init(struct slot *slot, struct pool *pool, struct fiber_pool *fiber_pool,
	bool sheds_load);
void slot_free(struct slot *slot);

/* Runs a slot, or the load shedder, until the pool stops. */
void slot_run(void *slot);
void load_shedder_run(void *shedder);

#endif

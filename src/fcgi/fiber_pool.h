/*
 * fiber_pool - slots that are fibers of one thread (base/fiber.h).
 */
#ifndef FCGI_FIBER_POOL_H
#define FCGI_FIBER_POOL_H

#include "base/fiber.h"
#include "fcgi/slot.h"

struct fiber_pool {
	struct pool *pool; /* NULL: not initialised */
	struct fibers *fibers;
	struct slot *slots; /* count, with the load shedder */
	unsigned int count;
	struct slot *load_shedder; /* NULL: this process rejects no excess */
	struct slot *acceptor;     /* waits for the next connection */
	struct slot *idle;         /* the other idle slots, a list */
};

/*
 * Makes @slots slots, and a load shedder if @pool has one. Returns false if that fails, see
 * errno.
 */
bool fiber_pool_init(struct fiber_pool *fiber_pool, struct pool *pool, unsigned int slots);
void fiber_pool_free(struct fiber_pool *fiber_pool);

/* Serves requests until the pool stops. */
void fiber_pool_run(struct fiber_pool *fiber_pool);

/* Waits until a connection may have arrived. */
void fiber_pool_wait_connection(struct slot *slot);
/* Waits until @fd (-1: none) is readable. Returns false at @until_ms, boot time. */
bool fiber_pool_wait(struct slot *slot, int fd, int64_t until_ms);
/* Blocks the load shedder until all slots are busy. Returns false if the pool stops. */
bool fiber_pool_wait_saturated(struct slot *shedder);

/*
 * Called after a slot has accepted a connection. Wakes an idle slot, which waits for the next
 * one.
 */
void fiber_pool_wake_next(struct fiber_pool *fiber_pool);
/* Called after a slot became busy. Wakes the load shedder if no slot is idle. */
void fiber_pool_saturated(struct fiber_pool *fiber_pool);

#endif

/*
 * fiber_pool - slots that are fibers of one thread (base/fiber.h).
 */
#ifndef FCGI_FIBER_POOL_H
#define FCGI_FIBER_POOL_H

#include "base/fiber.h"
#include "fcgi/slot.h"

struct fiber_pool {
	struct pool *pool; /* NULL: there is none */
	struct fibers *fibers;
	struct slot *slots; /* count, with the usher */
	unsigned int count;
	struct slot *load_shedder;    /* NULL: nobody is refused */
	struct slot *acceptor; /* that waits for the next connection ... */
	struct slot *idle;     /* ... and those that wait for him to have got one */
};

/* Makes @slots slots, and an usher if @pool has one. False: errno tells. */
bool fiber_pool_init(struct fiber_pool *fiber_pool, struct pool *pool, unsigned int slots);
void fiber_pool_free(struct fiber_pool *fiber_pool);

/* Serves until the pool stops. */
void fiber_pool_run(struct fiber_pool *fiber_pool);

/* The slot's waits: until a connection may be there, ... */
void fiber_pool_wait_connection(struct slot *slot);
/* ... until @fd (-1: none) can be read or @until_ms has come (then false), ... */
bool fiber_pool_wait(struct slot *slot, int fd, int64_t until_ms);
/* ... and the usher's, until all are busy. False: the pool stops. */
bool fiber_pool_wait_saturated(struct slot *shedder);

/* A slot got a connection: another one listens. */
void fiber_pool_wake_next(struct fiber_pool *fiber_pool);
/* A slot became busy. */
void fiber_pool_saturated(struct fiber_pool *fiber_pool);

#endif

/*
 * fiber_pool - lanes that are fibers of one thread (base/fiber.h).
 */
#ifndef FCGI_FIBER_POOL_H
#define FCGI_FIBER_POOL_H

#include "base/fiber.h"
#include "fcgi/slot.h"

struct crew {
	struct pool *pool; /* NULL: there is none */
	struct fibers *fibers;
	struct lane *lanes; /* count, with the usher */
	unsigned int count;
	struct lane *usher;    /* NULL: nobody is refused */
	struct lane *listener; /* that waits for the next connection ... */
	struct lane *idle;     /* ... and those that wait for him to have got one */
};

/* Makes @lanes lanes, and an usher if @pool has one. False: errno tells. */
bool crew_init(struct crew *crew, struct pool *pool, unsigned int lanes);
void crew_free(struct crew *crew);

/* Serves until the pool stops. */
void crew_run(struct crew *crew);

/* The lane's waits: until a connection may be there, ... */
void crew_wait_new(struct lane *lane);
/* ... until @fd (-1: none) can be read or @until_ms has come (then false), ... */
bool crew_wait(struct lane *lane, int fd, int64_t until_ms);
/* ... and the usher's, until all are busy. False: the pool stops. */
bool crew_wait_press(struct lane *usher);

/* A lane got a connection: another one listens. */
void crew_wake_next(struct crew *crew);
/* A lane became busy. */
void crew_press(struct crew *crew);

#endif

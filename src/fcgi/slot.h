/*
 * slot - a place for one request at a time: it takes a connection, reads what is asked, answers, and
 * takes the next one. It has a thread of its own, or is a fiber of a crew (fcgi/fiber_pool.h) where no
 * handler waits but by fiber_wait(). A further one, the usher, serves nobody: while all others are
 * busy it takes in who waits (fcgi/admission.h).
 */
#ifndef FCGI_SLOT_H
#define FCGI_SLOT_H

#include "fcgi/connection.h"
#include "fcgi/pool.h"

struct crew;

struct lane {
	struct pool *pool;
	struct crew *crew; /* whose fiber it is; NULL: it has a thread */
	struct fiber *fiber;
	struct lane *next_idle; /* of the crew */
	bool usher;
	bool attentive; /* of a crew: waits for something to do, and is to hear of the stop */
	unsigned int failures; /* of accept(), in a row */
	int epoll_fd;          /* of a thread: the listening socket and the stop; else -1 */
	void *worker;          /* of pool->program */
	struct fcgi_conn conn;
	uint8_t body[HTTP_BODY_STORE];
};

/*
 * @lane is zeroed memory. @crew: NULL for a thread's. False: errno tells; lane_free() is due all the
 * same.
 */
bool lane_init(struct lane *lane, struct pool *pool, struct crew *crew, bool usher);
void lane_free(struct lane *lane);

/* What the thread or fiber does until the pool stops, of a lane and of the usher. */
void lane_run(void *lane);
void usher_run(void *usher);

#endif

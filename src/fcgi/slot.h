/*
 * slot - a place for one request at a time: it takes a connection, reads what is asked, answers, and
 * takes the next one. It has a thread of its own, or is a fiber of a fiber_pool (fcgi/fiber_pool.h) where no
 * handler waits but by fiber_wait(). A further one, the usher, serves nobody: while all others are
 * busy it takes in who waits (fcgi/admission.h).
 */
#ifndef FCGI_SLOT_H
#define FCGI_SLOT_H

#include "fcgi/connection.h"
#include "fcgi/pool.h"

struct fiber_pool;

struct slot {
	struct pool *pool;
	struct fiber_pool *fiber_pool; /* whose fiber it is; NULL: it has a thread */
	struct fiber *fiber;
	struct slot *next_idle; /* of the fiber_pool */
	bool sheds_load;
	bool interruptible; /* of a fiber_pool: waits for something to do, and is to hear of the stop */
	unsigned int failures; /* of accept(), in a row */
	int epoll_fd;          /* of a thread: the listening socket and the stop; else -1 */
	void *worker;          /* of pool->program */
	struct fcgi_conn conn;
	uint8_t *body; /* http_format.body_max + 1 bytes */
};

/*
 * @slot is zeroed memory. @fiber_pool: NULL for a thread's. False: errno tells; slot_free() is due all the
 * same.
 */
bool slot_init(struct slot *slot, struct pool *pool, struct fiber_pool *fiber_pool, bool sheds_load);
void slot_free(struct slot *slot);

/* What the thread or fiber does until the pool stops, of a slot and of the usher. */
void slot_run(void *slot);
void load_shedder_run(void *shedder);

#endif

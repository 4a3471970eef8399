/*
 * pool - the state that the threads and fibers of a worker process share.
 */
#ifndef FCGI_POOL_H
#define FCGI_POOL_H

#include "fcgi/admission.h"
#include "fcgi/listeners.h"
#include "fcgi/server.h"

#include <stdatomic.h>

/* Why the pool ends. */
enum end {
	END_NONE,
	END_SIGNAL,
	END_ANEW,
	END_FAILED,
	END_AGAIN, /* only the pool ends, and the process makes another; see again_ms */
};

/* All threads of the process. */
struct pool {
	const struct fcgi_program *program;
	struct listeners listeners;
	int stop_fd;           /* eventfd: readable for good once the pool stops */
	bool is_unix;          /* the own listening socket is a Unix socket */
	bool many_slots;       /* more than one: a connection is often queued already */
	bool has_load_shedder; /* excess connections are rejected */
	bool exclusive;        /* no other process accepts from the own Unix socket */
	atomic_int end;        /* enum end: why the pool stops */
	_Atomic int64_t grace_end_ms;
	struct admission admission;
};

static inline bool pool_is_stopping(struct pool *pool)
{
	return atomic_load(&pool->end) != END_NONE;
}

/* Stops all threads. Only the first reason counts. */
void pool_stop(struct pool *pool, enum end why);

#endif

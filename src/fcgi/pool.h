/*
 * pool - what the threads and fibers of a worker process have in common.
 */
#ifndef FCGI_POOL_H
#define FCGI_POOL_H

#include "fcgi/admission.h"
#include "fcgi/listeners.h"
#include "fcgi/server.h"

#include <stdatomic.h>

/* Why the process ends. */
enum end {
	END_NONE,
	END_SIGNAL,
	END_ANEW,
	END_FAILED,
	END_AGAIN, /* it does not: it serves anew; see fcgi_program.again_ms */
};

/* The process. */
struct pool {
	const struct fcgi_program *program;
	struct listeners listeners;
	int stop_fd; /* eventfd: readable for good once the process is to stop */
	bool is_unix; /* the socket */
	bool many_slots; /* several slots: some connection waits as often as not */
	bool has_load_shedder; /* who waits too long is refused */
	bool exclusive; /* a Unix socket from which this process alone accepts */
	atomic_int end; /* enum end: why */
	_Atomic int64_t grace_end_ms;
	struct admission admission;
};

static inline bool pool_is_stopping(struct pool *pool)
{
	return atomic_load(&pool->end) != END_NONE;
}

/* Tells every thread to stop. The first reason counts. */
void pool_stop(struct pool *pool, enum end why);

#endif

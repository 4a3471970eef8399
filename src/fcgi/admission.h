/*
 * admission - who waits while every thread of a process is busy, and who of them is told to come back.
 *
 * While a thread is idle, connections wait nowhere. Once none is, the usher, a thread that serves
 * nobody, takes them off the listening socket: only so is known how long each has waited. A thread
 * that gets free takes the one that came first. As many may wait as there are threads, for as long
 * as it takes; of those behind them, whoever has waited for WAITING_PATIENCE_MS is excess, to be
 * refused at once instead of being kept until the caller has given up. So nobody is refused where calls
 * are quick, however many there are, and where they are slow nobody waits longer than for one of them.
 */
#ifndef FCGI_ADMISSION_H
#define FCGI_ADMISSION_H

#include "fcgi/listeners.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Connections that are held here; more stay in the socket's backlog. */
#define WAITING_MAX         256
#define WAITING_PATIENCE_MS 40
/* The usher looks so often while every thread is busy. */
#define WAITING_TICK_MS     20

struct waiting_caller {
	int fd;
	int64_t since_ms;
};

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t pressed; /* no thread is idle any more, or it is closed */
	unsigned int threads;   /* that serve */
	unsigned int idle;      /* of them */
	unsigned int first, count;
	bool closed;
	struct waiting_caller callers[WAITING_MAX]; /* a ring: count from first on */
};

/* @threads: that will serve; none is idle yet. */
void waiting_init(struct waiting *waiting, unsigned int threads);
/* Closes the connections that are left. No thread may use it any more. */
void waiting_free(struct waiting *waiting);

/*
 * The calling thread is free: returns the connection that came first. -1: there is none, and the
 * thread counts as idle until it calls waiting_busy().
 */
int waiting_take(struct waiting *waiting);
void waiting_busy(struct waiting *waiting);
/* True: somebody waits here. */
bool waiting_any(struct waiting *waiting);
/* True: a thread is idle. */
bool waiting_has_idle(struct waiting *waiting);

/* The usher's sleep. Returns false once waiting_close() was called. */
bool waiting_press(struct waiting *waiting);
void waiting_close(struct waiting *waiting);
/* Takes in who waits at @doors, which do not block, if no thread is idle. */
void waiting_gather(struct waiting *waiting, struct doors *doors, int64_t now_ms);
/* Returns a connection to be refused, -1: none. */
int waiting_excess(struct waiting *waiting, int64_t now_ms);

#endif

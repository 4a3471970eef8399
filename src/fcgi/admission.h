/*
 * admission - who waits while every thread of a process is busy, and who of them is told to come back.
 *
 * While a thread is idle, connections wait nowhere. Once none is, the usher, a thread that serves
 * nobody, takes them off the listening socket: only so is known how long each has waited. A thread
 * that gets free takes the one that came first. As many may wait as there are threads, for as long
 * as it takes; of those behind them, whoever has waited for ADMISSION_PATIENCE_MS is excess, to be
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
#define ADMISSION_MAX         256
#define ADMISSION_PATIENCE_MS 40
/* The usher looks so often while every thread is busy. */
#define ADMISSION_TICK_MS     20

struct queued_connection {
	int fd;
	int64_t since_ms;
};

struct admission {
	pthread_mutex_t lock;
	pthread_cond_t saturated; /* no thread is idle any more, or it is closed */
	unsigned int slots;    /* that serve */
	unsigned int idle;      /* of them */
	unsigned int first, count;
	bool closed;
	struct queued_connection connections[ADMISSION_MAX]; /* a ring: count from first on */
};

/* @threads: that will serve; none is idle yet. */
void admission_init(struct admission *admission, unsigned int slots);
/* Closes the connections that are left. No thread may use it any more. */
void admission_free(struct admission *admission);

/*
 * The calling thread is free: returns the connection that came first. -1: there is none, and the
 * thread counts as idle until it calls admission_slot_busy().
 */
int admission_take(struct admission *admission);
void admission_slot_busy(struct admission *admission);
/* True: somebody waits here. */
bool admission_has_queued(struct admission *admission);
/* True: a thread is idle. */
bool admission_has_idle(struct admission *admission);

/* The usher's sleep. Returns false once admission_close() was called. */
bool admission_wait_saturated(struct admission *admission);
void admission_close(struct admission *admission);
/* Takes in who waits at @listeners, which do not block, if no thread is idle. */
void admission_accept(struct admission *admission, struct listeners *listeners, int64_t now_ms);
/* Returns a connection to be refused, -1: none. */
int admission_take_excess(struct admission *admission, int64_t now_ms);

#endif

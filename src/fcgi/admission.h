/*
 * admission - the queue of connections while all slots of a process are busy.
 *
 * While a slot is idle, no connection is queued here. When none is, the load shedder moves
 * connections from the listening sockets into this queue. Only the queue knows how long each
 * connection has waited. A slot that becomes idle takes the oldest connection.
 *
 * As many connections as there are slots may wait without a time limit. A connection after those is
 * excess when it has waited for ADMISSION_PATIENCE_MS. The load shedder rejects it at once, since
 * its caller would give up before it is served. So no call is rejected while calls are quick, and
 * no call waits longer than for one slow call.
 */
#ifndef FCGI_ADMISSION_H
#define FCGI_ADMISSION_H

#include "fcgi/listeners.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Connections in the queue. Further ones stay in the backlog of their socket. */
#define ADMISSION_MAX         256
#define ADMISSION_PATIENCE_MS 40
/* The load shedder looks at the queue this often while all slots are busy. */
#define ADMISSION_TICK_MS 20

struct queued_connection {
	int fd;
	int64_t since_ms;
};

struct admission {
	pthread_mutex_t lock;
	pthread_cond_t saturated;  /* no slot is idle, or the queue is closed */
	unsigned int slots;        /* that serve requests */
	unsigned int idle;         /* of the slots */
	unsigned int first, count; /* of connections */
	bool closed;
	struct queued_connection connections[ADMISSION_MAX]; /* a ring */
};

/* @slots: how many serve requests. None of them is idle at first. */
void admission_init(struct admission *admission, unsigned int slots);
/* Closes the connections that are left. No thread may use the queue any more. */
void admission_free(struct admission *admission);

/*
 * Called by an idle slot. Returns the oldest connection. Returns -1 if there is none; the slot
 * then counts as idle until it calls admission_slot_busy().
 */
int admission_take(struct admission *admission);
void admission_slot_busy(struct admission *admission);
/* Returns true if a connection is queued. */
bool admission_has_queued(struct admission *admission);
/* Returns true if a slot is idle. */
bool admission_has_idle(struct admission *admission);

/* Blocks the load shedder until all slots are busy. Returns false after admission_close(). */
bool admission_wait_saturated(struct admission *admission);
void admission_close(struct admission *admission);
/*
 * Moves connections from @listeners into the queue, if no slot is idle. The sockets must not
 * block.
 */
void admission_accept(struct admission *admission, struct listeners *listeners, int64_t now_ms);
/* Takes a connection that is excess out of the queue. Returns -1 if there is none. */
int admission_take_excess(struct admission *admission, int64_t now_ms);

#endif

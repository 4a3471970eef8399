/*
 * waking - learns from the ledger, without asking each time, that a callback can be claimed.
 *
 * It holds a connection of its own on which CALLBACK_WAIT waits. The answer makes the descriptor
 * readable. Without it the sweeper still asks each second.
 */
#ifndef SWEEP_WAKING_H
#define SWEEP_WAKING_H

#include "link/client.h"

#include <signal.h>

struct waking {
	struct link link;
	int signals;       /* signalfd of the stop signals; -1: none */
	bool armed;        /* CALLBACK_WAIT waits */
	bool woken;        /* it was answered, and the sweeper has not asked since */
	int64_t ignore_ms; /* boot time until which it is not armed */
};

/* @stop: blocked signals that end waking_sleep(), or NULL. Returns false if @path is too long. */
bool waking_open(struct waking *waking, const char *path, const sigset_t *stop);
void waking_close(struct waking *waking);

/* Begins to wait, unless it does already or ignores the ledger. Call it before CALLBACK_FIND. */
void waking_arm(struct waking *waking, int64_t now_ms);
/* Does not wait for an answer before @until_ms, because the due callbacks cannot be claimed. */
void waking_ignore(struct waking *waking, int64_t until_ms);

/* Sets woken if the answer has come. */
void waking_look(struct waking *waking);
/* Returns the descriptor that the answer makes readable; -1: it does not wait. */
int waking_fd(const struct waking *waking);
/* Sleeps for @ms, or until the answer or a stop signal comes. */
void waking_sleep(struct waking *waking, int64_t ms);

#endif

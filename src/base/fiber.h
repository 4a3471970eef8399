/*
 * fiber - calls that wait in turns, many of them in one thread.
 *
 * A fiber runs until it waits; then the others run, in the order in which they became ready, and when
 * all wait the thread does. Where threads would each be woken by a system call of somebody else's and
 * switched to by the kernel, the fibers that are ready at a time run one after the other.
 */
#ifndef BASE_FIBER_H
#define BASE_FIBER_H

#include <stdbool.h>
#include <stdint.h>

#define FIBER_FOREVER INT64_MAX

struct fiber;
struct fibers;

/* At most @max fibers for the calling thread. NULL: errno tells. */
struct fibers *fibers_new(unsigned int max);
/* Not before fibers_run() has returned. Those that wait for ever are dropped where they wait. */
void fibers_free(struct fibers *fibers);

/*
 * Adds a fiber that runs @main once fibers_run() is called. A @background is not waited for. NULL: no
 * memory, or too many.
 */
struct fiber *fibers_add(struct fibers *fibers, void (*main)(void *context), void *context,
	bool background);

/* Runs the fibers until all have ended that are no background fibers. False: the kernel failed, see errno. */
bool fibers_run(struct fibers *fibers);

/* The fiber that runs, or NULL outside of any. */
struct fiber *fiber_current(void);

/*
 * Waits until @fd (-1: none) has one of the poll() @events, somebody calls fiber_wake(), or
 * @until_ms (boot time) has come: then false. True may come early: look and wait again. Outside of
 * fibers the whole thread waits.
 */
bool fiber_wait(int fd, short events, int64_t until_ms);

/* Makes a fiber ready that waits; of no effect on others. */
void fiber_wake(struct fiber *fiber);

/*
 * The same, and it runs behind all that are ready, that these make ready, and whose descriptors have
 * something by then: for what gathers the work of many. Nobody keeps it from its own but who never
 * waits nor breathes. @patient: before it, and all that run behind with it, other processes have their
 * turn, too, which may bring more.
 */
void fiber_wake_last(struct fiber *fiber, bool yield_cpu);

/* False: the running fiber waited for @fd last, and nothing has come of it since. */
bool fiber_was_notified(int fd);

/*
 * Lets those run that are ready, or whose descriptor or time has come, unless this fiber has waited
 * since the last call.
 */
void fiber_yield(void);

/* To be called when the running fiber has waited for @fd and will not again: before it is closed. */
void fiber_forget(int fd);

#endif

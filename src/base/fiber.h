/*
 * fiber - cooperative threads: many calls that wait in turn within one thread.
 *
 * A fiber runs until it waits. Then the next runnable fiber runs, in the order in which they
 * became runnable. The thread sleeps when all fibers wait. Threads would cost a system call and a
 * switch in the kernel for each wakeup. Fibers that are runnable at the same time run one after
 * the other.
 */
#ifndef BASE_FIBER_H
#define BASE_FIBER_H

#include <stdbool.h>
#include <stdint.h>

#define FIBER_FOREVER INT64_MAX

struct fiber;
struct fibers;

/* Makes room for @max fibers of the calling thread. Returns NULL if that fails, see errno. */
struct fibers *fibers_new(unsigned int max);
/* Call it after fibers_run() has returned. Fibers that still wait are dropped. */
void fibers_free(struct fibers *fibers);

/*
 * Adds a fiber that runs @main once fibers_run() is called. fibers_run() does not wait for a
 * @background fiber. Returns NULL if memory is exhausted or there are too many (errno is ENOSPC).
 */
struct fiber *fibers_add(struct fibers *fibers, void (*main)(void *context), void *context,
	bool background);

/*
 * Runs the fibers until all but the background fibers have ended. Returns false if the kernel
 * fails, see errno.
 */
bool fibers_run(struct fibers *fibers);

/* Returns the running fiber, or NULL outside of fibers. */
struct fiber *fiber_current(void);

/*
 * Waits until @fd (-1: none) has one of the poll() @events, or until fiber_wake(). Returns false
 * if @until_ms, boot time, has passed. May return true early: the caller checks and waits again.
 * Outside of fibers the thread waits.
 */
bool fiber_wait(int fd, short events, int64_t until_ms);

/* Makes a waiting fiber runnable. Has no effect on others, or on NULL. */
void fiber_wake(struct fiber *fiber);

/*
 * Like fiber_wake(), but the fiber runs after all runnable fibers, those they make runnable, and
 * those whose descriptor becomes ready meanwhile. Use it to batch the work of several fibers.
 * Only a fiber that never waits or yields can starve it. @yield_cpu: let other processes run
 * first, which may bring more work.
 */
void fiber_wake_last(struct fiber *fiber, bool yield_cpu);

/* Returns false if the running fiber waited for @fd last, and no event has arrived since. */
bool fiber_was_notified(int fd);

/*
 * Lets other runnable fibers run, and those whose descriptor is ready or whose time has passed. Has
 * no effect if this fiber has waited since its last call.
 */
void fiber_yield(void);

/* Call it before closing @fd, if the running fiber has waited for @fd. */
void fiber_forget(int fd);

#endif

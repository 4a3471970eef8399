#include "base/fiber.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES (1024 * 1024)
#else
#define STACK_BYTES (256 * 1024)
#endif

/* The distance between stacks, so that valgrind keeps them apart. Below each stack is no memory. */
#define STACK_RESERVED (4 * 1024 * 1024)
#define EVENTS_MAX     64

struct fiber {
	struct fibers *fibers;
	ucontext_t context; /* where it continues */
	uint8_t *stack;     /* STACK_RESERVED bytes, of which the last STACK_BYTES are memory */
	void *fake;         /* AddressSanitizer's */
	void (*main)(void *);
	void *argument;
	struct fiber *next; /* in a queue */
	int64_t until_ms;
	int fd;      /* registered with the epoll; -1: none */
	short armed; /* events the epoll will report; 0: none */
	bool background;
	bool waiting;
	bool late;   /* it timed out */
	bool waited; /* since its last fiber_yield() */
	bool ended;
};

struct queue {
	struct fiber *first, *last;
};

struct fibers {
	ucontext_t home; /* where fibers_run() continues */
	void *home_fake;
	const void *home_stack;
	size_t home_size;
	int epoll_fd;
	unsigned int max;
	unsigned int count;
	unsigned int live; /* not background, not ended */
	struct queue ready;
	struct queue last;     /* runnable, after all of ready */
	bool yield_cpu;        /* yield the CPU before the fibers of last run */
	struct queue yielding; /* runnable, after the next look at the epoll */
	struct fiber *list[];
};

static _Thread_local struct fiber *current;

struct fiber *fiber_current(void)
{
	return current;
}

struct fibers *fibers_new(unsigned int max)
{
	struct fibers *fibers = calloc(1, sizeof(*fibers) + max * sizeof(fibers->list[0]));

	if (!fibers)
		return NULL;
	fibers->max = max;
	fibers->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (fibers->epoll_fd >= 0)
		return fibers;
	free(fibers);
	return NULL;
}

static void fiber_free(struct fiber *fiber)
{
	if (fiber->stack != MAP_FAILED)
		munmap(fiber->stack, STACK_RESERVED);
	free(fiber);
}

void fibers_free(struct fibers *fibers)
{
	if (!fibers)
		return;
	for (unsigned int i = 0; i < fibers->count; i++)
		fiber_free(fibers->list[i]);
	close(fibers->epoll_fd);
	free(fibers);
}

static void queue_push(struct queue *queue, struct fiber *fiber)
{
	fiber->waiting = false;
	fiber->next = NULL;
	if (queue->last)
		queue->last->next = fiber;
	else
		queue->first = fiber;
	queue->last = fiber;
}

static struct fiber *queue_pop(struct queue *queue)
{
	struct fiber *fiber = queue->first;

	if (fiber)
		queue->first = fiber->next;
	if (!queue->first)
		queue->last = NULL;
	return fiber;
}

/* Switches from the running fiber to the loop. */
static void switch_to_loop(struct fiber *fiber)
{
	struct fibers *fibers = fiber->fibers;

	current = NULL;
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(fiber->ended ? NULL : &fiber->fake, fibers->home_stack,
		fibers->home_size);
#endif
	swapcontext(&fiber->context, &fibers->home);
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(fiber->fake, &fibers->home_stack, &fibers->home_size);
#endif
}

/* Switches from the loop to a fiber, until it waits. */
static void switch_to_fiber(struct fiber *fiber)
{
	struct fibers *fibers = fiber->fibers;

	current = fiber;
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(&fibers->home_fake,
		fiber->stack + STACK_RESERVED - STACK_BYTES, STACK_BYTES);
#endif
	swapcontext(&fibers->home, &fiber->context);
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(fibers->home_fake, NULL, NULL);
#endif
}

/*
 * The first function on a fiber's stack. It finds the fiber by `current`, since makecontext()
 * passes only ints.
 */
static void fiber_main(void)
{
	struct fiber *fiber = current;

#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(NULL, &fiber->fibers->home_stack,
		&fiber->fibers->home_size);
#endif
	fiber->main(fiber->argument);
	fiber->ended = true;
	fiber->fibers->live -= !fiber->background;
	switch_to_loop(fiber);
}

/* Prepares the fiber's stack. A function of its own because of getcontext(). */
static bool fiber_prepare(struct fiber *fiber)
{
	ucontext_t *context = &fiber->context;

	if (getcontext(context) < 0)
		return false;
	context->uc_stack.ss_sp = fiber->stack + STACK_RESERVED - STACK_BYTES;
	context->uc_stack.ss_size = STACK_BYTES;
	if (mprotect(context->uc_stack.ss_sp, STACK_BYTES, PROT_READ | PROT_WRITE) < 0)
		return false;
	makecontext(context, fiber_main, 0);
	return true;
}

struct fiber *fibers_add(struct fibers *fibers, void (*main)(void *context), void *context,
	bool background)
{
	struct fiber *fiber;

	if (fibers->count == fibers->max) {
		errno = ENOSPC;
		return NULL;
	}
	fiber = calloc(1, sizeof(*fiber));
	if (!fiber)
		return NULL;
	fiber->stack = mmap(NULL, STACK_RESERVED, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (fiber->stack == MAP_FAILED || !fiber_prepare(fiber)) {
		fiber_free(fiber);
		return NULL;
	}
	fiber->fibers = fibers;
	fiber->main = main;
	fiber->argument = context;
	fiber->fd = -1;
	fiber->background = background;
	fibers->live += !background;
	fibers->list[fibers->count++] = fiber;
	queue_push(&fibers->ready, fiber);
	return fiber;
}

/* Registers @fd, to be reported once. */
static bool fiber_arm(struct fiber *fiber, int fd, short events)
{
	/* The event bits of poll() and epoll are the same. */
	struct epoll_event event = {.events = (uint32_t)events | EPOLLONESHOT, .data.ptr = fiber};
	int epoll_fd = fiber->fibers->epoll_fd;
	bool known = fiber->fd == fd;

	if (known && fiber->armed == events)
		return true;
	if (epoll_ctl(epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0 &&
		(errno != (known ? ENOENT : EEXIST) ||
			epoll_ctl(epoll_fd, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) < 0))
		return false;
	fiber->fd = fd;
	fiber->armed = events;
	return true;
}

bool fiber_was_notified(int fd)
{
	return current && !(current->fd == fd && current->armed);
}

void fiber_forget(int fd)
{
	if (current && current->fd == fd)
		current->fd = -1;
}

/* fiber_wait() outside of fibers. */
static bool thread_wait(int fd, short events, int64_t until_ms)
{
	struct pollfd pfd = {.fd = fd, .events = events};
	int64_t left_ms = until_ms - clock_boot_ms();

	if (left_ms <= 0)
		return false;
	return poll(&pfd, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms) > 0;
}

bool fiber_wait(int fd, short events, int64_t until_ms)
{
	struct fiber *fiber = current;

	if (!fiber)
		return thread_wait(fd, events, until_ms);
	/* A descriptor that epoll does not support is reported at once, as by poll(). */
	if (fd >= 0 && !fiber_arm(fiber, fd, events))
		until_ms = 0;
	fiber->until_ms = until_ms;
	fiber->waiting = true;
	fiber->waited = true;
	fiber->late = false;
	switch_to_loop(fiber);
	return !fiber->late;
}

void fiber_wake(struct fiber *fiber)
{
	if (fiber && fiber->waiting)
		queue_push(&fiber->fibers->ready, fiber);
}

void fiber_wake_last(struct fiber *fiber, bool yield_cpu)
{
	if (fiber && yield_cpu)
		fiber->fibers->yield_cpu = true;
	if (fiber && fiber->waiting)
		queue_push(&fiber->fibers->last, fiber);
}

void fiber_yield(void)
{
	struct fiber *fiber = current;

	if (fiber && !fiber->waited) {
		queue_push(&fiber->fibers->yielding, fiber);
		switch_to_loop(fiber);
	}
	if (fiber)
		fiber->waited = false;
}

/* How long the loop may sleep: a timeout for epoll_wait(). */
static int sleep_ms(const struct fibers *fibers)
{
	int64_t until_ms = FIBER_FOREVER, left_ms;

	for (unsigned int i = 0; i < fibers->count; i++) {
		if (fibers->list[i]->waiting && fibers->list[i]->until_ms < until_ms)
			until_ms = fibers->list[i]->until_ms;
	}
	if (until_ms == FIBER_FOREVER)
		return -1;
	left_ms = until_ms - clock_boot_ms();
	if (left_ms <= 0)
		return 0;
	return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

/* Makes the fibers runnable whose time has passed. */
static void wake_expired(struct fibers *fibers)
{
	int64_t now_ms = clock_boot_ms();

	for (unsigned int i = 0; i < fibers->count; i++) {
		struct fiber *fiber = fibers->list[i];

		if (!fiber->waiting || fiber->until_ms > now_ms)
			continue;
		fiber->late = true;
		queue_push(&fibers->ready, fiber);
	}
}

/*
 * Makes the fibers runnable whose descriptor is ready; waits @ms for one. Returns false if the
 * kernel fails.
 */
static bool poll_descriptors(struct fibers *fibers, int ms)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(fibers->epoll_fd, events, EVENTS_MAX, ms);

	if (count < 0 && errno != EINTR)
		return false;
	for (int i = 0; i < count; i++) {
		struct fiber *fiber = events[i].data.ptr;

		fiber->armed = 0;
		fiber_wake(fiber);
	}
	return true;
}

static void run_queue(struct queue *queue)
{
	struct fiber *fiber;

	while ((fiber = queue_pop(queue)) != NULL)
		switch_to_fiber(fiber);
}

/*
 * Runs the fibers that became runnable meanwhile, before those of the queue last. Yields the CPU
 * first if one of these asks for it. Returns false if the kernel fails.
 */
static bool run_arrivals(struct fibers *fibers)
{
	if (fibers->yield_cpu)
		sched_yield();
	if (!poll_descriptors(fibers, 0))
		return false;
	run_queue(&fibers->ready);
	return true;
}

bool fibers_run(struct fibers *fibers)
{
	struct fiber *fiber;

	for (;;) {
		run_queue(&fibers->ready);
		if (fibers->last.first && !run_arrivals(fibers))
			return false;
		/* A fiber may have asked for it and run already. */
		fibers->yield_cpu = false;
		run_queue(&fibers->last);
		if (!fibers->live)
			return true;
		/*
		 * The fibers of last may have made others runnable. Times and descriptors come
		 * first.
		 */
		if (!poll_descriptors(fibers,
			    fibers->ready.first || fibers->yielding.first ? 0 : sleep_ms(fibers)))
			return false;
		wake_expired(fibers);
		/*
		 * Yielding fibers run after those, so that a fiber that never waits starves no
		 * other.
		 */
		while ((fiber = queue_pop(&fibers->yielding)) != NULL)
			queue_push(&fibers->ready, fiber);
	}
}

#include "fcgi/fiber_pool.h"

#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

bool fiber_pool_wait(struct slot *slot, int fd, int64_t until_ms)
{
	bool in_time;

	slot->interruptible = true;
	in_time = fiber_wait(fd, POLLIN, until_ms);
	slot->interruptible = false;
	return in_time;
}

/*
 * One idle slot waits for connections. After accepting one it wakes the next idle slot, which
 * checks for another connection and then waits in its place.
 */
void fiber_pool_wait_connection(struct slot *slot)
{
	struct fiber_pool *fiber_pool = slot->fiber_pool;

	if (!fiber_pool->acceptor) {
		fiber_pool->acceptor = slot;
		fiber_pool_wait(slot, slot->pool->listeners.fd, FIBER_FOREVER);
		fiber_pool->acceptor = NULL;
		return;
	}
	slot->next_idle = fiber_pool->idle;
	fiber_pool->idle = slot;
	fiber_pool_wait(slot, -1, FIBER_FOREVER);
}

void fiber_pool_wake_next(struct fiber_pool *fiber_pool)
{
	struct slot *slot = fiber_pool->idle;

	if (!slot || fiber_pool->acceptor)
		return;
	fiber_pool->idle = slot->next_idle;
	fiber_wake(slot->fiber);
}

bool fiber_pool_wait_saturated(struct slot *shedder)
{
	const struct admission *admission = &shedder->pool->admission;

	while (!pool_is_stopping(shedder->pool) && admission->idle && !admission->count)
		fiber_pool_wait(shedder, -1, FIBER_FOREVER);
	return !pool_is_stopping(shedder->pool);
}

void fiber_pool_saturated(struct fiber_pool *fiber_pool)
{
	/* A load shedder that checks every ADMISSION_TICK_MS needs no wakeup. */
	if (fiber_pool->load_shedder && fiber_pool->load_shedder->interruptible &&
		!fiber_pool->pool->admission.idle)
		fiber_wake(fiber_pool->load_shedder->fiber);
}

/* A fiber that wakes the slots at the stop. */
static void stop_watcher_run(void *context)
{
	struct fiber_pool *fiber_pool = context;

	while (!pool_is_stopping(fiber_pool->pool))
		fiber_wait(fiber_pool->pool->stop_fd, POLLIN, FIBER_FOREVER);
	for (unsigned int i = 0; i < fiber_pool->count; i++) {
		if (fiber_pool->slots[i].interruptible)
			fiber_wake(fiber_pool->slots[i].fiber);
	}
}

/* Adds a slot. Returns false if that fails, see errno. */
static bool fiber_pool_add_slot(struct fiber_pool *fiber_pool, bool sheds_load)
{
	struct slot *slot = &fiber_pool->slots[fiber_pool->count++];

	if (!slot_init(slot, fiber_pool->pool, fiber_pool, sheds_load))
		return false;
	if (sheds_load)
		fiber_pool->load_shedder = slot;
	slot->fiber = fibers_add(fiber_pool->fibers, sheds_load ? load_shedder_run : slot_run, slot,
		sheds_load);
	return slot->fiber;
}

bool fiber_pool_init(struct fiber_pool *fiber_pool, struct pool *pool, unsigned int slots)
{
	const struct fcgi_program *program = pool->program;
	unsigned int all = slots + pool->has_load_shedder;

	*fiber_pool = (struct fiber_pool){.pool = pool};
	fiber_pool->slots = calloc(all, sizeof(*fiber_pool->slots));
	fiber_pool->fibers = fibers_new(all + program->background_fibers + FCGI_BACKGROUND_FIBERS);
	if (!fiber_pool->slots || !fiber_pool->fibers ||
		!program->fibers(program->context, fiber_pool->fibers) ||
		!fibers_add(fiber_pool->fibers, stop_watcher_run, fiber_pool, true) ||
		(program->shared_listener &&
			!shared_listener_begin(program->shared_listener, fiber_pool->fibers,
				&pool->listeners, pool->stop_fd)))
		return false;
	while (fiber_pool->count < all) {
		if (!fiber_pool_add_slot(fiber_pool, fiber_pool->count == slots))
			return false;
	}
	return true;
}

void fiber_pool_free(struct fiber_pool *fiber_pool)
{
	for (unsigned int i = 0; i < fiber_pool->count; i++)
		slot_free(&fiber_pool->slots[i]);
	fibers_free(fiber_pool->fibers);
	free(fiber_pool->slots);
	*fiber_pool = (struct fiber_pool){.pool = NULL};
}

void fiber_pool_run(struct fiber_pool *fiber_pool)
{
	if (fibers_run(fiber_pool->fibers))
		return;
	log_line(LOG_LEVEL_ERROR, "epoll", "error=\"%s\"", strerror(errno));
	pool_stop(fiber_pool->pool, END_FAILED);
}

#include "fcgi/fiber_pool.h"

#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

bool crew_wait(struct lane *lane, int fd, int64_t until_ms)
{
	bool in_time;

	lane->attentive = true;
	in_time = fiber_wait(fd, POLLIN, until_ms);
	lane->attentive = false;
	return in_time;
}

/*
 * One of those that are idle waits for connections; who got one wakes the next, who looks whether
 * there is another and else waits in his place.
 */
void crew_wait_new(struct lane *lane)
{
	struct crew *crew = lane->crew;

	if (!crew->listener) {
		crew->listener = lane;
		crew_wait(lane, lane->pool->doors.fd, FIBER_FOREVER);
		crew->listener = NULL;
		return;
	}
	lane->next_idle = crew->idle;
	crew->idle = lane;
	crew_wait(lane, -1, FIBER_FOREVER);
}

void crew_wake_next(struct crew *crew)
{
	struct lane *lane = crew->idle;

	if (!lane || crew->listener)
		return;
	crew->idle = lane->next_idle;
	fiber_wake(lane->fiber);
}

bool crew_wait_press(struct lane *usher)
{
	const struct waiting *waiting = &usher->pool->waiting;

	while (!pool_is_stopping(usher->pool) && waiting->idle && !waiting->count)
		crew_wait(usher, -1, FIBER_FOREVER);
	return !pool_is_stopping(usher->pool);
}

void crew_press(struct crew *crew)
{
	/* One that looks every WAITING_TICK_MS already goes on doing so. */
	if (crew->usher && crew->usher->attentive && !crew->pool->waiting.idle)
		fiber_wake(crew->usher->fiber);
}

/* A fiber that tells the others of the stop. */
static void watch(void *context)
{
	struct crew *crew = context;

	while (!pool_is_stopping(crew->pool))
		fiber_wait(crew->pool->stop_fd, POLLIN, FIBER_FOREVER);
	for (unsigned int i = 0; i < crew->count; i++) {
		if (crew->lanes[i].attentive)
			fiber_wake(crew->lanes[i].fiber);
	}
}

/* Makes the next lane. False: errno tells. */
static bool lane_add(struct crew *crew, bool usher)
{
	struct lane *lane = &crew->lanes[crew->count++];

	if (!lane_init(lane, crew->pool, crew, usher))
		return false;
	if (usher)
		crew->usher = lane;
	lane->fiber = fibers_add(crew->fibers, usher ? usher_run : lane_run, lane, usher);
	return lane->fiber;
}

bool crew_init(struct crew *crew, struct pool *pool, unsigned int lanes)
{
	const struct fcgi_program *program = pool->program;
	unsigned int all = lanes + pool->ushered;

	*crew = (struct crew){.pool = pool};
	crew->lanes = calloc(all, sizeof(*crew->lanes));
	crew->fibers = fibers_new(all + FCGI_SERVANTS_MAX);
	if (!crew->lanes || !crew->fibers || !program->fibers(program->context, crew->fibers) ||
		!fibers_add(crew->fibers, watch, crew, true) ||
		(program->leader && !leader_begin(program->leader, crew->fibers, &pool->doors,
				pool->stop_fd)))
		return false;
	while (crew->count < all) {
		if (!lane_add(crew, crew->count == lanes))
			return false;
	}
	return true;
}

void crew_free(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->count; i++)
		lane_free(&crew->lanes[i]);
	fibers_free(crew->fibers);
	free(crew->lanes);
	*crew = (struct crew){.pool = NULL};
}

void crew_run(struct crew *crew)
{
	if (fibers_run(crew->fibers))
		return;
	log_line(LOG_LEVEL_ERROR, "epoll", "error=\"%s\"", strerror(errno));
	pool_stop(crew->pool, END_FAILED);
}

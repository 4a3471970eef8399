#include "fcgi/admission.h"

#include <stddef.h>
#include <unistd.h>

void waiting_init(struct waiting *waiting, unsigned int threads)
{
	pthread_mutex_init(&waiting->lock, NULL);
	pthread_cond_init(&waiting->pressed, NULL);
	waiting->threads = threads;
	waiting->idle = 0;
	waiting->first = 0;
	waiting->count = 0;
	waiting->closed = false;
}

/* The caller at @place of those that wait; 0: who came first. */
static struct waiting_caller *caller_at(struct waiting *waiting, unsigned int place)
{
	return &waiting->callers[(waiting->first + place) % WAITING_MAX];
}

/* Takes the first of those that wait out. */
static int first_out(struct waiting *waiting)
{
	int fd = caller_at(waiting, 0)->fd;

	waiting->first = (waiting->first + 1) % WAITING_MAX;
	waiting->count--;
	return fd;
}

void waiting_free(struct waiting *waiting)
{
	while (waiting->count)
		close(first_out(waiting));
	pthread_cond_destroy(&waiting->pressed);
	pthread_mutex_destroy(&waiting->lock);
}

int waiting_take(struct waiting *waiting)
{
	int fd = -1;

	pthread_mutex_lock(&waiting->lock);
	if (waiting->count)
		fd = first_out(waiting);
	else
		waiting->idle++;
	pthread_mutex_unlock(&waiting->lock);
	return fd;
}

void waiting_busy(struct waiting *waiting)
{
	pthread_mutex_lock(&waiting->lock);
	if (--waiting->idle == 0)
		pthread_cond_signal(&waiting->pressed);
	pthread_mutex_unlock(&waiting->lock);
}

bool waiting_any(struct waiting *waiting)
{
	bool any;

	pthread_mutex_lock(&waiting->lock);
	any = waiting->count > 0;
	pthread_mutex_unlock(&waiting->lock);
	return any;
}

bool waiting_has_idle(struct waiting *waiting)
{
	bool idle;

	pthread_mutex_lock(&waiting->lock);
	idle = waiting->idle > 0;
	pthread_mutex_unlock(&waiting->lock);
	return idle;
}

bool waiting_press(struct waiting *waiting)
{
	bool pressed;

	pthread_mutex_lock(&waiting->lock);
	while (waiting->idle && !waiting->count && !waiting->closed)
		pthread_cond_wait(&waiting->pressed, &waiting->lock);
	pressed = !waiting->closed;
	pthread_mutex_unlock(&waiting->lock);
	return pressed;
}

void waiting_close(struct waiting *waiting)
{
	pthread_mutex_lock(&waiting->lock);
	waiting->closed = true;
	pthread_cond_signal(&waiting->pressed);
	pthread_mutex_unlock(&waiting->lock);
}

void waiting_gather(struct waiting *waiting, struct doors *doors, int64_t now_ms)
{
	int fd;

	/* Locked throughout: a thread that gets free meanwhile must find who was taken in. */
	pthread_mutex_lock(&waiting->lock);
	while (!waiting->idle && !waiting->closed && waiting->count < WAITING_MAX) {
		fd = doors_accept(doors);
		if (fd < 0)
			break;
		*caller_at(waiting, waiting->count++) =
			(struct waiting_caller){.fd = fd, .since_ms = now_ms};
	}
	pthread_mutex_unlock(&waiting->lock);
}

int waiting_excess(struct waiting *waiting, int64_t now_ms)
{
	const struct waiting_caller *excess = NULL;
	int fd = -1;

	pthread_mutex_lock(&waiting->lock);
	if (waiting->count > waiting->threads)
		excess = caller_at(waiting, waiting->threads);
	if (excess && now_ms - excess->since_ms >= WAITING_PATIENCE_MS) {
		fd = excess->fd;
		waiting->count--;
		for (unsigned int i = waiting->threads; i < waiting->count; i++)
			*caller_at(waiting, i) = *caller_at(waiting, i + 1);
	}
	pthread_mutex_unlock(&waiting->lock);
	return fd;
}

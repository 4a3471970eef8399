#include "fcgi/admission.h"

#include <stddef.h>
#include <unistd.h>

void admission_init(struct admission *admission, unsigned int slots)
{
	pthread_mutex_init(&admission->lock, NULL);
	pthread_cond_init(&admission->saturated, NULL);
	admission->slots = slots;
	admission->idle = 0;
	admission->first = 0;
	admission->count = 0;
	admission->closed = false;
}

/* The connection at @place of the queue; 0 is the oldest. */
static struct queued_connection *queued_at(struct admission *admission, unsigned int place)
{
	return &admission->connections[(admission->first + place) % ADMISSION_MAX];
}

/* Removes the oldest connection. */
static int pop_oldest(struct admission *admission)
{
	int fd = queued_at(admission, 0)->fd;

	admission->first = (admission->first + 1) % ADMISSION_MAX;
	admission->count--;
	return fd;
}

void admission_free(struct admission *admission)
{
	while (admission->count)
		close(pop_oldest(admission));
	pthread_cond_destroy(&admission->saturated);
	pthread_mutex_destroy(&admission->lock);
}

int admission_take(struct admission *admission)
{
	int fd = -1;

	pthread_mutex_lock(&admission->lock);
	if (admission->count)
		fd = pop_oldest(admission);
	else
		admission->idle++;
	pthread_mutex_unlock(&admission->lock);
	return fd;
}

void admission_slot_busy(struct admission *admission)
{
	pthread_mutex_lock(&admission->lock);
	if (--admission->idle == 0)
		pthread_cond_signal(&admission->saturated);
	pthread_mutex_unlock(&admission->lock);
}

bool admission_has_queued(struct admission *admission)
{
	bool any;

	pthread_mutex_lock(&admission->lock);
	any = admission->count > 0;
	pthread_mutex_unlock(&admission->lock);
	return any;
}

bool admission_has_idle(struct admission *admission)
{
	bool idle;

	pthread_mutex_lock(&admission->lock);
	idle = admission->idle > 0;
	pthread_mutex_unlock(&admission->lock);
	return idle;
}

bool admission_wait_saturated(struct admission *admission)
{
	bool saturated;

	pthread_mutex_lock(&admission->lock);
	while (admission->idle && !admission->count && !admission->closed)
		pthread_cond_wait(&admission->saturated, &admission->lock);
	saturated = !admission->closed;
	pthread_mutex_unlock(&admission->lock);
	return saturated;
}

void admission_close(struct admission *admission)
{
	pthread_mutex_lock(&admission->lock);
	admission->closed = true;
	pthread_cond_signal(&admission->saturated);
	pthread_mutex_unlock(&admission->lock);
}

void admission_accept(struct admission *admission, struct listeners *listeners, int64_t now_ms)
{
	int fd;

	/* Locked throughout: a slot that becomes idle meanwhile must find what was queued. */
	pthread_mutex_lock(&admission->lock);
	while (!admission->idle && !admission->closed && admission->count < ADMISSION_MAX) {
		fd = listeners_accept(listeners);
		if (fd < 0)
			break;
		*queued_at(admission, admission->count++) =
			(struct queued_connection){.fd = fd, .since_ms = now_ms};
	}
	pthread_mutex_unlock(&admission->lock);
}

int admission_take_excess(struct admission *admission, int64_t now_ms)
{
	const struct queued_connection *excess = NULL;
	int fd = -1;

	pthread_mutex_lock(&admission->lock);
	if (admission->count > admission->slots)
		excess = queued_at(admission, admission->slots);
	if (excess && now_ms - excess->since_ms >= ADMISSION_PATIENCE_MS) {
		fd = excess->fd;
		admission->count--;
		for (unsigned int i = admission->slots; i < admission->count; i++)
			*queued_at(admission, i) = *queued_at(admission, i + 1);
	}
	pthread_mutex_unlock(&admission->lock);
	return fd;
}

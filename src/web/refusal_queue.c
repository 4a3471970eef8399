#include "web/refusal_queue.h"

#include "base/clock.h"
#include "base/pack.h"

#include <string.h>

/* The bytes that calls without a valid signature may use. */
#define STRANGERS_BYTES (REFUSAL_QUEUE_BYTES / 2)
#define END_POLL_MS     5

bool refusal_queue_init(struct refusal_queue *queue)
{
	memset(queue, 0, sizeof(*queue));
	buffer_init(&queue->calls, REFUSAL_QUEUE_BYTES);
	return pthread_mutex_init(&queue->mutex, NULL) == 0 &&
		pthread_cond_init(&queue->filled, NULL) == 0;
}

bool refusal_queue_has_share(struct refusal_queue *queue, const struct refused_call *call,
	int64_t boot_ms)
{
	bool has;

	pthread_mutex_lock(&queue->mutex);
	has = refused_shares_take(&queue->shares, call, boot_ms);
	pthread_mutex_unlock(&queue->mutex);
	return has;
}

bool refusal_queue_add(struct refusal_queue *queue, const struct refused_call *call, uint64_t *lost)
{
	const size_t room = call->proved ? REFUSAL_QUEUE_BYTES : STRANGERS_BYTES;
	bool added;

	pthread_mutex_lock(&queue->mutex);
	added = queue->calls.len + REFUSED_CALL_MAX <= room &&
		pack_record(&queue->calls, refused_call_fields, call);
	queue->calls.failed = false;
	*lost = queue->lost;
	queue->lost = 0;
	pthread_mutex_unlock(&queue->mutex);
	return added;
}

/* Returns how many whole calls the first REFUSED_KEEP_MAX bytes hold. *@len gets their bytes. */
static unsigned int first_calls(const struct buffer *calls, size_t *len)
{
	struct bytes in = {calls->data, (uint32_t)calls->len};
	struct refused_call call;
	unsigned int count = 0;

	*len = 0;
	while (in.len && unpack_record(&in, refused_call_fields, &call) &&
		calls->len - in.len <= REFUSED_KEEP_MAX) {
		*len = calls->len - in.len;
		count++;
	}
	return count;
}

/* Moves the first calls of the queue to @taken. Returns their number. */
static unsigned int take_calls(struct refusal_queue *queue, struct buffer *taken)
{
	unsigned int count;
	size_t len;

	pthread_mutex_lock(&queue->mutex);
	count = first_calls(&queue->calls, &len);
	if (count && !buffer_append(taken, queue->calls.data, len))
		queue->lost += count;
	buffer_consume(&queue->calls, count ? len : queue->calls.len);
	pthread_mutex_unlock(&queue->mutex);
	return taken->failed ? 0 : count;
}

/* Sends the first calls. Returns false if there were none, or the ledger did not answer. */
static bool send_calls(struct refusal_queue *queue, struct link *link, int64_t deadline_ms)
{
	struct refused_keep_result result;
	struct refused_keep_cmd cmd;
	struct buffer taken;
	unsigned int count;
	bool sent = false;

	buffer_init(&taken, REFUSED_KEEP_MAX);
	count = take_calls(queue, &taken);
	if (count) {
		cmd.calls = (struct bytes){taken.data, (uint32_t)taken.len};
		sent = link_call(link, COMMAND_REFUSED_KEEP, &cmd, &result, deadline_ms) ==
			STATUS_OK;
	}
	if (count && !sent) {
		pthread_mutex_lock(&queue->mutex);
		queue->lost += count;
		pthread_mutex_unlock(&queue->mutex);
	}
	buffer_free(&taken);
	return sent;
}

static void send_all_calls(struct refusal_queue *queue, struct link *link)
{
	while (send_calls(queue, link, clock_boot_ms() + REFUSAL_DEADLINE_MS))
		;
}

/* The thread that sends. It ends with the process. */
static void *sender_main(void *context)
{
	struct refusal_queue *queue = context;

	for (;;) {
		pthread_mutex_lock(&queue->mutex);
		queue->sending = false;
		while (!queue->calls.len)
			pthread_cond_wait(&queue->filled, &queue->mutex);
		queue->sending = true;
		pthread_mutex_unlock(&queue->mutex);
		clock_sleep_ms(REFUSAL_GATHER_MS);
		send_all_calls(queue, &queue->link);
	}
	return NULL;
}

/* Starts the thread once. Call it with the mutex. */
static void start_sender(struct refusal_queue *queue, const char *ledger_path)
{
	pthread_t thread;

	queue->started = link_init(&queue->link, ledger_path) &&
		pthread_create(&thread, NULL, sender_main, queue) == 0;
	if (queue->started)
		pthread_detach(thread);
}

void refusal_queue_pass(struct refusal_queue *queue, const char *ledger_path)
{
	if (queue->fiber) {
		if (!queue->gathering)
			fiber_wake(queue->fiber);
		return;
	}
	pthread_mutex_lock(&queue->mutex);
	if (!queue->started)
		start_sender(queue, ledger_path);
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->mutex);
}

/* The fiber that sends, without end. */
static void fiber_main(void *context)
{
	struct refusal_queue *queue = context;
	int64_t until_ms;

	for (;;) {
		queue->gathering = false;
		while (!queue->calls.len)
			fiber_wait(-1, 0, FIBER_FOREVER);
		queue->gathering = true;
		until_ms = clock_boot_ms() + REFUSAL_GATHER_MS;
		while (fiber_wait(-1, 0, until_ms))
			;
		send_all_calls(queue, &queue->fiber_link);
	}
}

void refusal_queue_begin(struct refusal_queue *queue)
{
	if (queue->fiber)
		link_close(&queue->fiber_link);
	queue->fiber = NULL;
	queue->gathering = false;
}

bool refusal_queue_add_fiber(struct refusal_queue *queue, struct fibers *fibers, struct mux *mux,
	const char *ledger_path)
{
	if (!link_init(&queue->fiber_link, ledger_path))
		return false;
	queue->fiber_link.mux = mux;
	queue->fiber = fibers_add(fibers, fiber_main, queue, true);
	return queue->fiber != NULL;
}

/* Returns true if the thread has sent what it took from the queue. */
static bool has_sent(struct refusal_queue *queue)
{
	bool sent;

	pthread_mutex_lock(&queue->mutex);
	sent = !queue->sending;
	pthread_mutex_unlock(&queue->mutex);
	return sent;
}

void refusal_queue_end(struct refusal_queue *queue, const char *ledger_path, int64_t deadline_ms)
{
	struct link link;

	refusal_queue_begin(queue);
	while (!has_sent(queue) && clock_boot_ms() < deadline_ms)
		clock_sleep_ms(END_POLL_MS);
	if (!link_init(&link, ledger_path))
		return;
	while (send_calls(queue, &link, deadline_ms))
		;
	link_close(&link);
}

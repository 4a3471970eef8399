#include "ledger/schedule.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 1024

/* Where an event stands. */
struct schedule_place {
	struct schedule_entry entry;
	struct schedule_queue *queue;
	uint32_t at; /* in the queue's heap */
	struct schedule_place *next_in_bucket;
};

/* A dealer's events as a heap: the one due first is at 0. */
struct schedule_queue {
	char casino_id[CASINO_ID_SIZE];
	struct schedule_place **heap;
	uint32_t count;
	uint32_t room;
};

bool schedule_init(struct schedule *schedule)
{
	memset(schedule, 0, sizeof(*schedule));
	schedule->patience_ms = SCHEDULE_OWNER_PATIENCE_MS;
	schedule->place_buckets = BUCKETS_FIRST;
	schedule->places = calloc(BUCKETS_FIRST, sizeof(struct schedule_place *));
	return schedule->places != NULL;
}

void schedule_free(struct schedule *schedule)
{
	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		struct schedule_queue *queue = schedule->queues[i];

		for (uint32_t at = 0; at < queue->count; at++)
			free(queue->heap[at]);
		free(queue->heap);
		free(queue);
	}
	free(schedule->queues);
	free(schedule->places);
	memset(schedule, 0, sizeof(*schedule));
}

static bool before(const struct schedule_place *a, const struct schedule_place *b)
{
	if (a->entry.due_ms != b->entry.due_ms)
		return a->entry.due_ms < b->entry.due_ms;
	return a->entry.event < b->entry.event;
}

static void put(struct schedule_queue *queue, uint32_t at, struct schedule_place *place)
{
	queue->heap[at] = place;
	place->at = at;
}

/* Moves the place at @at to where it belongs. */
static void settle(struct schedule_queue *queue, uint32_t at)
{
	struct schedule_place *place = queue->heap[at];

	while (at && before(place, queue->heap[(at - 1) / 2])) {
		put(queue, at, queue->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= queue->count)
			break;
		if (child + 1 < queue->count && before(queue->heap[child + 1], queue->heap[child]))
			child++;
		if (!before(queue->heap[child], place))
			break;
		put(queue, at, queue->heap[child]);
		at = child;
	}
	put(queue, at, place);
}

static struct schedule_queue *find_queue(struct schedule *schedule, const char *casino_id)
{
	struct schedule_queue *queue, **queues;
	uint32_t room;

	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		if (strcmp(schedule->queues[i]->casino_id, casino_id) == 0)
			return schedule->queues[i];
	}
	if (schedule->queue_count == schedule->queue_room) {
		room = schedule->queue_room ? 2 * schedule->queue_room : 16;
		queues = realloc(schedule->queues, room * sizeof(*queues));
		if (!queues)
			return NULL;
		schedule->queues = queues;
		schedule->queue_room = room;
	}
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	text_copy(queue->casino_id, sizeof(queue->casino_id), casino_id);
	schedule->queues[schedule->queue_count++] = queue;
	return queue;
}

static struct schedule_place **bucket_of(const struct schedule *schedule, uint64_t event)
{
	return &schedule->places[event * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
		(schedule->place_buckets - 1)];
}

static struct schedule_place *find_place(const struct schedule *schedule, uint64_t event)
{
	struct schedule_place *place = *bucket_of(schedule, event);

	while (place && place->entry.event != event)
		place = place->next_in_bucket;
	return place;
}

const struct schedule_entry *schedule_find(const struct schedule *schedule, uint64_t event)
{
	const struct schedule_place *place = find_place(schedule, event);

	return place ? &place->entry : NULL;
}

const char *schedule_casino_of(const struct schedule *schedule, uint64_t event)
{
	const struct schedule_place *place = find_place(schedule, event);

	return place ? place->queue->casino_id : "";
}

/* Twice the buckets. Without memory for it the chains grow longer, nothing else. */
static void grow_buckets(struct schedule *schedule)
{
	struct schedule_place **old = schedule->places, **places;
	uint32_t count = schedule->place_buckets;

	places = calloc(2 * (size_t)count, sizeof(struct schedule_place *));
	if (!places)
		return;
	schedule->places = places;
	schedule->place_buckets = 2 * count;
	for (uint32_t i = 0; i < count; i++) {
		struct schedule_place *place = old[i], *next;

		for (; place; place = next) {
			struct schedule_place **bucket = bucket_of(schedule, place->entry.event);

			next = place->next_in_bucket;
			place->next_in_bucket = *bucket;
			*bucket = place;
		}
	}
	free(old);
}

static bool heap_room(struct schedule_queue *queue)
{
	struct schedule_place **heap;
	uint32_t room;

	if (queue->count < queue->room)
		return true;
	room = queue->room ? 2 * queue->room : 16;
	heap = realloc(queue->heap, room * sizeof(struct schedule_place *));
	if (!heap)
		return false;
	queue->heap = heap;
	queue->room = room;
	return true;
}

bool schedule_set(struct schedule *schedule, const char *casino_id,
	const struct schedule_entry *entry)
{
	struct schedule_place *place = find_place(schedule, entry->event), **bucket;
	struct schedule_queue *queue;

	if (place) {
		place->entry = *entry;
		settle(place->queue, place->at);
		return true;
	}
	queue = find_queue(schedule, casino_id);
	if (!queue || !heap_room(queue))
		return false;
	place = calloc(1, sizeof(*place));
	if (!place)
		return false;
	if (schedule->count++ > 2 * (uint64_t)schedule->place_buckets)
		grow_buckets(schedule);
	bucket = bucket_of(schedule, entry->event);
	place->entry = *entry;
	place->queue = queue;
	place->next_in_bucket = *bucket;
	*bucket = place;
	put(queue, queue->count++, place);
	settle(queue, place->at);
	return true;
}

void schedule_remove(struct schedule *schedule, uint64_t event)
{
	struct schedule_place **at = bucket_of(schedule, event), *place, *last;
	struct schedule_queue *queue;

	while (*at && (*at)->entry.event != event)
		at = &(*at)->next_in_bucket;
	place = *at;
	if (!place)
		return;
	*at = place->next_in_bucket;
	queue = place->queue;
	last = queue->heap[--queue->count];
	if (last != place) {
		put(queue, place->at, last);
		settle(queue, last->at);
	}
	free(place);
	schedule->count--;
}

bool schedule_is_free(const struct schedule *schedule, const struct schedule_entry *entry,
	int64_t now_ms)
{
	return entry->due_ms <= now_ms &&
		(!entry->owner || entry->due_ms + schedule->patience_ms <= now_ms);
}

/*
 * The claimable events of one queue, the oldest first: a walk over the top of the heap. The due
 * ones are few at the top unless there is a backlog, and then @most bounds it.
 */
struct walk {
	struct schedule_queue *queue;
	uint32_t next[256]; /* a small heap of places in the queue, by due time */
	uint32_t count;
};

static void walk_push(struct walk *walk, uint32_t at)
{
	uint32_t i = walk->count;

	if (at >= walk->queue->count || i == sizeof(walk->next) / sizeof(walk->next[0]))
		return;
	walk->count++;
	while (i && before(walk->queue->heap[at], walk->queue->heap[walk->next[i - 1]])) {
		walk->next[i] = walk->next[i - 1];
		i--;
	}
	walk->next[i] = at;
}

/* The next claimable event; 0: none. */
static uint64_t walk_next(const struct schedule *schedule, struct walk *walk, int64_t now_ms)
{
	while (walk->count) {
		uint32_t at = walk->next[0];
		const struct schedule_entry *entry = &walk->queue->heap[at]->entry;

		if (entry->due_ms > now_ms)
			return 0;
		memmove(walk->next, walk->next + 1, --walk->count * sizeof(walk->next[0]));
		walk_push(walk, 2 * at + 1);
		walk_push(walk, 2 * at + 2);
		if (schedule_is_free(schedule, entry, now_ms))
			return entry->event;
	}
	return 0;
}

uint32_t schedule_claimable(struct schedule *schedule, int64_t now_ms, schedule_may *may,
	void *context, uint64_t *events, uint32_t most)
{
	struct walk *walks = calloc(schedule->queue_count ? schedule->queue_count : 1,
		sizeof(*walks));
	uint32_t *taken = calloc(schedule->queue_count ? schedule->queue_count : 1,
		sizeof(*taken));
	uint32_t found = 0, idle = 0, turn = schedule->turn;

	for (uint32_t i = 0; walks && i < schedule->queue_count; i++) {
		walks[i].queue = schedule->queues[i];
		walk_push(&walks[i], 0);
	}
	while (walks && taken && found < most && idle < schedule->queue_count) {
		uint32_t i = turn++ % schedule->queue_count;
		uint64_t event = 0;

		if (walks[i].count && may(context, walks[i].queue->casino_id, taken[i]))
			event = walk_next(schedule, &walks[i], now_ms);
		if (!event) {
			walks[i].count = 0;
			idle++;
			continue;
		}
		idle = 0;
		taken[i]++;
		events[found++] = event;
	}
	schedule->turn = schedule->queue_count ? turn % schedule->queue_count : 0;
	free(walks);
	free(taken);
	return found;
}

void schedule_owner_gone(struct schedule *schedule, uint64_t owner)
{
	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		struct schedule_queue *queue = schedule->queues[i];

		for (uint32_t at = 0; at < queue->count; at++) {
			if (queue->heap[at]->entry.owner == owner)
				queue->heap[at]->entry.owner = 0;
		}
	}
}

uint64_t schedule_overdue_owner(const struct schedule *schedule, int64_t now_ms)
{
	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		const struct schedule_queue *queue = schedule->queues[i];

		for (uint32_t at = 0; at < queue->count; at++) {
			const struct schedule_entry *entry = &queue->heap[at]->entry;

			if (entry->owner && entry->due_ms + schedule->patience_ms <= now_ms)
				return entry->owner;
		}
	}
	return 0;
}

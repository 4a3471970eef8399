#include "ledger/outbox/schedule.h"

#include "base/check.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 1024
#define NAMES         (2 * DEALERS_MAX)

/* The position of an event. */
struct schedule_place {
	struct schedule_entry entry;
	struct schedule_queue *queue;
	uint32_t at; /* in its heap */
	struct schedule_place *next_in_bucket;
};

/* Events as a heap: the one due first is at 0. */
struct heap {
	struct schedule_place **places;
	uint32_t count;
	uint32_t room;
};

/*
 * The heaps of a dealer: events that wait, and events being sent. The latter may need a takeover
 * while no waiting event may be sent.
 */
enum { WAITING, SENDING, HEAP_COUNT };
struct schedule_queue {
	char casino_id[CASINO_ID_SIZE];
	struct heap heaps[HEAP_COUNT];
};

bool schedule_init(struct schedule *schedule)
{
	memset(schedule, 0, sizeof(*schedule));
	schedule->patience_ms = SCHEDULE_OWNER_PATIENCE_MS;
	schedule->place_buckets = BUCKETS_FIRST;
	schedule->places = calloc(BUCKETS_FIRST, sizeof(struct schedule_place *));
	schedule->names = calloc(NAMES, sizeof(struct schedule_queue *));
	return schedule->places && schedule->names;
}

void schedule_free(struct schedule *schedule)
{
	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		struct schedule_queue *queue = schedule->queues[i];

		for (unsigned int n = 0; n < HEAP_COUNT; n++) {
			for (uint32_t at = 0; at < queue->heaps[n].count; at++)
				free(queue->heaps[n].places[at]);
			free(queue->heaps[n].places);
		}
		free(queue);
	}
	free(schedule->queues);
	free(schedule->names);
	free(schedule->places);
	memset(schedule, 0, sizeof(*schedule));
}

static bool is_due_before(const struct schedule_place *a, const struct schedule_place *b)
{
	if (a->entry.due_ms != b->entry.due_ms)
		return a->entry.due_ms < b->entry.due_ms;
	return a->entry.event < b->entry.event;
}

static struct heap *heap_of(const struct schedule_place *place)
{
	return &place->queue->heaps[place->entry.sending ? SENDING : WAITING];
}

static void heap_put(struct heap *heap, uint32_t at, struct schedule_place *place)
{
	heap->places[at] = place;
	place->at = at;
}

/* Moves the entry at @at to its position in the heap. */
static void heap_settle(struct heap *heap, uint32_t at)
{
	struct schedule_place *place = heap->places[at];

	while (at && is_due_before(place, heap->places[(at - 1) / 2])) {
		heap_put(heap, at, heap->places[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
			is_due_before(heap->places[child + 1], heap->places[child]))
			child++;
		if (!is_due_before(heap->places[child], place))
			break;
		heap_put(heap, at, heap->places[child]);
		at = child;
	}
	heap_put(heap, at, place);
}

static bool heap_room(struct heap *heap)
{
	struct schedule_place **places;
	uint32_t room;

	if (heap->count < heap->room)
		return true;
	room = heap->room ? 2 * heap->room : 16;
	places = realloc(heap->places, room * sizeof(struct schedule_place *));
	if (!places)
		return false;
	heap->places = places;
	heap->room = room;
	return true;
}

/* Adds an entry; the heap has room. */
static void heap_add(struct heap *heap, struct schedule_place *place)
{
	CHECK(heap->count < heap->room);
	heap_put(heap, heap->count++, place);
	heap_settle(heap, place->at);
}

static void heap_take(struct heap *heap, const struct schedule_place *place)
{
	uint32_t at = place->at;
	struct schedule_place *last;

	CHECK(at < heap->count && heap->places[at] == place);
	last = heap->places[--heap->count];

	if (last == place)
		return;
	heap_put(heap, at, last);
	heap_settle(heap, at);
}

/*
 * Returns the hash slot of the dealer's queue, used or free. Queues are never removed and there
 * are fewer than slots.
 */
static struct schedule_queue **name_of(const struct schedule *schedule, const char *casino_id)
{
	uint32_t at = text_hash(casino_id) % NAMES;

	while (schedule->names[at] && strcmp(schedule->names[at]->casino_id, casino_id) != 0)
		at = (at + 1) % NAMES;
	return &schedule->names[at];
}

/* Returns the queue of the dealer, after creating it if needed; NULL if memory is exhausted. */
static struct schedule_queue *find_queue(struct schedule *schedule, const char *casino_id)
{
	struct schedule_queue **queues, **name = name_of(schedule, casino_id), *queue = *name;
	uint32_t room;

	if (queue)
		return queue;
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
	*name = queue;
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

/* Doubles the buckets. If memory is exhausted, only the chains grow longer. */
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

/* Returns false and changes nothing if memory is exhausted. */
static bool move_entry(struct schedule_place *place, const struct schedule_entry *entry)
{
	if (place->entry.sending == entry->sending) {
		place->entry = *entry;
		heap_settle(heap_of(place), place->at);
		return true;
	}
	if (!heap_room(&place->queue->heaps[entry->sending ? SENDING : WAITING]))
		return false;
	heap_take(heap_of(place), place);
	place->entry = *entry;
	heap_add(heap_of(place), place);
	return true;
}

bool schedule_set(struct schedule *schedule, const char *casino_id,
	const struct schedule_entry *entry)
{
	struct schedule_place *place = find_place(schedule, entry->event), **bucket;
	struct schedule_queue *queue;

	if (place)
		return move_entry(place, entry);
	queue = find_queue(schedule, casino_id);
	if (!queue || !heap_room(&queue->heaps[entry->sending ? SENDING : WAITING]))
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
	heap_add(heap_of(place), place);
	return true;
}

void schedule_remove(struct schedule *schedule, uint64_t event)
{
	struct schedule_place **at = bucket_of(schedule, event), *place;

	while (*at && (*at)->entry.event != event)
		at = &(*at)->next_in_bucket;
	place = *at;
	if (!place)
		return;
	*at = place->next_in_bucket;
	heap_take(heap_of(place), place);
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
 * A walk over the top of one heap that finds its claimable events, the oldest first. Without a
 * backlog few are due; with one, @most bounds the walk.
 */
struct walk {
	const struct heap *heap;
	uint32_t next[256]; /* positions in the heap, themselves a small heap by due time */
	uint32_t count;
};

static void walk_push(struct walk *walk, uint32_t at)
{
	struct schedule_place *const *places = walk->heap->places;
	uint32_t i = walk->count;

	if (at >= walk->heap->count || i == sizeof(walk->next) / sizeof(walk->next[0]))
		return;
	walk->count++;
	while (i && is_due_before(places[at], places[walk->next[i - 1]])) {
		walk->next[i] = walk->next[i - 1];
		i--;
	}
	walk->next[i] = at;
}

/* Returns the next claimable event, or 0. */
static uint64_t walk_next(const struct schedule *schedule, struct walk *walk, int64_t now_ms)
{
	while (walk->count) {
		uint32_t at = walk->next[0];
		const struct schedule_entry *entry = &walk->heap->places[at]->entry;

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

/* The turns of one dealer. */
struct turns {
	struct walk walks[HEAP_COUNT];
	uint32_t taken; /* that are calls */
	bool over;
};

/*
 * Returns the next claimable event of the dealer, or 0. A takeover sends no call, so @may is not
 * asked.
 */
static uint64_t turn_next(const struct schedule *schedule, const struct schedule_queue *queue,
	struct turns *turns, int64_t now_ms, schedule_may *may, void *context)
{
	uint64_t event = 0;

	if (turns->over)
		return 0;
	event = walk_next(schedule, &turns->walks[SENDING], now_ms);
	if (event)
		return event;
	if (turns->walks[WAITING].count && may(context, queue->casino_id, turns->taken))
		event = walk_next(schedule, &turns->walks[WAITING], now_ms);
	if (event)
		turns->taken++;
	else
		turns->over = true;
	return event;
}

/* Returns true if an event of the dealer is due, or was not ended by its lease. */
static bool has_turn(const struct schedule_queue *queue, int64_t now_ms)
{
	for (unsigned int n = 0; n < HEAP_COUNT; n++) {
		if (queue->heaps[n].count && queue->heaps[n].places[0]->entry.due_ms <= now_ms)
			return true;
	}
	return false;
}

/*
 * Writes the numbers of the dealers that have a turn into @dealers, from the one whose turn it is.
 * Returns how many they are. Most dealers have none, and a turn takes memory.
 */
static uint32_t find_turns(const struct schedule *schedule, int64_t now_ms, uint32_t *dealers)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < schedule->queue_count; n++) {
		uint32_t i = (schedule->turn + n) % schedule->queue_count;

		if (has_turn(schedule->queues[i], now_ms))
			dealers[count++] = i;
	}
	return count;
}

uint32_t schedule_claimable(struct schedule *schedule, int64_t now_ms, schedule_may *may,
	void *context, uint64_t *events, uint32_t most)
{
	static uint32_t dealers[2 * DEALERS_MAX];
	const uint32_t count = find_turns(schedule, now_ms, dealers);
	struct turns *turns = calloc(count ? count : 1, sizeof(*turns));
	uint32_t found = 0, idle = 0, turn = 0;

	for (uint32_t at = 0; turns && at < count; at++) {
		for (unsigned int n = 0; n < HEAP_COUNT; n++) {
			turns[at].walks[n].heap = &schedule->queues[dealers[at]]->heaps[n];
			walk_push(&turns[at].walks[n], 0);
		}
	}
	while (turns && found < most && idle < count) {
		uint32_t at = turn++ % count;
		uint64_t event = turn_next(schedule, schedule->queues[dealers[at]], &turns[at],
			now_ms, may, context);

		idle = event ? 0 : idle + 1;
		if (!event)
			continue;
		events[found++] = event;
		schedule->turn = (dealers[at] + 1) % schedule->queue_count;
	}
	free(turns);
	return found;
}

bool schedule_has_due(const struct schedule *schedule, int64_t now_ms, schedule_may *may,
	void *context)
{
	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		const struct schedule_queue *queue = schedule->queues[i];
		const struct heap *heap = &queue->heaps[WAITING];

		if (heap->count && heap->places[0]->entry.due_ms <= now_ms &&
			may(context, queue->casino_id, 0))
			return true;
	}
	return false;
}

void schedule_owner_gone(struct schedule *schedule, uint64_t owner)
{
	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		const struct heap *heap = &schedule->queues[i]->heaps[SENDING];

		for (uint32_t at = 0; at < heap->count; at++) {
			if (heap->places[at]->entry.owner == owner)
				heap->places[at]->entry.owner = 0;
		}
	}
}

void schedule_figures(const struct schedule *schedule, const char *casino_id,
	struct schedule_figures *figures)
{
	const struct schedule_queue *queue = *name_of(schedule, casino_id);
	const struct heap *waiting = queue ? &queue->heaps[WAITING] : NULL;

	memset(figures, 0, sizeof(*figures));
	if (!queue)
		return;
	figures->waiting = waiting->count;
	figures->sending = queue->heaps[SENDING].count;
	if (waiting->count)
		figures->first_due_ms = waiting->places[0]->entry.due_ms;
}

/* Copies the events of the heap that have room. Returns how many were copied. */
static uint32_t copy_events(const struct heap *heap, uint64_t *events, uint32_t room)
{
	const uint32_t count = heap->count < room ? heap->count : room;

	for (uint32_t at = 0; at < count; at++)
		events[at] = heap->places[at]->entry.event;
	return count;
}

uint64_t schedule_events(const struct schedule *schedule, const char *casino_id, bool sending,
	uint64_t *events, uint32_t most)
{
	uint32_t count = 0;
	uint64_t all = 0;

	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		const struct schedule_queue *queue = schedule->queues[i];
		const struct heap *heap = &queue->heaps[sending ? SENDING : WAITING];

		if (casino_id[0] && strcmp(queue->casino_id, casino_id) != 0)
			continue;
		all += heap->count;
		count += copy_events(heap, events + count, most - count);
	}
	return all;
}

uint64_t schedule_overdue_owner(const struct schedule *schedule, int64_t now_ms)
{
	for (uint32_t i = 0; i < schedule->queue_count; i++) {
		const struct heap *heap = &schedule->queues[i]->heaps[SENDING];

		for (uint32_t at = 0; at < heap->count; at++) {
			const struct schedule_entry *entry = &heap->places[at]->entry;

			if (entry->owner && entry->due_ms + schedule->patience_ms <= now_ms)
				return entry->owner;
		}
	}
	return 0;
}

#include "ledger/outbox/permits.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS     (2 * DEALERS_MAX)
#define BUCKET_MS (FLOW_WINDOW_MS / FLOW_BUCKETS)

struct permit {
	uint64_t id;
	int64_t until_ms;
};

/* The calls that ended within BUCKET_MS. */
struct bucket {
	int64_t number; /* of the bucket's time since boot */
	uint32_t calls;
	uint32_t bad; /* unknown or not sent */
};

struct flow_dealer {
	char casino_id[CASINO_ID_SIZE];
	enum breaker breaker;
	int64_t open_ms; /* how long the breaker stays open */
	int64_t open_until_ms;
	uint64_t probe; /* the permit of the test call while half-open; 0: none yet */
	struct bucket buckets[FLOW_BUCKETS];
	bool held;             /* counted in held_count */
	uint32_t max_inflight; /* the last value set by flow_limit() or flow_take() */
	uint32_t permit_count;
	struct permit permits[FLOW_PERMITS_MAX];
};

bool flow_init(struct flow *flow)
{
	memset(flow, 0, sizeof(*flow));
	flow->open_ms = FLOW_OPEN_MS;
	flow->dealers = calloc(SLOTS, sizeof(*flow->dealers));
	return flow->dealers != NULL;
}

void flow_free(struct flow *flow)
{
	for (unsigned int i = 0; flow->dealers && i < SLOTS; i++)
		free(flow->dealers[i]);
	free(flow->dealers);
	flow->dealers = NULL;
}

/* Returns the hash slot of the dealer name, used or free. */
static struct flow_dealer **place(struct flow *flow, const char *casino_id)
{
	uint32_t at = text_hash(casino_id) % SLOTS;

	/* Dealers are never removed and there are fewer than slots, so the loop ends. */
	while (flow->dealers[at] && strcmp(flow->dealers[at]->casino_id, casino_id) != 0)
		at = (at + 1) % SLOTS;
	return &flow->dealers[at];
}

/* Returns the entry of an existing dealer; NULL if memory is exhausted. */
static struct flow_dealer *find(struct flow *flow, const char *casino_id)
{
	struct flow_dealer **at = place(flow, casino_id);
	struct flow_dealer *dealer = *at;

	if (dealer)
		return dealer;
	dealer = calloc(1, sizeof(*dealer));
	if (!dealer)
		return NULL;
	text_copy(dealer->casino_id, CASINO_ID_SIZE, casino_id);
	dealer->open_ms = flow->open_ms;
	*at = dealer;
	return dealer;
}

static void close_breaker(struct flow_dealer *dealer)
{
	dealer->breaker = BREAKER_CLOSED;
	dealer->probe = 0;
	memset(dealer->buckets, 0, sizeof(dealer->buckets));
}

static void open_breaker(struct flow_dealer *dealer, int64_t now_ms)
{
	dealer->breaker = BREAKER_OPEN;
	dealer->probe = 0;
	dealer->open_until_ms = now_ms + dealer->open_ms;
}

static void count(struct flow_dealer *dealer, bool bad, int64_t now_ms)
{
	int64_t number = now_ms / BUCKET_MS;
	struct bucket *bucket = &dealer->buckets[number % FLOW_BUCKETS];
	uint32_t calls = 0, bads = 0;

	if (bucket->number != number)
		*bucket = (struct bucket){.number = number};
	bucket->calls++;
	bucket->bad += bad;
	for (unsigned int i = 0; i < FLOW_BUCKETS; i++) {
		if (dealer->buckets[i].number <= number - FLOW_BUCKETS)
			continue;
		calls += dealer->buckets[i].calls;
		bads += dealer->buckets[i].bad;
	}
	if (calls >= FLOW_CALLS_MIN && bads * 100 >= calls * FLOW_BAD_PERCENT)
		open_breaker(dealer, now_ms);
}

/* Counts the outcome of the call that holds permit @id. */
static void judge(struct flow_dealer *dealer, uint64_t id, bool bad, int64_t now_ms)
{
	switch (dealer->breaker) {
	case BREAKER_CLOSED:
		count(dealer, bad, now_ms);
		break;
	case BREAKER_HALF_OPEN:
		if (dealer->probe != id)
			break;
		if (bad)
			open_breaker(dealer, now_ms);
		else
			close_breaker(dealer);
		break;
	case BREAKER_OPEN:
	case BREAKER_COUNT:
		break;
	}
}

static void drop(struct flow_dealer *dealer, uint32_t at)
{
	dealer->permits[at] = dealer->permits[--dealer->permit_count];
}

/* Ends expired permits and the open time of the breaker. */
static void refresh(struct flow_dealer *dealer, int64_t now_ms)
{
	for (uint32_t i = dealer->permit_count; i-- > 0;) {
		struct permit permit = dealer->permits[i];

		if (permit.until_ms > now_ms)
			continue;
		drop(dealer, i);
		judge(dealer, permit.id, true, now_ms);
	}
	if (dealer->breaker == BREAKER_OPEN && now_ms >= dealer->open_until_ms)
		dealer->breaker = BREAKER_HALF_OPEN;
}

static bool held(const struct flow_dealer *dealer, uint64_t id, uint32_t *at)
{
	for (*at = 0; *at < dealer->permit_count; ++*at) {
		if (dealer->permits[*at].id == id)
			return true;
	}
	return false;
}

void flow_limit(struct flow *flow, const char *casino_id, uint32_t max_inflight)
{
	struct flow_dealer *dealer = find(flow, casino_id);

	if (!dealer)
		return;
	dealer->max_inflight = max_inflight;
	flow->held_count -= dealer->held;
	dealer->held = !max_inflight;
	flow->held_count += dealer->held;
}

void flow_mark(struct flow *flow)
{
	flow->taken_count = 0;
	flow->inquiries_marked = flow->inquiries;
}

void flow_undo(struct flow *flow)
{
	flow->inquiries = flow->inquiries_marked;
	while (flow->taken_count) {
		const struct flow_taken *taken = &flow->taken[--flow->taken_count];
		uint32_t at;

		if (held(taken->dealer, taken->id, &at))
			drop(taken->dealer, at);
		if (taken->dealer->probe == taken->id)
			taken->dealer->probe = 0;
	}
}

/* Returns true if another call is allowed, with @already more than are under way. */
static bool has_room(const struct flow_dealer *dealer, uint32_t already)
{
	uint32_t calls = dealer->permit_count + already;

	if (dealer->breaker == BREAKER_OPEN || dealer->probe)
		return false;
	if (dealer->breaker == BREAKER_HALF_OPEN && already)
		return false;
	return calls < dealer->max_inflight && calls < FLOW_PERMITS_MAX;
}

bool flow_has_room(struct flow *flow, const char *casino_id, uint32_t already, int64_t now_ms)
{
	struct flow_dealer *dealer = find(flow, casino_id);

	if (!dealer)
		return false;
	refresh(dealer, now_ms);
	return has_room(dealer, already);
}

bool flow_take(struct flow *flow, const char *casino_id, uint64_t id, uint32_t max_inflight,
	int64_t now_ms, int64_t until_ms)
{
	struct flow_dealer *dealer = find(flow, casino_id);
	uint32_t at;

	if (!dealer)
		return false;
	refresh(dealer, now_ms);
	if (held(dealer, id, &at)) {
		dealer->permits[at].until_ms = until_ms;
		return true;
	}
	dealer->max_inflight = max_inflight;
	if (!has_room(dealer, 0))
		return false;
	if (dealer->breaker == BREAKER_HALF_OPEN)
		dealer->probe = id;
	if (flow->taken_count < FLOW_UNDO_MAX)
		flow->taken[flow->taken_count++] = (struct flow_taken){dealer, id};
	dealer->permits[dealer->permit_count++] = (struct permit){id, until_ms};
	return true;
}

bool flow_give(struct flow *flow, const char *casino_id, uint64_t id, enum callback_class class,
	int64_t now_ms)
{
	/* Any caller may send any name, so create no entry for it. */
	struct flow_dealer *dealer = *place(flow, casino_id);
	uint32_t at;

	if (!dealer)
		return false;
	refresh(dealer, now_ms);
	if (!held(dealer, id, &at))
		return false;
	drop(dealer, at);
	judge(dealer, id, class == CALLBACK_UNKNOWN || class == CALLBACK_NOT_SENT, now_ms);
	return true;
}

enum breaker flow_breaker(struct flow *flow, const char *casino_id, int64_t now_ms)
{
	struct flow_dealer *dealer = find(flow, casino_id);

	if (!dealer)
		return BREAKER_CLOSED;
	refresh(dealer, now_ms);
	return dealer->breaker;
}

uint32_t flow_inflight(struct flow *flow, const char *casino_id, int64_t now_ms)
{
	struct flow_dealer *dealer = find(flow, casino_id);

	if (!dealer)
		return 0;
	refresh(dealer, now_ms);
	return dealer->permit_count;
}

#include "ledger/outbox/permits.h"

#include "base/check.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS     (2 * DEALERS_MAX)
#define BUCKET_MS (PERMITS_WINDOW_MS / PERMITS_BUCKETS)

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

struct permits_dealer {
	char casino_id[CASINO_ID_SIZE];
	enum breaker breaker;
	int64_t open_ms; /* how long the breaker stays open */
	int64_t open_until_ms;
	uint64_t probe; /* the permit of the test call while half-open; 0: none yet */
	struct bucket buckets[PERMITS_BUCKETS];
	uint32_t opened; /* how often the breaker opened */
	/* opening number n is at n % PERMITS_OPENINGS */
	struct permits_opening openings[PERMITS_OPENINGS];
	int64_t bad_ms; /* of the last call that counted as bad; 0: none */
	uint64_t bad_id;
	enum callback_class bad_class;
	bool held;             /* counted in held_count */
	bool paused;           /* permits_pause() */
	uint32_t max_inflight; /* the last value set by permits_limit() or permits_take() */
	uint32_t permit_count;
	struct permit permits[PERMITS_MAX];
};

bool permits_init(struct permits *permits)
{
	memset(permits, 0, sizeof(*permits));
	permits->open_ms = PERMITS_OPEN_MS;
	permits->dealers = calloc(SLOTS, sizeof(*permits->dealers));
	return permits->dealers != NULL;
}

void permits_free(struct permits *permits)
{
	for (unsigned int i = 0; permits->dealers && i < SLOTS; i++)
		free(permits->dealers[i]);
	free(permits->dealers);
	permits->dealers = NULL;
}

/* Returns the hash slot of the dealer name, used or free. */
static struct permits_dealer **dealer_place(struct permits *permits, const char *casino_id)
{
	uint32_t at = text_hash(casino_id) % SLOTS;

	/* Dealers are never removed and there are fewer than slots, so the loop ends. */
	while (permits->dealers[at] && strcmp(permits->dealers[at]->casino_id, casino_id) != 0)
		at = (at + 1) % SLOTS;
	return &permits->dealers[at];
}

/* Returns the entry of an existing dealer; NULL if memory is exhausted. */
static struct permits_dealer *find_or_add_dealer(struct permits *permits, const char *casino_id)
{
	struct permits_dealer **at = dealer_place(permits, casino_id);
	struct permits_dealer *dealer = *at;

	if (dealer)
		return dealer;
	dealer = calloc(1, sizeof(*dealer));
	if (!dealer)
		return NULL;
	text_copy(dealer->casino_id, CASINO_ID_SIZE, casino_id);
	dealer->open_ms = permits->open_ms;
	*at = dealer;
	return dealer;
}

/* Returns the opening under way, or the last one. */
static struct permits_opening *last_opening(struct permits_dealer *dealer)
{
	return &dealer->openings[(dealer->opened - 1) % PERMITS_OPENINGS];
}

static void close_breaker(struct permits_dealer *dealer, int64_t now_ms)
{
	last_opening(dealer)->closed_ms = now_ms;
	dealer->breaker = BREAKER_CLOSED;
	dealer->probe = 0;
	memset(dealer->buckets, 0, sizeof(dealer->buckets));
}

static void open_breaker(struct permits_dealer *dealer, int64_t now_ms)
{
	if (dealer->breaker == BREAKER_CLOSED) {
		dealer->opened++;
		*last_opening(dealer) = (struct permits_opening){.opened_ms = now_ms};
	} else {
		last_opening(dealer)->tests++;
	}
	dealer->breaker = BREAKER_OPEN;
	dealer->probe = 0;
	dealer->open_until_ms = now_ms + dealer->open_ms;
}

static void count_call(struct permits_dealer *dealer, bool bad, int64_t now_ms)
{
	int64_t number = now_ms / BUCKET_MS;
	struct bucket *bucket = &dealer->buckets[number % PERMITS_BUCKETS];
	uint32_t calls = 0, bads = 0;

	if (bucket->number != number)
		*bucket = (struct bucket){.number = number};
	bucket->calls++;
	bucket->bad += bad;
	for (unsigned int i = 0; i < PERMITS_BUCKETS; i++) {
		if (dealer->buckets[i].number <= number - PERMITS_BUCKETS)
			continue;
		calls += dealer->buckets[i].calls;
		bads += dealer->buckets[i].bad;
	}
	if (calls >= PERMITS_CALLS_MIN && bads * 100 >= calls * PERMITS_BAD_PERCENT)
		open_breaker(dealer, now_ms);
}

/* Counts the outcome of the call that holds permit @id. */
static void judge_breaker(struct permits_dealer *dealer, uint64_t id, enum callback_class class,
	int64_t now_ms)
{
	const bool bad = class == CALLBACK_UNKNOWN || class == CALLBACK_NOT_SENT;

	if (bad) {
		dealer->bad_ms = now_ms;
		dealer->bad_id = id;
		dealer->bad_class = class;
	}
	switch (dealer->breaker) {
	case BREAKER_CLOSED:
		count_call(dealer, bad, now_ms);
		break;
	case BREAKER_HALF_OPEN:
		if (dealer->probe != id)
			break;
		if (bad)
			open_breaker(dealer, now_ms);
		else
			close_breaker(dealer, now_ms);
		break;
	case BREAKER_OPEN:
	case BREAKER_COUNT:
		break;
	}
}

static void drop_permit(struct permits_dealer *dealer, uint32_t at)
{
	dealer->permits[at] = dealer->permits[--dealer->permit_count];
}

/* Ends expired permits and the open time of the breaker. */
static void refresh_dealer(struct permits_dealer *dealer, int64_t now_ms)
{
	for (uint32_t i = dealer->permit_count; i-- > 0;) {
		struct permit permit = dealer->permits[i];

		if (permit.until_ms > now_ms)
			continue;
		drop_permit(dealer, i);
		judge_breaker(dealer, permit.id, CALLBACK_UNKNOWN, now_ms);
	}
	if (dealer->breaker == BREAKER_OPEN && now_ms >= dealer->open_until_ms)
		dealer->breaker = BREAKER_HALF_OPEN;
}

static bool find_permit(const struct permits_dealer *dealer, uint64_t id, uint32_t *at)
{
	for (*at = 0; *at < dealer->permit_count; ++*at) {
		if (dealer->permits[*at].id == id)
			return true;
	}
	return false;
}

void permits_limit(struct permits *permits, const char *casino_id, uint32_t max_inflight)
{
	struct permits_dealer *dealer = find_or_add_dealer(permits, casino_id);

	if (!dealer)
		return;
	dealer->max_inflight = max_inflight;
	CHECK(permits->held_count >= dealer->held);
	permits->held_count -= dealer->held;
	dealer->held = !max_inflight;
	permits->held_count += dealer->held;
}

void permits_pause(struct permits *permits, const char *casino_id, bool paused)
{
	struct permits_dealer *dealer = find_or_add_dealer(permits, casino_id);

	if (dealer)
		dealer->paused = paused;
}

void permits_mark(struct permits *permits)
{
	permits->taken_count = 0;
	permits->inquiries_marked = permits->inquiries;
}

void permits_undo(struct permits *permits)
{
	permits->inquiries = permits->inquiries_marked;
	while (permits->taken_count) {
		const struct permits_taken *taken = &permits->taken[--permits->taken_count];
		uint32_t at;

		if (find_permit(taken->dealer, taken->id, &at))
			drop_permit(taken->dealer, at);
		if (taken->dealer->probe == taken->id)
			taken->dealer->probe = 0;
	}
}

/* Returns true if another call is allowed, with @already more than are under way. */
static bool has_room(const struct permits_dealer *dealer, uint32_t already)
{
	uint32_t calls = dealer->permit_count + already;

	if (dealer->paused || dealer->breaker == BREAKER_OPEN || dealer->probe)
		return false;
	if (dealer->breaker == BREAKER_HALF_OPEN && already)
		return false;
	return calls < dealer->max_inflight && calls < PERMITS_MAX;
}

bool permits_has_room(struct permits *permits, const char *casino_id, uint32_t already,
	int64_t now_ms)
{
	struct permits_dealer *dealer = find_or_add_dealer(permits, casino_id);

	if (!dealer)
		return false;
	refresh_dealer(dealer, now_ms);
	return has_room(dealer, already);
}

bool permits_take(struct permits *permits, const char *casino_id, uint64_t id,
	uint32_t max_inflight, int64_t now_ms, int64_t until_ms)
{
	struct permits_dealer *dealer = find_or_add_dealer(permits, casino_id);
	uint32_t at;

	if (!dealer)
		return false;
	refresh_dealer(dealer, now_ms);
	if (find_permit(dealer, id, &at)) {
		dealer->permits[at].until_ms = until_ms;
		return true;
	}
	dealer->max_inflight = max_inflight;
	if (!has_room(dealer, 0))
		return false;
	if (dealer->breaker == BREAKER_HALF_OPEN)
		dealer->probe = id;
	if (permits->taken_count < PERMITS_UNDO_MAX)
		permits->taken[permits->taken_count++] = (struct permits_taken){dealer, id};
	CHECK(dealer->permit_count < PERMITS_MAX);
	dealer->permits[dealer->permit_count++] = (struct permit){id, until_ms};
	return true;
}

/* Drops permit @id. Returns its dealer; NULL if no dealer holds it. */
static struct permits_dealer *take_back(struct permits *permits, const char *casino_id, uint64_t id,
	int64_t now_ms)
{
	/* Any caller may send any name, so create no entry for it. */
	struct permits_dealer *dealer = *dealer_place(permits, casino_id);
	uint32_t at;

	if (!dealer)
		return NULL;
	refresh_dealer(dealer, now_ms);
	if (!find_permit(dealer, id, &at))
		return NULL;
	drop_permit(dealer, at);
	return dealer;
}

bool permits_give(struct permits *permits, const char *casino_id, uint64_t id,
	enum callback_class class, int64_t now_ms)
{
	struct permits_dealer *dealer = take_back(permits, casino_id, id, now_ms);

	if (dealer)
		judge_breaker(dealer, id, class, now_ms);
	return dealer != NULL;
}

bool permits_give_uncounted(struct permits *permits, const char *casino_id, uint64_t id,
	int64_t now_ms)
{
	struct permits_dealer *dealer = take_back(permits, casino_id, id, now_ms);

	if (!dealer)
		return false;
	if (dealer->probe == id)
		dealer->probe = 0;
	return true;
}

void permits_history(struct permits *permits, const char *casino_id, int64_t now_ms,
	struct permits_history *history)
{
	struct permits_dealer *dealer = *dealer_place(permits, casino_id);

	memset(history, 0, sizeof(*history));
	if (!dealer)
		return;
	refresh_dealer(dealer, now_ms);
	history->breaker = dealer->breaker;
	history->next_ms = dealer->breaker == BREAKER_OPEN ? dealer->open_until_ms : 0;
	history->opened = dealer->opened;
	history->count = dealer->opened < PERMITS_OPENINGS ? dealer->opened : PERMITS_OPENINGS;
	for (uint32_t i = 0; i < history->count; i++)
		history->openings[i] =
			dealer->openings[(dealer->opened - 1 - i) % PERMITS_OPENINGS];
	history->bad_ms = dealer->bad_ms;
	history->bad_id = dealer->bad_id;
	history->bad_class = dealer->bad_class;
}

enum breaker permits_breaker(struct permits *permits, const char *casino_id, int64_t now_ms)
{
	struct permits_dealer *dealer = find_or_add_dealer(permits, casino_id);

	if (!dealer)
		return BREAKER_CLOSED;
	refresh_dealer(dealer, now_ms);
	return dealer->breaker;
}

uint64_t permits_breaker_ms(struct permits *permits, const char *casino_id, int64_t now_ms)
{
	struct permits_dealer *dealer = *dealer_place(permits, casino_id);
	int64_t opened_ms;

	if (!dealer || dealer->breaker == BREAKER_CLOSED)
		return 0;
	opened_ms = last_opening(dealer)->opened_ms;
	/* An open breaker is never 0. */
	return now_ms > opened_ms ? (uint64_t)(now_ms - opened_ms) : 1;
}

uint32_t permits_inflight(struct permits *permits, const char *casino_id, int64_t now_ms)
{
	struct permits_dealer *dealer = find_or_add_dealer(permits, casino_id);

	if (!dealer)
		return 0;
	refresh_dealer(dealer, now_ms);
	return dealer->permit_count;
}

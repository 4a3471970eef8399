#include "ledger/outbox/metrics.h"

#include "base/isolated.h"
#include "base/text.h"

#include <stdatomic.h>
#include <string.h>

struct metrics *metrics_new(void)
{
	return isolated_memory(sizeof(struct metrics));
}

static struct metrics_note note_of(const char *casino_id, enum callback_kind kind,
	const struct callback_outcome *outcome, bool timed)
{
	struct metrics_note note = {.kind = kind,
		.class = outcome->class,
		.timed = timed,
		.ms = outcome->ms};

	text_copy(note.casino_id, sizeof(note.casino_id), casino_id);
	return note;
}

void metrics_note(struct metrics_notes *notes, const struct callback *callback,
	const struct callback_outcome *outcome, bool timed)
{
	struct metrics_note note = note_of(callback->casino_id, callback->kind, outcome, timed);

	note.unknown_to_dealer = callback->unknown_to_dealer;
	note.known_to_dealer = callback->known_to_dealer;
	if (notes->count < METRICS_NOTES_MAX)
		notes->notes[notes->count++] = note;
}

/* Returns the slot of @casino_id, used or free. */
static uint32_t find_slot(const struct metrics *metrics, const char *casino_id)
{
	uint32_t at = text_hash(casino_id) % METRICS_SLOTS;

	while (metrics->slots[at].used && strcmp(metrics->slots[at].casino_id, casino_id) != 0)
		at = (at + 1) % METRICS_SLOTS;
	return at;
}

/* Returns the slot of the dealer; NULL if there are more names than dealers can exist. */
static struct metrics_slot *take_slot(struct metrics *metrics, const char *casino_id)
{
	struct metrics_slot *slot = &metrics->slots[find_slot(metrics, casino_id)];

	if (slot->used)
		return slot;
	if (metrics->slots_used >= DEALERS_MAX)
		return NULL;
	memset(slot, 0, sizeof(*slot));
	text_copy(slot->casino_id, sizeof(slot->casino_id), casino_id);
	metrics->slots_used++;
	/* If an engine is killed before this, the next one fills the slot again. */
	atomic_signal_fence(memory_order_seq_cst);
	slot->used = 1;
	return slot;
}

static int64_t part_of(int64_t now_ms)
{
	return now_ms / (METRICS_RECENT_MS / METRICS_PARTS) + 1;
}

static void count_recent(struct metrics_slot *slot, enum callback_class class, int64_t now_ms)
{
	const int64_t number = part_of(now_ms);
	struct metrics_part *part = &slot->parts[number % METRICS_PARTS];

	if (part->number != number)
		*part = (struct metrics_part){.number = number};
	part->ended[class]++;
}

static void add_recent(const struct metrics_slot *slot, int64_t now_ms,
	struct dealer_metrics *dealer)
{
	const int64_t last = part_of(now_ms);

	for (unsigned int i = 0; i < METRICS_PARTS; i++) {
		const struct metrics_part *part = &slot->parts[i];

		if (!part->number || part->number <= last - METRICS_PARTS || part->number > last)
			continue;
		for (unsigned int class = 0; class < CALLBACK_CLASS_COUNT; class ++)
			dealer->recent[class].count += part->ended[class];
	}
}

static void count_note(struct metrics *metrics, const struct metrics_note *note, int64_t now_ms)
{
	struct metrics_slot *slot = take_slot(metrics, note->casino_id);

	if (slot) {
		slot->ended[note->kind * CALLBACK_CLASS_COUNT + note->class]++;
		count_recent(slot, note->class, now_ms);
		slot->unknown_to_dealer += note->unknown_to_dealer;
		slot->known_to_dealer += note->known_to_dealer;
	}
	if (note->timed)
		histogram_add(&metrics->attempts[note->kind], &histogram_durations_us,
			(uint64_t)note->ms * 1000);
}

void metrics_book(struct metrics *metrics, const struct metrics_notes *notes, int64_t now_ms)
{
	for (uint32_t i = 0; metrics && i < notes->count; i++)
		count_note(metrics, &notes->notes[i], now_ms);
}

void metrics_count(struct metrics *metrics, const char *casino_id, enum callback_kind kind,
	const struct callback_outcome *outcome, int64_t now_ms)
{
	const struct metrics_note note = note_of(casino_id, kind, outcome, true);

	if (metrics)
		count_note(metrics, &note, now_ms);
}

void metrics_batch(struct metrics *metrics, uint32_t commands)
{
	if (metrics)
		histogram_add(&metrics->batches, &histogram_sizes, commands);
}

void metrics_commit(struct metrics *metrics, uint64_t us)
{
	if (metrics)
		histogram_add(&metrics->commits, &histogram_durations_us, us);
}

void metrics_sweep(struct metrics *metrics, const struct moment *now)
{
	if (!metrics)
		return;
	metrics->swept_ms = now->wall_ms;
	metrics->swept_boot_ms = now->boot_ms;
}

bool metrics_ended(const struct metrics *metrics, const char *casino_id, int64_t now_ms,
	struct dealer_metrics *dealer)
{
	const struct metrics_slot *slot =
		metrics ? &metrics->slots[find_slot(metrics, casino_id)] : NULL;

	if (!slot || !slot->used)
		return false;
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT * CALLBACK_CLASS_COUNT; i++)
		dealer->ended[i].count = slot->ended[i];
	add_recent(slot, now_ms, dealer);
	dealer->unknown_to_dealer = slot->unknown_to_dealer;
	dealer->known_to_dealer = slot->known_to_dealer;
	return true;
}

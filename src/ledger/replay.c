#include "ledger/replay.h"

#include "base/log.h"
#include "ledger/ledger.h"
#include "ledger/outbox/aside_page.h"
#include "ledger/rows/keys.h"

#include <string.h>

/* A loop that waits WAIT_MS without work is idle. If it is never idle, a step runs every BUSY_MS. */
#define WAIT_MS 5
#define BUSY_MS 1000
/* Parked and held callbacks that one step looks at. */
#define STEP_LOOK_MAX (4 * REPLAY_STEP_MAX)
/* After a step that failed. */
#define REST_MS 1000
/* After so many steps in turn that failed, the replay fails: a want of memory is over by then. */
#define FAULTS_MAX 5

/* Returns true if an earlier replay of the same dealer runs. */
static bool waits_for_earlier(const struct replay_book *book, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (strcmp(book->list[i].row.filter.casino_id,
			    book->list[at].row.filter.casino_id) == 0)
			return true;
	}
	return false;
}

/* Returns how many callbacks the next step of the replay may make due. */
static uint64_t step_room(const struct ledger *ledger, const struct running_replay *running)
{
	const struct replay *row = &running->row;
	const uint64_t on_its_way = replay_on_its_way(row);
	uint64_t room = REPLAY_STEP_MAX;

	if (room > ledger->replay_rate)
		room = ledger->replay_rate;
	if (on_its_way >= REPLAY_AHEAD_MAX)
		return 0;
	if (room > REPLAY_AHEAD_MAX - on_its_way)
		room = REPLAY_AHEAD_MAX - on_its_way;
	/* As many as the operator was shown, and no more. */
	if (room > row->expected - row->made_due)
		room = row->expected - row->made_due;
	return room;
}

/*
 * Returns true if the replay could make one more due, whatever the time is. It waits while its dealer is being moved:
 * both may have begun in one batch.
 */
static bool may_step(const struct ledger *ledger, uint32_t at)
{
	const struct replay_book *book = &ledger->derived.replays;
	const struct running_replay *running = &book->list[at];

	return !waits_for_earlier(book, at) &&
		!moves_find(&ledger->derived.moves, running->row.filter.casino_id) &&
		(step_room(ledger, running) || running->row.made_due >= running->row.expected);
}

static bool is_able(const struct ledger *ledger)
{
	return ledger->store && !ledger->storage_low && ledger->replay_rate;
}

int replay_wait_ms(const struct ledger *ledger, int64_t boot_ms, int most)
{
	const struct replay_book *book = &ledger->derived.replays;

	for (uint32_t i = 0; i < book->count && is_able(ledger); i++) {
		int64_t left_ms = book->list[i].next_ms - boot_ms;

		if (!may_step(ledger, i))
			continue;
		if (left_ms < WAIT_MS)
			left_ms = WAIT_MS;
		if (left_ms < most)
			most = (int)left_ms;
	}
	return most;
}

/* The callbacks that a step found. */
struct found_parked {
	const struct replay *row;
	struct buffer *events;
	uint64_t room;
	uint64_t last; /* event that was looked at last */
	bool full;     /* there may be more */
};

/* Returns false if the step has found all that it may. */
static bool look_at_callback(struct found_parked *found, const struct callback *callback)
{
	const enum replay_fit fit = replay_fits(&found->row->filter, &found->row->events, callback);

	if (fit == REPLAY_FITS || fit == REPLAY_IS_ADJUSTED) {
		found->room--;
		/* A failed buffer ends the walk; the callback is found again by the next step. */
		return replay_event_add(found->events, callback->event);
	}
	return true;
}

/* Looks at the callbacks of the page. */
static void look_at_page(struct ws *ws, struct found_parked *found, const struct aside_page *page)
{
	for (uint32_t i = 0; i < page->count; i++) {
		const struct callback key = callback_named(page->events[i]);
		const struct callback *callback = ws_get(ws, RECORD_CALLBACK, &key);

		if (!found->room) {
			found->full = true;
			return;
		}
		found->last = page->events[i];
		if (callback && !look_at_callback(found, callback))
			return;
	}
	found->last = page->last;
	found->full = page->more;
}

/*
 * Looks at the parked callbacks of the dealer from the next event on. If one cannot be read, it looks at those
 * before it; STATUS_CORRUPT: there is none before it.
 */
static enum status find_parked(struct store *store, struct ws *ws, struct found_parked *found)
{
	struct aside_page page = {.casino_id = found->row->filter.casino_id,
		.parked_only = true,
		.after = found->row->next_event - 1,
		.to = found->row->filter.last_event,
		.limit = STEP_LOOK_MAX};
	enum status status = aside_page_load(store, ws, &page);

	while (status == STATUS_CORRUPT && page.limit > 1) {
		page.limit /= 2;
		status = aside_page_load(store, ws, &page);
	}
	if (status == STATUS_OK)
		look_at_page(ws, found, &page);
	return found->events->failed ? STATUS_NOMEM : status;
}

/* Takes the next events that were marked one by one. */
static void take_marked(struct found_parked *found)
{
	const struct bytes *events = &found->row->events;

	for (uint32_t i = 0; i < replay_event_count(events); i++) {
		const uint64_t event = replay_event_at(events, i);

		if (event < found->row->next_event)
			continue;
		if (!found->room) {
			found->full = true;
			return;
		}
		found->room--;
		found->last = event;
		replay_event_add(found->events, event);
	}
}

/* Finds the callbacks of the next step. STATUS_CORRUPT: the next one cannot be read. */
static enum status find_step(struct ledger *ledger, const struct running_replay *running,
	struct buffer *events, struct replay_step_cmd *cmd)
{
	struct found_parked found = {.row = &running->row,
		.events = events,
		.room = step_room(ledger, running)};
	enum status status = STATUS_OK;

	found.last = running->row.next_event - 1;
	if (running->row.made_due < running->row.expected) {
		if (running->row.events.len)
			take_marked(&found);
		else
			status = find_parked(ledger->store, &ledger->ws, &found);
	}
	*cmd = (struct replay_step_cmd){.id = running->row.id,
		.from = running->row.next_event,
		.to = found.last + 1,
		.ends = !found.full,
		.events = {events->data, (uint32_t)events->len}};
	if (cmd->ends)
		cmd->to = running->row.filter.last_event + 1;
	return events->failed ? STATUS_NOMEM : status;
}

static struct running_replay *running_named(struct ledger *ledger, uint64_t id)
{
	struct replay_book *book = &ledger->derived.replays;

	for (uint32_t i = 0; i < book->count; i++) {
		if (book->list[i].row.id == id)
			return &book->list[i];
	}
	return NULL;
}

/* Notes a step that failed, and sets the time of the next try. */
static void note_fault(struct ledger *ledger, uint64_t id, uint64_t event, const char *reason,
	const struct moment *now)
{
	struct running_replay *running = running_named(ledger, id);

	log_line(LOG_LEVEL_ERROR, "replay_step_failed", "replay=%llu event=%llu reason=\"%s\"",
		(unsigned long long)id, (unsigned long long)event, reason);
	if (!running)
		return;
	running->faults++;
	running->next_ms = now->boot_ms + REST_MS;
}

/* Runs the step. Returns false if the outcome of the save is unknown. */
static bool run_step(struct ledger *ledger, const struct replay_step_cmd *cmd,
	const struct moment *now)
{
	static struct slot slot;
	struct running_replay *running;

	memset(&slot, 0, sizeof(slot));
	slot.command = COMMAND_REPLAY_STEP;
	slot.cmd.replay_step = *cmd;
	if (ledger_run(ledger, &slot, 1, now) != STATUS_OK)
		return false;
	running = running_named(ledger, cmd->id);
	if (slot.outcome != FRAME_DONE) {
		note_fault(ledger, cmd->id, cmd->from, "a row cannot be loaded or saved", now);
	} else if (slot.result.verdict.refusal == REFUSAL_NONE && running) {
		running->faults = 0;
		/* So that the rate is kept. */
		running->next_ms = now->boot_ms +
			(int64_t)slot.result.replay_step.made_due * 1000 / ledger->replay_rate;
	} else if (running) {
		/* No space: this passes. */
		running->next_ms = now->boot_ms + REST_MS;
	}
	return true;
}

/* Ends the replay: what cannot be read now cannot be read later, either. */
static bool fail_replay(struct ledger *ledger, const struct replay *row, const struct moment *now)
{
	const struct replay_step_cmd cmd = {.id = row->id,
		.from = row->next_event,
		.to = row->next_event,
		.fails = true};

	log_line(LOG_LEVEL_ERROR, "replay_failed",
		"replay=%llu casino_id=%s event=%llu reason=\"a row from this event on cannot be read: run "
		"creditbridgectl check\"",
		(unsigned long long)row->id, row->filter.casino_id,
		(unsigned long long)row->next_event);
	return run_step(ledger, &cmd, now);
}

/* Returns the replay that waits longest for its step, so that none keeps those of other dealers waiting. */
static uint32_t next_replay(const struct ledger *ledger, const struct moment *now)
{
	const struct replay_book *book = &ledger->derived.replays;
	uint32_t at = book->count;

	for (uint32_t i = 0; i < book->count; i++) {
		if (may_step(ledger, i) && book->list[i].next_ms <= now->boot_ms &&
			(at == book->count || book->list[i].next_ms < book->list[at].next_ms))
			at = i;
	}
	return at;
}

bool replay_step(struct ledger *ledger, const struct moment *now)
{
	const struct replay_book *book = &ledger->derived.replays;
	struct replay_step_cmd cmd;
	struct buffer events;
	const uint32_t at = next_replay(ledger, now);
	enum status status;
	bool kept = true;

	if (at == book->count)
		return true;
	ledger->replay_stepped_ms = now->boot_ms;
	if (book->list[at].faults >= FAULTS_MAX)
		return fail_replay(ledger, &book->list[at].row, now);
	buffer_init(&events, (REPLAY_STEP_MAX + 1) * REPLAY_EVENT_BYTES);
	status = find_step(ledger, &book->list[at], &events, &cmd);
	if (status == STATUS_OK)
		kept = run_step(ledger, &cmd, now);
	else
		note_fault(ledger, cmd.id, cmd.to, "a row cannot be read", now);
	buffer_free(&events);
	return kept;
}

bool replay_use_time(struct ledger *ledger, bool idle, const struct moment *now)
{
	if (!is_able(ledger) || !ledger->derived.replays.count ||
		(!idle && now->boot_ms - ledger->replay_stepped_ms < BUSY_MS))
		return true;
	return replay_step(ledger, now);
}

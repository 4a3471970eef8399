#include "ledger/ledger.h"

#include "base/check.h"
#include "base/log.h"
#include "base/pack.h"
#include "base/text.h"
#include "ledger/commands/subject.h"
#include "ledger/rows/dealer_days.h"
#include "ledger/rows/keys.h"

#include <string.h>

/* The most loads that a chain of rows naming each other may take. */
#define LOADS_MAX 8
/* The retry time in answers while disk space is low. */
#define STORAGE_RETRY_S 30

/* After a wrong assumption that rows are new, this many batches look up every row. */
#define DOUBTS 64

/* The result of an attempt to apply and save commands. */
enum run {
	RUN_DONE,
	RUN_AGAIN, /* nothing was changed: run the commands one by one */
	RUN_FULL,  /* nothing was changed: no space */
	RUN_LOST,
};

/*
 * The time of a batch. The clock of the host that served before may have been ahead: the times of the
 * books do not run back because of that.
 */
static struct moment moment_of(const struct ledger *ledger, const struct moment *now)
{
	const int64_t before_ms = ledger->store ? ledger->store->wall_ms : 0;
	struct moment moment = *now;

	if (moment.wall_ms < before_ms && before_ms - moment.wall_ms < LEDGER_CLOCK_BEHIND_MAX_MS)
		moment.wall_ms = before_ms;
	return moment;
}

enum status ledger_init(struct ledger *ledger, struct store *store, uint64_t seed,
	const struct outbox_options *options, const struct moment *now)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->store = store;
	ledger->now = moment_of(ledger, now);
	outbox_options_defaults(&ledger->outbox);
	if (options)
		ledger->outbox = *options;
	ws_init(&ledger->ws);
	dealer_days_keep(&ledger->ws);
	arena_init(&ledger->answers);
	/* A page of LIST ends at half a frame, so that one more row of any size fits. */
	buffer_init(&ledger->rows, FRAME_MAX - 8 * 1024);
	buffer_init(&ledger->cursor, 2 * LIST_KEY_MAX);
	refused_log_init(&ledger->refused_log);
	accepted_calls_init(&ledger->accepted, ledger->now.wall_ms);
	ledger->replay_rate = 50;
	retention_init(&ledger->retention, store, &ledger->ws, &ledger->storage_low);
	ledger->retention.moves = &ledger->derived.moves;
	if (!derived_state_init(&ledger->derived, seed, &ledger->outbox) ||
		!refused_init(&ledger->refused, now))
		return STATUS_NOMEM;
	return store ? derived_state_load(&ledger->derived, store, &ledger->ws, &ledger->outbox,
			       &ledger->now)
		     : STATUS_OK;
}

void ledger_free(struct ledger *ledger)
{
	ws_free(&ledger->ws);
	arena_free(&ledger->answers);
	derived_state_free(&ledger->derived);
	refused_free(&ledger->refused);
	accepted_calls_free(&ledger->accepted);
	refused_log_close(&ledger->refused_log);
	buffer_free(&ledger->rows);
	buffer_free(&ledger->cursor);
}

/* Loads the rows that some commands declare, until they declare no new ones. */
static enum run load_some(struct ledger *ledger, const struct slot *slots, unsigned int count)
{
	struct ws *ws = &ledger->ws;
	enum status status;

	for (unsigned int loads = 0; loads < LOADS_MAX; loads++) {
		const uint64_t reads = ws->reads;

		for (unsigned int i = 0; i < count; i++) {
			const struct command_ops *ops = &command_ops[slots[i].command];

			if (ops->keys)
				ops->keys(&slots[i].cmd, ws);
		}
		if (!ws_pending(ws))
			return ws_faulty(ws) ? RUN_AGAIN : RUN_DONE;
		status = ledger->store->load(ledger->store, ws);
		if (status == STATUS_IO)
			return RUN_LOST;
		if (status)
			return RUN_AGAIN;
		/* They read no loaded row, so they would declare the same rows again. */
		if (ws->reads == reads)
			return ws_faulty(ws) ? RUN_AGAIN : RUN_DONE;
	}
	return RUN_AGAIN;
}

/*
 * Loads the rows that the commands declare. Reduces *count if the first commands have loaded
 * enough; the others wait for a later batch.
 */
static enum run load_batch(struct ledger *ledger, const struct slot *slots, unsigned int *count)
{
	unsigned int from = 0, to;
	enum run ran;

	while (from < *count) {
		to = from + 1;
		while (to < *count && !command_ops[slots[to - 1].command].loads_objects)
			to++;
		ran = load_some(ledger, slots + from, to - from);
		if (ran != RUN_DONE)
			return ran;
		if (ledger->ws.loaded >= LEDGER_BATCH_BYTES)
			*count = to;
		from = to;
	}
	return RUN_DONE;
}

/*
 * Returns true for a later page of an answer, which does not count as another call of the dealer.
 */
static bool goes_on(const struct slot *slot)
{
	return (slot->command == COMMAND_RESULT_INQUIRE && slot->cmd.result_inquire.after_bet) ||
		(slot->command == COMMAND_FEED && slot->cmd.feed.goes_on) ||
		(slot->command == COMMAND_CALLBACK_PAGE && slot->cmd.callback_page.goes_on);
}

/* Returns true for a person below ROLE_ADMIN. Their commands do not count in a dealer's rate limit. */
static bool is_of_staff(const struct slot *slot)
{
	return slot->role != ROLE_NONE && slot->role != ROLE_ADMIN;
}

/* Applies the dealer's rate limit. Every limited command begins with its casino_id. */
static bool admit_by_rate(struct ledger *ledger, struct slot *slot)
{
	const struct command_info *info = &command_infos[slot->command];
	const char *casino_id = (const char *)&slot->cmd + info->cmd_fields[0].offset;
	const struct dealer *dealer;

	if (!info->limited || slot->admitted || goes_on(slot) || is_of_staff(slot))
		return !slot->limited;
	dealer = ws_get(&ledger->ws, RECORD_DEALER, dealer_key_of(casino_id));
	slot->admitted = true;
	slot->limited = dealer && dealer->rate_limit &&
		!limiter_take(&ledger->limiter, casino_id, dealer->rate_limit, ledger->now.boot_ms);
	return !slot->limited;
}

static void refuse_command(struct slot *slot, enum refusal refusal, uint32_t retry_after_s)
{
	memset(&slot->result, 0, command_infos[slot->command].result_size);
	slot->result.verdict.refusal = refusal;
	slot->result.verdict.retry_after_s = retry_after_s;
	slot->outcome = FRAME_DONE;
}

/* Returns false if the dealer of the command is being moved to another cell, or from one. */
static bool admit_by_move(struct ledger *ledger, struct slot *slot)
{
	struct verdict verdict = {.refusal = REFUSAL_NONE};

	slot->moving = subject_is_moving(&ledger->derived.moves, slot->command, &slot->cmd,
		&ledger->ws, &verdict);
	if (!slot->moving)
		return true;
	refuse_command(slot, verdict.refusal, verdict.retry_after_s);
	slot->result.verdict = verdict;
	return false;
}

static void apply_command(struct ledger *ledger, struct slot *slot)
{
	const struct command_ops *ops = &command_ops[slot->command];
	struct apply_context context = {
		.now = ledger->now,
		.peer_uid = slot->peer_uid,
		.link = slot->link,
		.permits = &ledger->derived.permits,
		.schedule = &ledger->derived.schedule,
		.outbox = &ledger->outbox,
		.metrics = ledger->metrics,
		.notes = &ledger->notes,
		.key_book = &ledger->derived.key_book,
		.operator_name = slot->desk.name,
		.operators = &ledger->derived.operators,
		.replays = &ledger->derived.replays,
		.retired = &ledger->retired,
		.moves = &ledger->derived.moves,
		.granted_again = &slot->granted_again,
		.arena = &ledger->answers,
	};

	slot->granted_again = false;
	if (!ops->apply)
		return;
	if (!admit_by_rate(ledger, slot)) {
		refuse_command(slot, REFUSAL_RATE_LIMITED, 1);
		return;
	}
	if (!admit_by_move(ledger, slot))
		return;
	memset(&slot->result, 0, command_infos[slot->command].result_size);
	ops->apply(&slot->cmd, &context, &ledger->ws, &slot->result);
}

/*
 * Looks up the rows that commands assumed to be new and did not write. RUN_AGAIN: one of them
 * exists.
 */
static enum run look_up_supposed(struct ledger *ledger)
{
	struct ws *ws = &ledger->ws;
	enum status status = ws_check(ws) ? ledger->store->load(ledger->store, ws) : STATUS_OK;

	if (status == STATUS_IO)
		return RUN_LOST;
	return status || ws_faulty(ws) || !ws_supposed_right(ws) ? RUN_AGAIN : RUN_DONE;
}

/* Counts the rows of the batch in the sums of days. */
static enum run count_days(struct ledger *ledger)
{
	struct ws *ws = &ledger->ws;
	enum status status = STATUS_OK;

	/* First the dealers, and then the days that follow from their offsets. */
	for (unsigned int loads = 0; loads < 2 && !status; loads++) {
		dealer_days_want(ws);
		if (!ws_pending(ws))
			break;
		status = ledger->store->load(ledger->store, ws);
	}
	if (status == STATUS_IO)
		return RUN_LOST;
	if (!status)
		dealer_days_count(ws);
	return status || ws_faulty(ws) ? RUN_AGAIN : RUN_DONE;
}

/* Returns true if the commands may use the reserved disk space. */
static bool all_conclude(const struct slot *slots, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct command_ops *ops = &command_ops[slots[i].command];

		if (!slots[i].granted_again &&
			(!ops->concludes || !ops->concludes(&slots[i].result)))
			return false;
	}
	return true;
}

/* Applies the rows that were saved to what is held in memory. Returns false if memory is exhausted. */
static bool follow_saved(struct ledger *ledger)
{
	const uint64_t arrivals = ledger->derived.arrivals;

	if (!derived_state_follow(&ledger->derived, &ledger->ws, &ledger->now))
		return false;
	/* The pass under way has passed over the rows of the dealer that arrived. */
	if (ledger->derived.arrivals != arrivals)
		ledger->retention.begun = false;
	return true;
}

/* Applies the commands and saves what they did. */
static enum run apply_and_save(struct ledger *ledger, struct slot *slots, unsigned int count)
{
	struct ws *ws = &ledger->ws;
	enum run checked;

	for (unsigned int i = 0; i < count; i++)
		apply_command(ledger, &slots[i]);
	if (ws_faulty(ws))
		return RUN_AGAIN;
	checked = look_up_supposed(ledger);
	if (checked != RUN_DONE)
		return checked;
	if (!ws->dirty)
		return RUN_DONE;
	if (ledger->storage_low && !all_conclude(slots, count))
		return RUN_FULL;
	checked = count_days(ledger);
	if (checked != RUN_DONE)
		return checked;
	switch (ledger->store->save(ledger->store, ws)) {
	case SAVE_OK:
		ledger->figures.commits++;
		metrics_commit(ledger->metrics, ledger->store->save_us);
		return follow_saved(ledger) ? RUN_DONE : RUN_LOST;
	case SAVE_FULL:
		return RUN_FULL;
	case SAVE_FAULT:
		return RUN_AGAIN;
	case SAVE_LOST:
		break;
	}
	return RUN_LOST;
}

/* Runs some commands as one transaction. Reduces *count if it did not accept all. */
static enum run run_transaction(struct ledger *ledger, struct slot *slots, unsigned int *count)
{
	enum run ran;

	_Static_assert(MOVES_ROOM >= MOVES_MAX + LEDGER_BATCH_MAX, "each command may begin a move");
	CHECK(*count > 0 && *count <= LEDGER_BATCH_MAX);
	ws_reset(&ledger->ws);
	ledger->ws.now = ledger->now;
	ran = load_batch(ledger, slots, count);
	if (ran != RUN_DONE)
		return ran;
	CHECK(*count > 0 && !ws_pending(&ledger->ws));
	permits_mark(&ledger->derived.permits);
	ledger->notes.count = 0;
	ran = apply_and_save(ledger, slots, *count);
	if (ran == RUN_DONE)
		metrics_book(ledger->metrics, &ledger->notes, ledger->now.boot_ms);
	else
		permits_undo(&ledger->derived.permits);
	retired_book(&ledger->refused, &ledger->retired, ran == RUN_DONE);
	key_book_settle(&ledger->derived.key_book, ran == RUN_DONE);
	return ran;
}

/* Runs a batch, first on the assumption that the rows it creates do not exist. */
static enum run run_batch(struct ledger *ledger, struct slot *slots, unsigned int *count)
{
	struct ws *ws = &ledger->ws;
	enum run ran;

	ws->supposing = ledger->doubts == 0;
	ledger->doubts -= ledger->doubts > 0;
	ran = run_transaction(ledger, slots, count);
	if (ran != RUN_AGAIN || !ws->supposed)
		return ran;
	ledger->doubts = DOUBTS;
	ws->supposing = false;
	return run_transaction(ledger, slots, count);
}

static enum run run_alone(struct ledger *ledger, struct slot *slot)
{
	unsigned int one = 1;
	enum run ran;

	ledger->ws.supposing = false;
	ran = run_transaction(ledger, slot, &one);
	if (ran == RUN_FULL) {
		refuse_command(slot, REFUSAL_STORAGE_FULL, STORAGE_RETRY_S);
	} else if (ran == RUN_AGAIN) {
		slot->outcome = FRAME_FAULT;
		log_line(LOG_LEVEL_ERROR, "command_failed",
			"request_id=%s command=%s reason=\"%s\"",
			slot->request_id[0] ? slot->request_id : "-",
			command_infos[slot->command].name,
			ws_faulty(&ledger->ws) ? ledger->ws.fault_text
					       : "a row cannot be loaded or added");
	}
	return ran;
}

static void run_control(struct ledger *ledger, struct slot *slot)
{
	char reason[LOG_QUOTED_MAX];

	memset(&slot->result, 0, command_infos[slot->command].result_size);
	if (slot->command == COMMAND_STATUS) {
		ledger_status(ledger, &slot->result.status);
	} else if (slot->command != COMMAND_RESUME) {
		slot->outcome = FRAME_FORBIDDEN; /* of desk.sock, which never queues it */
	} else if (ledger->store) {
		slot->result.verdict.refusal = REFUSAL_NOT_ALLOWED_NOW;
		text_copy(slot->result.verdict.detail, sizeof(slot->result.verdict.detail),
			"the ledger is not halted");
	} else {
		ledger->resume_asked = true;
		/* Only the log records this: the store, which holds the audit, is not open. */
		log_line(LOG_LEVEL_WARNING, "resume_asked",
			"peer_uid=%u uid=%u login_uid=%u reason=\"%s\"", slot->peer_uid,
			slot->cmd.resume.operator.uid, slot->cmd.resume.operator.login_uid,
			log_quote(reason, slot->cmd.resume.operator.reason));
	}
}

/* Runs one batch of the first @slots. Sets *count to the number of commands it ran. */
static enum run run_part(struct ledger *ledger, struct slot *slots, unsigned int *count)
{
	enum run ran = run_batch(ledger, slots, count);

	for (unsigned int i = 0; i < *count && ran != RUN_DONE && ran != RUN_LOST; i++) {
		if (run_alone(ledger, &slots[i]) == RUN_LOST)
			ran = RUN_LOST;
	}
	return ran;
}

/* Returns false if another ledger may have served since the batch read its rows. */
static bool vouch_answers(struct store *store)
{
	return !store->vouch || store->vouch(store, store->read_lease_ms) == STATUS_OK;
}

/* Like run_part(), and also the commands that do not use the store. */
static enum status run_some(struct ledger *ledger, struct slot *slots, unsigned int *count)
{
	enum run ran = RUN_DONE;

	for (unsigned int i = 0; i < *count; i++) {
		slots[i].outcome = FRAME_DONE;
		slots[i].admitted = slots[i].limited = slots[i].moving = false;
	}
	if (ledger->store) {
		ran = run_part(ledger, slots, count);
		if (ran != RUN_LOST && !vouch_answers(ledger->store))
			ran = RUN_LOST;
	} else {
		for (unsigned int i = 0; i < *count; i++) {
			if (command_infos[slots[i].command].access != ACCESS_CONTROL)
				slots[i].outcome = FRAME_BUSY;
		}
	}
	ledger->figures.batches++;
	metrics_batch(ledger->metrics, *count);
	ledger->figures.commands += *count;
	for (unsigned int i = 0; i < *count; i++) {
		if (command_infos[slots[i].command].access == ACCESS_CONTROL &&
			!command_ops[slots[i].command].read)
			run_control(ledger, &slots[i]);
	}
	return ran == RUN_LOST ? STATUS_IO : STATUS_OK;
}

enum status ledger_run_some(struct ledger *ledger, struct slot *slots, unsigned int *count,
	const struct moment *now)
{
	ledger->now = moment_of(ledger, now);
	arena_reset(&ledger->answers);
	return run_some(ledger, slots, count);
}

enum status ledger_run(struct ledger *ledger, struct slot *slots, unsigned int count,
	const struct moment *now)
{
	enum status status = STATUS_OK;
	unsigned int done = 0, some;

	ledger->now = moment_of(ledger, now);
	arena_reset(&ledger->answers);
	while (done < count && !status) {
		some = count - done;
		status = run_some(ledger, slots + done, &some);
		done += some;
	}
	return status;
}

/*
 * Runs read() of the command. A range that does not decode is a fault of the command, not its
 * result.
 */
static void read_ranges(struct ledger *ledger, struct slot *slot)
{
	const struct command_ops *ops = &command_ops[slot->command];
	struct read_context context = {
		.store = ledger->store,
		.desk = slot->desk.is_set,
		.operator_name = slot->desk.name,
		.peer_uid = slot->peer_uid,
		.ws = &ledger->ws,
		.generation = ledger->derived.generation,
		.transaction_id = ledger->derived.transaction_id,
		.rows = &ledger->rows,
		.cursor = &ledger->cursor,
		.now = ledger->now,
		.permits = &ledger->derived.permits,
		.schedule = &ledger->derived.schedule,
		.metrics = ledger->metrics,
		.status = ledger_status,
		.ledger = ledger,
		.refused = &ledger->refused,
		.refused_log = &ledger->refused_log,
		.storage_low = ledger->storage_low,
		.replay_rate = ledger->replay_rate,
		.recent = &ledger->derived.recent,
		.accepted = &ledger->accepted,
		.moves = &ledger->derived.moves,
	};

	if (!ops->read || slot->outcome != FRAME_DONE || slot->limited || slot->moving)
		return;
	if (slot->command == COMMAND_LIST)
		retention_read(&ledger->retention, slot->cmd.list.record, ledger->now.boot_ms);
	buffer_reset(&ledger->rows);
	buffer_reset(&ledger->cursor);
	memset(&slot->result, 0, command_infos[slot->command].result_size);
	if (ops->read(&slot->cmd, &context, &slot->result) != STATUS_OK)
		slot->outcome = FRAME_FAULT;
}

void ledger_answer(struct ledger *ledger, struct slot *slot, uint64_t tag, struct buffer *out)
{
	struct frame_answer answer = {.command = (uint16_t)slot->command, .tag = tag};
	size_t start;

	read_ranges(ledger, slot);
	if (slot->outcome == FRAME_DONE && !goes_on(slot))
		accepted_calls_note(&ledger->accepted, slot->request_id, slot->command, &slot->cmd,
			&slot->result, ledger->now.wall_ms);
	answer.outcome = (uint16_t)slot->outcome;
	answer.generation = ledger->derived.generation;
	start = frame_open_answer(out, &answer);
	if (slot->outcome == FRAME_DONE)
		pack_record(out, command_infos[slot->command].result_fields, &slot->result);
	frame_close(out, start);
}

/* The context of schedule_may(). */
struct due_room {
	struct permits *permits;
	int64_t now_ms;
};

static bool has_room_now(void *context, const char *casino_id, uint32_t already)
{
	const struct due_room *room = context;

	return permits_has_room(room->permits, casino_id, already, room->now_ms);
}

bool ledger_has_due(struct ledger *ledger, int64_t boot_ms)
{
	struct due_room room = {&ledger->derived.permits, boot_ms};

	return ledger->store &&
		schedule_has_due(&ledger->derived.schedule, boot_ms, has_room_now, &room);
}

void ledger_link_gone(struct ledger *ledger, uint64_t link)
{
	schedule_owner_gone(&ledger->derived.schedule, link);
}

uint64_t ledger_link_overdue(const struct ledger *ledger, int64_t boot_ms)
{
	return schedule_overdue_owner(&ledger->derived.schedule, boot_ms);
}

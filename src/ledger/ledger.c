#include "ledger/ledger.h"

#include "base/log.h"
#include "base/pack.h"
#include "base/text.h"

#include <string.h>

/* A chain of rows that name each other ends after this many loads. */
#define LOADS_MAX 4
/* What a caller is told to wait when the disk is short of space. */
#define STORAGE_RETRY_S 30

/* What became of a try to apply and save some commands. */
enum run {
	RUN_DONE,
	RUN_AGAIN, /* nothing was changed: to be run one by one */
	RUN_FULL,  /* nothing was changed: no space */
	RUN_LOST,
};

bool ledger_init(struct ledger *ledger, struct store *store, uint64_t seed)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->store = store;
	ledger->generation = seed ? seed : 1;
	ws_init(&ledger->ws);
	buffer_init(&ledger->rows, FRAME_MAX / 2 + 32 * 1024);
	buffer_init(&ledger->cursor, 2 * LIST_KEY_MAX);
	if (!store)
		return true;
	counter_want(&ledger->ws, "transaction_id");
	counter_want(&ledger->ws, "dealers");
	if (store->load(store, &ledger->ws) != STATUS_OK)
		return false;
	ledger->transaction_id = counter_read(&ledger->ws, "transaction_id");
	ledger->figures.dealers = counter_read(&ledger->ws, "dealers");
	return !ws_faulty(&ledger->ws);
}

void ledger_free(struct ledger *ledger)
{
	ws_free(&ledger->ws);
	buffer_free(&ledger->rows);
	buffer_free(&ledger->cursor);
}

/* Loads what the commands declare, until they declare nothing new. */
static enum run load(struct ledger *ledger, struct slot *slots, unsigned int count)
{
	struct ws *ws = &ledger->ws;
	enum status status;

	for (unsigned int loads = 0; loads < LOADS_MAX; loads++) {
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
	}
	return RUN_AGAIN;
}

/* The dealer's rate limit. Every limited command begins with its casino_id. */
static bool admit(struct ledger *ledger, struct slot *slot, int64_t boot_ms)
{
	const struct command_info *info = &command_infos[slot->command];
	const char *casino_id = (const char *)&slot->cmd + info->cmd_fields[0].offset;
	const struct dealer *dealer;
	struct dealer key;

	if (!info->limited || slot->admitted)
		return !slot->limited;
	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), casino_id);
	dealer = ws_get(&ledger->ws, RECORD_DEALER, &key);
	slot->admitted = true;
	slot->limited = dealer && dealer->rate_limit &&
		!limiter_take(&ledger->limiter, casino_id, dealer->rate_limit, boot_ms);
	return !slot->limited;
}

static void refuse(struct slot *slot, enum refusal refusal, uint32_t retry_after_s)
{
	memset(&slot->result, 0, command_infos[slot->command].result_size);
	slot->result.verdict.refusal = refusal;
	slot->result.verdict.retry_after_s = retry_after_s;
	slot->outcome = FRAME_DONE;
}

static void apply(struct ledger *ledger, struct slot *slot, int64_t now_ms, int64_t boot_ms)
{
	const struct command_ops *ops = &command_ops[slot->command];
	struct apply_context context = {.now_ms = now_ms, .peer_uid = slot->peer_uid};

	if (!ops->apply)
		return;
	if (!admit(ledger, slot, boot_ms)) {
		refuse(slot, REFUSAL_RATE_LIMITED, 1);
		return;
	}
	memset(&slot->result, 0, command_infos[slot->command].result_size);
	ops->apply(&slot->cmd, &context, &ledger->ws, &slot->result);
}

/* After a save: keeps what the ledger holds in memory in step with the rows. */
static void note_saved(struct ledger *ledger)
{
	for (const struct ws_row *row = ledger->ws.first; row; row = row->next) {
		const struct counter *counter = row->data;

		if (!row->dirty)
			continue;
		if (row->record == RECORD_DEALER || row->record == RECORD_CLIENT)
			ledger->generation++;
		if (row->record != RECORD_COUNTER)
			continue;
		if (strcmp(counter->name, "transaction_id") == 0)
			ledger->transaction_id = counter->value;
		else if (strcmp(counter->name, "dealers") == 0)
			ledger->figures.dealers = counter->value;
	}
}

/* Applies and saves some commands as one transaction. */
static enum run run(struct ledger *ledger, struct slot *slots, unsigned int count, int64_t now_ms,
	int64_t boot_ms)
{
	struct ws *ws = &ledger->ws;
	enum run loaded;

	ws_reset(ws);
	loaded = load(ledger, slots, count);
	if (loaded != RUN_DONE)
		return loaded;
	for (unsigned int i = 0; i < count; i++)
		apply(ledger, &slots[i], now_ms, boot_ms);
	if (ws_faulty(ws))
		return RUN_AGAIN;
	if (!ws->dirty)
		return RUN_DONE;
	if (ledger->storage_low)
		return RUN_FULL;
	switch (ledger->store->save(ledger->store, ws)) {
	case SAVE_OK:
		ledger->figures.commits++;
		note_saved(ledger);
		return RUN_DONE;
	case SAVE_FULL:
		return RUN_FULL;
	case SAVE_FAULT:
		return RUN_AGAIN;
	case SAVE_LOST:
		break;
	}
	return RUN_LOST;
}

static enum run run_alone(struct ledger *ledger, struct slot *slot, int64_t now_ms, int64_t boot_ms)
{
	enum run ran = run(ledger, slot, 1, now_ms, boot_ms);

	if (ran == RUN_FULL) {
		refuse(slot, REFUSAL_STORAGE_FULL, STORAGE_RETRY_S);
	} else if (ran == RUN_AGAIN) {
		slot->outcome = FRAME_FAULT;
		log_line(LOG_LEVEL_ERROR, "command_failed", "command=%s reason=\"%s\"",
			command_infos[slot->command].name,
			ws_faulty(&ledger->ws) ? ledger->ws.fault_text : "a row cannot be loaded or added");
	}
	return ran;
}

static void control(struct ledger *ledger, struct slot *slot, int64_t boot_ms)
{
	struct store_figures figures = {0, 0};

	memset(&slot->result, 0, command_infos[slot->command].result_size);
	if (slot->command == COMMAND_STATUS) {
		if (ledger->store)
			ledger->store->figures(ledger->store, &figures);
		slot->result.status = ledger->figures;
		slot->result.status.halted = !ledger->store;
		slot->result.status.storage_low = ledger->storage_low;
		slot->result.status.schema = STORE_SCHEMA;
		slot->result.status.last_transaction_id = ledger->transaction_id;
		slot->result.status.log_bytes = figures.log_bytes;
		slot->result.status.checkpoints = figures.checkpoints;
		slot->result.status.uptime_ms = (uint64_t)(boot_ms - ledger->started_ms);
	} else if (ledger->store) {
		slot->result.verdict.refusal = REFUSAL_NOT_ALLOWED_NOW;
		text_copy(slot->result.verdict.detail, sizeof(slot->result.verdict.detail),
			"the ledger is not halted");
	} else {
		ledger->resume_asked = true;
		/* The audit is in the store, which is not open. */
		log_line(LOG_LEVEL_WARNING, "resume_asked", "peer_uid=%u uid=%u login_uid=%u",
			slot->peer_uid, slot->cmd.resume.operator.uid,
			slot->cmd.resume.operator.login_uid);
	}
}

enum status ledger_run(struct ledger *ledger, struct slot *slots, unsigned int count,
	int64_t now_ms, int64_t boot_ms)
{
	enum run ran = RUN_DONE;

	for (unsigned int i = 0; i < count; i++) {
		slots[i].outcome = FRAME_DONE;
		slots[i].admitted = slots[i].limited = false;
	}
	ledger->figures.batches++;
	ledger->figures.commands += count;
	if (!ledger->store) {
		for (unsigned int i = 0; i < count; i++) {
			if (command_infos[slots[i].command].access != ACCESS_CONTROL)
				slots[i].outcome = FRAME_BUSY;
		}
	} else {
		ran = run(ledger, slots, count, now_ms, boot_ms);
		for (unsigned int i = 0; i < count && ran != RUN_DONE && ran != RUN_LOST; i++) {
			if (run_alone(ledger, &slots[i], now_ms, boot_ms) == RUN_LOST)
				ran = RUN_LOST;
		}
	}
	for (unsigned int i = 0; i < count; i++) {
		if (command_infos[slots[i].command].access == ACCESS_CONTROL)
			control(ledger, &slots[i], boot_ms);
	}
	return ran == RUN_LOST ? STATUS_IO : STATUS_OK;
}

/* Runs the command's read(). A range that does not decode is the command's fault, not its result. */
static void read_ranges(struct ledger *ledger, struct slot *slot)
{
	const struct command_ops *ops = &command_ops[slot->command];
	struct read_context context = {
		.store = ledger->store,
		.generation = ledger->generation,
		.transaction_id = ledger->transaction_id,
		.rows = &ledger->rows,
		.cursor = &ledger->cursor,
	};

	if (!ops->read || slot->outcome != FRAME_DONE)
		return;
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
	answer.outcome = (uint16_t)slot->outcome;
	answer.generation = ledger->generation;
	start = frame_open_answer(out, &answer);
	if (slot->outcome == FRAME_DONE)
		pack_record(out, command_infos[slot->command].result_fields, &slot->result);
	frame_close(out, start);
}

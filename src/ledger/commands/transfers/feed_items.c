#include "ledger/commands/transfers/feed_items.h"

#include "base/pack.h"
#include "ledger/rows/keys.h"
#include "link/frame.h"

/* Items whose rows are loaded at a time. */
#define FEED_STEP 16
/* Bounds of one answer, and of what is loaded for it: a round may have 160 KiB. */
#define FEED_ANSWER_BYTES (FRAME_MAX / 2)
#define FEED_LOADED_BYTES (512 * 1024)

static struct callback callback_key(uint64_t event)
{
	struct callback key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	return key;
}

static void want_bet(struct ws *ws, const struct transaction *entry)
{
	const struct bet key = bet_named(entry->player_id, entry->game_id, entry->bet_number);

	ws_want_without_object(ws, RECORD_BET, &key);
}

static bool fill_bet(struct ws *ws, const struct transaction *entry, struct feed_item *item)
{
	const struct bet key = bet_named(entry->player_id, entry->game_id, entry->bet_number);
	const struct bet *bet = ws_get(ws, RECORD_BET, &key);

	if (bet)
		feed_item_bet(item, bet);
	return bet;
}

static void want_round(struct ws *ws, const struct transaction *entry)
{
	const struct round key = round_named(entry->player_id, entry->game_id);
	const struct round *round;
	struct callback callback;

	ws_want(ws, RECORD_ROUND, &key);
	round = ws_loaded(ws, RECORD_ROUND, &key) ? ws_get(ws, RECORD_ROUND, &key) : NULL;
	if (!round || !round->event)
		return;
	callback = callback_key(round->event);
	ws_want(ws, RECORD_CALLBACK, &callback);
}

static bool fill_round(struct ws *ws, const struct transaction *entry, struct feed_item *item)
{
	const struct round key = round_named(entry->player_id, entry->game_id);
	const struct round *round = ws_get(ws, RECORD_ROUND, &key);
	struct callback callback = callback_key(round ? round->event : 0);

	if (round)
		feed_item_round(item, round,
			round->event ? ws_get(ws, RECORD_CALLBACK, &callback) : NULL);
	return round;
}

static struct correction correction_key(const struct transaction *entry)
{
	struct correction key;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), entry->player_id);
	text_copy(key.game_id, sizeof(key.game_id), entry->game_id);
	key.revision = entry->bet_number;
	return key;
}

static void want_correction(struct ws *ws, const struct transaction *entry)
{
	const struct correction key = correction_key(entry);
	const struct correction *correction;
	struct callback callback;

	ws_want(ws, RECORD_CORRECTION, &key);
	correction =
		ws_loaded(ws, RECORD_CORRECTION, &key) ? ws_get(ws, RECORD_CORRECTION, &key) : NULL;
	if (!correction || !correction->event)
		return;
	callback = callback_key(correction->event);
	ws_want(ws, RECORD_CALLBACK, &callback);
}

static bool fill_correction(struct ws *ws, const struct transaction *entry, struct feed_item *item)
{
	const struct correction key = correction_key(entry);
	const struct correction *correction = ws_get(ws, RECORD_CORRECTION, &key);
	struct callback callback = callback_key(correction ? correction->event : 0);

	if (correction)
		feed_item_correction(item, correction,
			correction->event ? ws_get(ws, RECORD_CALLBACK, &callback) : NULL);
	return correction;
}

/* How the rows of each subject are declared, in two passes, and read. NULL: there are none. */
static const struct {
	void (*want)(struct ws *ws, const struct transaction *entry);
	bool (*fill)(struct ws *ws, const struct transaction *entry, struct feed_item *item);
} subjects[FEED_SUBJECT_COUNT] = {
	[FEED_BET] = {want_bet, fill_bet},
	[FEED_ROUND] = {want_round, fill_round},
	[FEED_CORRECTION] = {want_correction, fill_correction},
};

static void want_item(struct ws *ws, const struct transaction *entry)
{
	const enum feed_subject subject = feed_subject_of(entry->kind);
	const struct player_name name = player_id_named(entry->player_id);

	ws_want(ws, RECORD_PLAYER_NAME, &name);
	if (subjects[subject].want)
		subjects[subject].want(ws, entry);
}

/* Packs the item of @entry. Returns false if a row that it needs is missing. */
static bool pack_item(const struct read_context *context, const struct transaction *entry)
{
	const enum feed_subject subject = feed_subject_of(entry->kind);
	const struct player_name key = player_id_named(entry->player_id);
	const struct player_name *name = ws_get(context->ws, RECORD_PLAYER_NAME, &key);
	struct feed_item item;

	if (!name)
		return false;
	feed_item_begin(&item, entry, name->user_id);
	if (subjects[subject].fill && !subjects[subject].fill(context->ws, entry, &item))
		return false;
	return pack_record(context->rows, feed_item_fields, &item);
}

/* Loads the rows of some items: first those that the transactions name, then those these name. */
static enum status load_items(const struct read_context *context, const struct transaction *rows,
	uint32_t count)
{
	enum status status = STATUS_OK;

	for (unsigned int pass = 0; pass < 2 && !status; pass++) {
		for (uint32_t i = 0; i < count; i++)
			want_item(context->ws, &rows[i]);
		if (ws_pending(context->ws))
			status = context->store->load(context->store, context->ws);
	}
	return status;
}

static bool is_full(const struct read_context *context)
{
	return context->rows->len > FEED_ANSWER_BYTES || context->ws->loaded > FEED_LOADED_BYTES;
}

enum status feed_items_answer(const struct read_context *context, const struct transaction *rows,
	uint32_t count, struct feed_result *result)
{
	enum status status;
	uint32_t step;

	ws_reset(context->ws);
	for (uint32_t at = 0; at < count; at += step) {
		if (is_full(context)) {
			result->next = rows[at - 1].transaction_id;
			result->complete = false;
			break;
		}
		step = count - at < FEED_STEP ? count - at : FEED_STEP;
		status = load_items(context, rows + at, step);
		if (status)
			return status;
		for (uint32_t i = 0; i < step; i++) {
			if (!pack_item(context, &rows[at + i]))
				return context->rows->failed ? STATUS_NOMEM : STATUS_CORRUPT;
		}
		result->count += step;
	}
	result->items = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return ws_faulty(context->ws) ? STATUS_NOMEM : STATUS_OK;
}

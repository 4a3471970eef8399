#include "ledger/rows/row_owner.h"

#include "ledger/rows/keys.h"

#include <stdio.h>
#include <string.h>

/* What names the dealer of a row. */
enum named_by {
	BY_NOTHING, /* the row belongs to the cell */
	BY_CASINO,  /* its member casino_id */
	BY_PLAYER,  /* its member player_id */
	BY_EVENT,   /* its member event: the callback */
	BY_REQUEST, /* of a request: its owner, or its player */
	BY_KEY,     /* of a retired key: its owner */
	BY_ITEMS,   /* of a batch of results: the keys of its items */
};

static const enum named_by named_by[RECORD_COUNT] = {
	[RECORD_DEALER] = BY_CASINO,
	[RECORD_TOTAL] = BY_CASINO,
	[RECORD_PLAYER] = BY_CASINO,
	[RECORD_PLAYER_NAME] = BY_CASINO,
	[RECORD_REQUEST] = BY_REQUEST,
	[RECORD_TRANSACTION] = BY_CASINO,
	[RECORD_ROUND] = BY_CASINO,
	[RECORD_BET] = BY_CASINO,
	[RECORD_CALLBACK] = BY_CASINO,
	[RECORD_CALLBACK_BODY] = BY_EVENT,
	[RECORD_ATTEMPT] = BY_EVENT,
	[RECORD_DUE] = BY_CASINO,
	[RECORD_LIFETIME] = BY_PLAYER,
	[RECORD_DAY] = BY_PLAYER,
	[RECORD_CORRECTION] = BY_CASINO,
	[RECORD_CANCELLATION] = BY_CASINO,
	[RECORD_RESULT_BATCH] = BY_ITEMS,
	[RECORD_DEALER_DAY] = BY_CASINO,
	[RECORD_ANSWER] = BY_EVENT,
	[RECORD_RETIRED_DIGEST] = BY_KEY,
	[RECORD_ASIDE] = BY_CASINO,
	[RECORD_GAME_PLAYER] = BY_PLAYER,
	[RECORD_PLAYER_BET] = BY_PLAYER,
};

static const char *text_of(enum record record, const void *row, const char *member)
{
	return (const char *)row + field_find(record_infos[record].fields, member)->offset;
}

static struct callback callback_key(enum record record, const void *row)
{
	uint64_t event;

	memcpy(&event, (const char *)row + field_find(record_infos[record].fields, "event")->offset,
		sizeof(event));
	return callback_named(event);
}

static void want_player(struct ws *ws, const char *player_id)
{
	const struct player_name key = player_id_named(player_id);

	if (player_id[0])
		ws_want(ws, RECORD_PLAYER_NAME, &key);
}

static bool player_is_of(struct ws *ws, const char *player_id, const char *casino_id)
{
	const struct player_name key = player_id_named(player_id);
	const struct player_name *name = player_id[0] ? ws_get(ws, RECORD_PLAYER_NAME, &key) : NULL;

	return name && strcmp(name->casino_id, casino_id) == 0;
}

/* Names the key of the item at @place. Returns false if it is no key. */
static bool name_item(const struct result_batch *batch, uint32_t place, struct request *key)
{
	char id[REQUEST_KEY_SIZE];
	const int len = snprintf(id, sizeof(id), "%s#%u", batch->request_transaction_id, place);

	*key = request_named(SCOPE_BATCH, batch->client_id, id);
	return len > 0 && (size_t)len < sizeof(id);
}

static uint32_t item_count(const struct result_batch *batch)
{
	return batch->count < BATCH_RESULTS_MAX ? batch->count : BATCH_RESULTS_MAX;
}

static const struct request *item_of(struct ws *ws, const struct result_batch *batch,
	uint32_t place)
{
	struct request key;

	return name_item(batch, place, &key) && ws_loaded(ws, RECORD_REQUEST, &key)
		? ws_get(ws, RECORD_REQUEST, &key)
		: NULL;
}

static void want_items(struct ws *ws, const struct result_batch *batch)
{
	const struct request *item;
	struct request key;

	for (uint32_t place = 0; place < item_count(batch); place++) {
		if (name_item(batch, place, &key))
			ws_want(ws, RECORD_REQUEST, &key);
		item = item_of(ws, batch, place);
		if (item)
			want_player(ws, item->player_id);
	}
}

/* Returns true if the batch has an item of the dealer, or with @is_its false one of another dealer. */
static bool has_item(struct ws *ws, const struct result_batch *batch, const char *casino_id,
	bool is_its)
{
	const struct request *item;

	for (uint32_t place = 0; place < item_count(batch); place++) {
		item = item_of(ws, batch, place);
		if (item && player_is_of(ws, item->player_id, casino_id) == is_its)
			return true;
	}
	return false;
}

bool batch_is_of_others(struct ws *ws, const struct result_batch *batch, const char *casino_id)
{
	return has_item(ws, batch, casino_id, false);
}

bool row_has_owner(enum record record)
{
	return named_by[record] != BY_NOTHING;
}

void row_owner_want(struct ws *ws, enum record record, const void *row)
{
	const struct request *request = row;
	struct callback callback;

	switch (named_by[record]) {
	case BY_PLAYER:
		want_player(ws, text_of(record, row, "player_id"));
		break;
	case BY_REQUEST:
		if (scope_is_of_client(request->scope))
			want_player(ws, request->player_id);
		break;
	case BY_EVENT:
		callback = callback_key(record, row);
		ws_want(ws, RECORD_CALLBACK, &callback);
		break;
	case BY_ITEMS:
		want_items(ws, row);
		break;
	default:
		break;
	}
}

static bool callback_is_of(struct ws *ws, enum record record, const void *row,
	const char *casino_id)
{
	const struct callback key = callback_key(record, row);
	const struct callback *callback = ws_get(ws, RECORD_CALLBACK, &key);

	return callback && strcmp(callback->casino_id, casino_id) == 0;
}

bool row_is_of(struct ws *ws, enum record record, const void *row, const char *casino_id)
{
	const struct request *request = row;
	const struct retired_digest *retired = row;

	switch (named_by[record]) {
	case BY_CASINO:
		return strcmp(text_of(record, row, "casino_id"), casino_id) == 0;
	case BY_PLAYER:
		return player_is_of(ws, text_of(record, row, "player_id"), casino_id);
	case BY_REQUEST:
		return scope_is_of_client(request->scope)
			? player_is_of(ws, request->player_id, casino_id)
			: strcmp(request->owner, casino_id) == 0;
	case BY_EVENT:
		return callback_is_of(ws, record, row, casino_id);
	case BY_KEY:
		return !retired->of_client && strcmp(retired->owner, casino_id) == 0;
	case BY_ITEMS:
		return has_item(ws, row, casino_id, true);
	case BY_NOTHING:
		break;
	}
	return false;
}

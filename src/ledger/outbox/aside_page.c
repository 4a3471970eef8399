#include "ledger/outbox/aside_page.h"

#include "base/check.h"
#include "base/pack.h"
#include "base/text.h"
#include "ledger/rows/keys.h"

#include <string.h>

#define KEY_MAX (CASINO_ID_SIZE + 16)

static bool note_event(void *context, struct bytes key, const void *row)
{
	struct aside_page *page = context;
	const struct aside *aside = row;

	(void)key;
	if (page->to && aside->event > page->to)
		return false;
	page->more = page->count == page->limit || page->looked == ASIDE_LOOK_MAX;
	if (page->more)
		return false;
	page->looked++;
	page->last = aside->event;
	if (!page->parked_only || !aside->held)
		page->events[page->count++] = aside->event;
	return true;
}

static enum status read_events(struct store *store, struct aside_page *page)
{
	struct store_range range = {.record = RECORD_ASIDE, .reverse = page->reverse};
	struct buffer prefix, after;
	struct aside key;
	enum status status = STATUS_NOMEM;

	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), page->casino_id);
	key.event = page->after;
	buffer_init(&prefix, KEY_MAX);
	buffer_init(&after, KEY_MAX);
	if (pack_key(&prefix, aside_fields, 1, &key) &&
		(!page->after || pack_key(&after, aside_fields, 2, &key))) {
		range.prefix = (struct bytes){prefix.data, (uint32_t)prefix.len};
		range.after = (struct bytes){after.data, (uint32_t)after.len};
		status = store->scan(store, &range, note_event, page);
	}
	buffer_free(&prefix);
	buffer_free(&after);
	return status;
}

enum status aside_page_load(struct store *store, struct ws *ws, struct aside_page *page)
{
	struct callback key;
	enum status status;

	CHECK(page->limit && page->limit <= ASIDE_PAGE_MAX);
	page->looked = page->count = 0;
	page->last = page->after;
	page->more = false;
	ws_reset(ws);
	status = read_events(store, page);
	for (uint32_t i = 0; i < page->count && !status; i++) {
		key = callback_named(page->events[i]);
		ws_want(ws, RECORD_CALLBACK, &key);
	}
	if (!status && ws_pending(ws))
		status = store->load(store, ws);
	return !status && ws_faulty(ws) ? STATUS_NOMEM : status;
}

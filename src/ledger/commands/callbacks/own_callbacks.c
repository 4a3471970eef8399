/*
 * own_callbacks - a dealer reads its undelivered callbacks and asks for one again (contract,
 * "Callbacks of a dealer").
 */
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "ledger/outbox/aside_page.h"
#include "ledger/outbox/outbox.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/keys.h"
#include "link/client.h"

#include <stdio.h>
#include <stdlib.h>

#define RESEND_ACTION "callback resend"

_Static_assert(FEED_ROWS_MAX <= ASIDE_PAGE_MAX,
	"a page of own callbacks is one of those that are set aside");

/* The events of one page. */
struct own_page {
	const struct callback_page_cmd *cmd;
	uint32_t limit;
	uint32_t looked_at;
	uint64_t last; /* event that was looked at last */
	bool more;     /* another row follows */
	uint32_t count;
	struct callback rows[FEED_ROWS_MAX];
};

/* Counts a row. Returns false if the page is full. */
static bool count_row(struct own_page *page, uint64_t event)
{
	if (page->looked_at == FEED_ROWS_MAX || page->count == page->limit) {
		page->more = true;
		return false;
	}
	page->looked_at++;
	page->last = event;
	return true;
}

static struct due own_due(uint64_t event)
{
	struct due key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	return key;
}

/* Only the event is known; the callback is loaded afterwards. */
static bool visit_due(void *arg, struct bytes key, const void *row)
{
	const struct due *due = row;
	struct own_page *page = arg;

	(void)key;
	if (!count_row(page, due->event))
		return false;
	if (strcmp(due->casino_id, page->cmd->casino_id) == 0)
		page->rows[page->count++].event = due->event;
	return true;
}

static enum status walk_due(const struct read_context *context, struct own_page *page)
{
	const struct due key = own_due(page->cmd->after);
	struct store_range range = {.record = RECORD_DUE, .reverse = true};

	if (key.event) {
		range.after = link_list_key(context->cursor, range.record, 1, &key);
		if (context->cursor->failed)
			return STATUS_NOMEM;
	}
	return context->store->scan(context->store, &range, visit_due, page);
}

static enum status walk_parked(const struct read_context *context, struct own_page *page)
{
	/* A held one is not sent by asking for it. */
	struct aside_page aside = {.casino_id = page->cmd->casino_id,
		.parked_only = true,
		.reverse = true,
		.after = page->cmd->after,
		.limit = page->limit};
	const enum status status = aside_page_load(context->store, context->ws, &aside);

	for (uint32_t i = 0; i < aside.count && !status; i++) {
		const struct callback key = callback_named(aside.events[i]);
		const struct callback *callback = ws_get(context->ws, RECORD_CALLBACK, &key);

		if (callback && callback->state == CALLBACK_PARKED)
			page->rows[page->count++] = *callback;
	}
	page->last = aside.last;
	page->more = aside.more;
	return status;
}

/* Loads what the items need: the player's name, and of a due callback its rows. */
static enum status load_rows(const struct read_context *context, struct own_page *page)
{
	enum status status = STATUS_OK;
	struct player_name name;
	struct due due;

	for (uint32_t i = 0; i < page->count && page->cmd->state == CALLBACK_DUE; i++) {
		due = own_due(page->rows[i].event);
		ws_want(context->ws, RECORD_CALLBACK, &page->rows[i]);
		ws_want(context->ws, RECORD_DUE, &due);
	}
	if (ws_pending(context->ws))
		status = context->store->load(context->store, context->ws);
	for (uint32_t i = 0; i < page->count && !status; i++) {
		const struct callback *callback = page->cmd->state == CALLBACK_DUE
			? ws_get(context->ws, RECORD_CALLBACK, &page->rows[i])
			: NULL;

		if (callback)
			page->rows[i] = *callback;
		name = player_id_named(page->rows[i].player_id);
		ws_want(context->ws, RECORD_PLAYER_NAME, &name);
	}
	if (!status && ws_pending(context->ws))
		status = context->store->load(context->store, context->ws);
	return status;
}

static void pack_callback(const struct read_context *context, const struct own_page *page,
	const struct callback *callback)
{
	const struct player_name name_key = player_id_named(callback->player_id);
	const struct player_name *name = ws_get(context->ws, RECORD_PLAYER_NAME, &name_key);
	const struct due due_key = own_due(callback->event);
	const struct due *due =
		page->cmd->state == CALLBACK_DUE ? ws_get(context->ws, RECORD_DUE, &due_key) : NULL;
	struct callback_item item;

	memset(&item, 0, sizeof(item));
	item.event = callback->event;
	item.kind = callback->kind;
	item.state = callback->state;
	item.attempts = callback->attempts;
	item.created_ms = callback->created_ms;
	item.next_ms = due && !due->sending ? due->due_ms : 0;
	text_copy(item.user_id, sizeof(item.user_id), name ? name->user_id : "");
	text_copy(item.player_id, sizeof(item.player_id), callback->player_id);
	text_copy(item.game_id, sizeof(item.game_id), callback->game_id);
	item.last_http_status = callback->last_http_status;
	pack_record(context->rows, callback_item_fields, &item);
}

static enum status answer_own(const struct read_context *context, struct own_page *page,
	struct callback_page_result *result)
{
	enum status status = load_rows(context, page);

	if (status)
		return status;
	for (uint32_t i = 0; i < page->count; i++)
		pack_callback(context, page, &page->rows[i]);
	result->count = page->count;
	result->next = page->last;
	result->complete = !page->more;
	result->items = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return context->rows->failed || ws_faulty(context->ws) ? STATUS_NOMEM : STATUS_OK;
}

/* The dealer's row, for its rate limit. */
void callback_page_keys(const void *arg, struct ws *ws)
{
	const struct callback_page_cmd *cmd = arg;

	ws_want(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
}

void callback_page_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	(void)arg;
	(void)context;
	(void)ws;
	(void)out;
}

enum status callback_page_read(const void *arg, const struct read_context *context, void *out)
{
	const struct callback_page_cmd *cmd = arg;
	struct callback_page_result *result = out;
	struct own_page *page;
	enum status status;

	if (cmd->state != CALLBACK_PARKED && cmd->state != CALLBACK_DUE) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return STATUS_OK;
	}
	ws_reset(context->ws);
	ws_want(context->ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	status = context->store->load(context->store, context->ws);
	if (status)
		return status;
	if (!ws_get(context->ws, RECORD_DEALER, dealer_key_of(cmd->casino_id))) {
		result->verdict.refusal = REFUSAL_INVALID_SIGNATURE;
		return STATUS_OK;
	}
	page = calloc(1, sizeof(*page));
	if (!page)
		return STATUS_NOMEM;
	page->cmd = cmd;
	page->limit = cmd->limit && cmd->limit < FEED_ROWS_MAX ? cmd->limit : FEED_ROWS_MAX;
	page->last = cmd->after;
	status = cmd->state == CALLBACK_PARKED ? walk_parked(context, page)
					       : walk_due(context, page);
	if (!status)
		status = answer_own(context, page, result);
	free(page);
	return status;
}

/* ---- asking for one again */

/* The audit has no person for it: the reason names the dealer. */
static struct operator operator_of(const struct callback_resend_cmd *cmd)
{
	struct operator dealer = {.uid = UINT32_MAX, .login_uid = UINT32_MAX};

	text_copy(dealer.operation_id, sizeof(dealer.operation_id), cmd->operation_id);
	snprintf(dealer.reason, sizeof(dealer.reason), "asked by dealer %s", cmd->casino_id);
	return dealer;
}

void callback_resend_keys(const void *arg, struct ws *ws)
{
	const struct callback_resend_cmd *cmd = arg;
	const struct operator dealer = operator_of(cmd);

	ws_want(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	audit_keys(ws, &dealer);
	outbox_want(ws, cmd->event);
}

/* Returns how long the dealer must wait before it may ask again. */
static int64_t resend_pause_left_ms(const struct callback *callback, int64_t now_ms)
{
	const int64_t pause_ms =
		callback->attempts < RESEND_OFTEN ? RESEND_PAUSE_MS : RESEND_LATE_PAUSE_MS;
	int64_t left_ms = callback->resent_ms + pause_ms - now_ms;

	if (!callback->resent_ms || left_ms <= 0)
		return 0;
	/* The wall clock may have been set back. */
	return left_ms < pause_ms ? left_ms : pause_ms;
}

/* Returns true if the callback would be sent at once. A refund is not, before its first time. */
static bool may_be_resent(const struct delivery *delivery, const struct dealer *dealer,
	const struct moment *now)
{
	const struct callback *callback = &delivery->callback;
	const bool waits = delivery->scheduled && !callback->attempts &&
		due_boot_ms(&delivery->due, now) > now->boot_ms;

	return (callback->state == CALLBACK_PARKED || callback->state == CALLBACK_DUE) &&
		!callback->adjusted_by && !dealer->callbacks_held_ms && !waits;
}

/* Makes the callback due, and records it. */
static void resend_callback(struct ws *ws, const struct apply_context *context,
	const struct callback_resend_cmd *cmd, struct delivery *delivery,
	struct callback_resend_result *result)
{
	const struct operator dealer = operator_of(cmd);
	const enum callback_state was = delivery->callback.state;
	char object[OBJECT_SIZE], detail[DETAIL_SIZE];
	int64_t left_ms;

	callback_event_id(delivery->callback.kind, cmd->event, object);
	switch (audit_state(ws, &dealer, RESEND_ACTION, object, &result->verdict)) {
	case AUDIT_REPEATED:
		result->resent = true;
		return;
	case AUDIT_OTHER:
		return;
	case AUDIT_NEW:
		break;
	}
	if (!may_be_resent(delivery, ws_get(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id)),
		    &context->now))
		return;
	left_ms = resend_pause_left_ms(&delivery->callback, context->now.wall_ms);
	if (left_ms) {
		result->verdict.refusal = REFUSAL_RATE_LIMITED;
		result->verdict.retry_after_s = (uint32_t)((left_ms + 999) / 1000);
		text_copy(result->verdict.detail, sizeof(result->verdict.detail),
			delivery->callback.attempts < RESEND_OFTEN
				? "a callback is sent again at most once in 5 minutes"
				: "a callback that was sent 12 times is sent again at most once in "
				  "4 hours");
		return;
	}
	delivery->callback.resent_ms = context->now.wall_ms;
	if (outbox_operate(ws, context, delivery, CALLBACK_RETRY, ""))
		return;
	result->resent = true;
	snprintf(detail, sizeof(detail), "casino_id=%s was=%s is=%s attempts=%u", cmd->casino_id,
		callback_state_names[was], callback_state_names[delivery->callback.state],
		delivery->callback.attempts);
	audit_write(ws, context, &dealer, RESEND_ACTION, object, detail);
}

void callback_resend_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct callback_resend_cmd *cmd = arg;
	struct callback_resend_result *result = out;
	struct delivery delivery;

	if (!ws_get(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id))) {
		result->verdict.refusal = REFUSAL_INVALID_SIGNATURE;
		return;
	}
	/* The callbacks of another dealer are as unknown as those that never were. */
	if (!outbox_find(ws, cmd->event, &delivery) || delivery.callback.kind != cmd->kind ||
		strcmp(delivery.callback.casino_id, cmd->casino_id) != 0) {
		result->verdict.refusal = REFUSAL_CALLBACK_NOT_FOUND;
		return;
	}
	resend_callback(ws, context, cmd, &delivery, result);
	result->state = delivery.callback.state;
	result->attempts = delivery.callback.attempts;
	result->adjusted_by = delivery.callback.adjusted_by;
}

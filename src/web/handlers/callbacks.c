/* Lists a dealer's callbacks that were not delivered, and sends one again if the dealer requests
 * it. */
#include "web/handlers/handlers.h"

#include "base/pack.h"
#include "base/text.h"
#include "wire/signature.h"

#include <string.h>

/* Commands of one call. Each looks at FEED_ROWS_MAX rows at most. */
#define CALLBACK_COMMANDS_MAX 16

/* A callback as it is shown. */
struct callback_shown {
	char webhook_id[CALLBACK_EVENT_ID_SIZE];
	struct callback_item item;
};
static const struct field callback_shown_fields[] = {
	FIELD(FIELD_STR, callback_shown, webhook_id),
	FIELD_NAMED_AS("kind", callback_shown, item.kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD_NAMED_AS("state", callback_shown, item.state, callback_state_names,
		CALLBACK_STATE_COUNT),
	FIELD_AS("attempts", FIELD_U32, callback_shown, item.attempts),
	FIELD_AS("timestamp", FIELD_TIME_MS, callback_shown, item.created_ms),
	FIELD_AS("next_attempt", FIELD_TIME_MS, callback_shown, item.next_ms),
	FIELD_AS("last_http_status", FIELD_U32, callback_shown, item.last_http_status),
	FIELD_AS("user_id", FIELD_STR, callback_shown, item.user_id),
	FIELD_AS("player_id", FIELD_STR, callback_shown, item.player_id),
	FIELD_AS("game_id", FIELD_STR, callback_shown, item.game_id),
	FIELD_END,
};

/* The answer (contract, "Callbacks of a dealer"). */
struct callbacks_answer {
	struct bytes items; /* as JSON */
	uint64_t next;
	bool complete;
};
static const struct field callbacks_answer_fields[] = {
	FIELD(FIELD_JSON, callbacks_answer, items),
	FIELD(FIELD_U64, callbacks_answer, next),
	FIELD(FIELD_BOOL, callbacks_answer, complete),
	FIELD_END,
};

static enum status add_callbacks(const struct callback_page_result *page, struct buffer *items)
{
	struct callback_shown shown;
	struct bytes rows = page->items;

	for (uint32_t i = 0; i < page->count; i++) {
		if (!unpack_record(&rows, callback_item_fields, &shown.item))
			return STATUS_CORRUPT;
		callback_event_id(shown.item.kind, shown.item.event, shown.webhook_id);
		if (items->len > 1)
			buffer_append_str(items, ",");
		render_record(items, callback_shown_fields, &shown);
	}
	return items->failed ? STATUS_NOMEM : STATUS_OK;
}

/* Reads until @limit items, the end, or the last command. *page is the last answer. */
static enum status read_callbacks(struct web_request *web, struct callback_page_cmd *cmd,
	uint32_t limit, struct callback_page_result *page, struct buffer *items)
{
	enum status status = STATUS_OK;
	uint32_t count = 0;

	for (unsigned int i = 0; i < CALLBACK_COMMANDS_MAX && !status; i++) {
		cmd->limit = limit - count;
		memset(page, 0, sizeof(*page));
		status = link_call(web->link, COMMAND_CALLBACK_PAGE, cmd, page, web->deadline_ms);
		if (status || page->verdict.refusal != REFUSAL_NONE)
			return status;
		status = add_callbacks(page, items);
		count += page->count;
		cmd->after = page->next;
		cmd->goes_on = true;
		if (page->complete || count == limit)
			return status;
	}
	return status;
}

static void serve_callbacks(struct web_request *web, struct callback_page_cmd *cmd, uint32_t limit)
{
	struct callbacks_answer answer = {.next = 0};
	struct callback_page_result page;
	struct buffer items;
	enum status status;

	buffer_init(&items, REPLY_LARGE_MAX);
	buffer_append_str(&items, "[");
	status = read_callbacks(web, cmd, limit, &page, &items);
	if (!status && !buffer_append_str(&items, "]"))
		status = STATUS_NOMEM;
	if (status || page.verdict.refusal != REFUSAL_NONE) {
		web_request_answer(web, status, CALL_READS, &page.verdict, NULL, NULL);
	} else {
		answer.items = (struct bytes){items.data, (uint32_t)items.len};
		answer.next = cmd->after;
		answer.complete = page.complete;
		reply_success_large(web->reply, callbacks_answer_fields, &answer);
	}
	buffer_free(&items);
}

/* Returns the state that @name names, or CALLBACK_STATE_COUNT. */
static enum callback_state state_named(const char *name)
{
	static const enum callback_state states[] = {CALLBACK_PARKED, CALLBACK_DUE};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(callback_state_names[states[i]], name) == 0)
			return states[i];
	}
	return CALLBACK_STATE_COUNT;
}

void handle_callbacks(struct web_request *web)
{
	const struct callbacks_body *body = &web->body.callbacks;
	struct callback_page_cmd cmd = {.after = (uint64_t)body->after};

	cmd.state = state_named(body->state);
	if (cmd.state == CALLBACK_STATE_COUNT) {
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST, "state must be parked or due");
		return;
	}
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), web->caller->caller_id);
	if (web_request_is_within(web, "limit", body->limit, 1, FEED_ITEMS_MAX))
		serve_callbacks(web, &cmd, (uint32_t)body->limit);
}

/* The answer to a resend. */
struct resend_answer {
	char webhook_id[CALLBACK_EVENT_ID_SIZE];
	struct callback_resend_result result;
};
#define RESEND_ANSWER                                                                              \
	FIELD(FIELD_STR, resend_answer, webhook_id),                                               \
		FIELD_AS("resent", FIELD_BOOL, resend_answer, result.resent),                      \
		FIELD_NAMED_AS("state", resend_answer, result.state, callback_state_names,         \
			CALLBACK_STATE_COUNT),                                                     \
		FIELD_AS("attempts", FIELD_U32, resend_answer, result.attempts)
static const struct field resend_answer_fields[] = {RESEND_ANSWER, FIELD_END};
static const struct field adjusted_answer_fields[] = {
	RESEND_ANSWER,
	FIELD_AS("adjusted_by", FIELD_U64, resend_answer, result.adjusted_by),
	FIELD_END,
};

void handle_resend(struct web_request *web)
{
	const struct resend_body *body = &web->body.resend;
	struct callback_resend_cmd cmd = {.event = 0};
	struct resend_answer answer;
	enum status status = STATUS_OK;

	memset(&answer, 0, sizeof(answer));
	if (!callback_event_read(body->webhook_id, &cmd.event, &cmd.kind) ||
		cmd.kind == CALLBACK_KIND_COUNT) {
		reply_refuse(web->reply, REFUSAL_CALLBACK_NOT_FOUND, NULL);
		return;
	}
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), web->caller->caller_id);
	text_copy(answer.webhook_id, sizeof(answer.webhook_id), body->webhook_id);
	if (!signature_random_id(cmd.operation_id, sizeof(cmd.operation_id)))
		status = STATUS_NOMEM;
	if (!status)
		status = link_call(web->link, COMMAND_CALLBACK_RESEND, &cmd, &answer.result,
			web->deadline_ms);
	web_request_answer(web, status, CALL_MOVES, &answer.result.verdict,
		answer.result.adjusted_by ? adjusted_answer_fields : resend_answer_fields, &answer);
}

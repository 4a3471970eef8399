/* The feed of a dealer's transactions, with or without a wait, and the history of one player. */
#include "web/handlers/handlers.h"

#include "base/clock.h"
#include "base/fiber.h"
#include "base/pack.h"
#include "base/text.h"
#include "web/request/feed_waits.h"
#include "wire/feed_json.h"

#include <string.h>

/* Commands of one call. Each looks at FEED_ROWS_MAX transactions at most. */
#define FEED_COMMANDS_MAX 16

/* The answer of both (contract, "Feed" and "History"). */
struct feed_answer {
	struct bytes items; /* as JSON */
	uint64_t next;
	bool complete;
};
static const struct field feed_answer_fields[] = {
	FIELD(FIELD_JSON, feed_answer, items),
	FIELD(FIELD_U64, feed_answer, next),
	FIELD(FIELD_BOOL, feed_answer, complete),
	FIELD_END,
};

/* The items that a call has read. */
struct feed_reading {
	struct feed_cmd cmd; /* of the next page */
	uint32_t limit;
	uint32_t count;
	bool complete;
	struct buffer items; /* as JSON, without the closing bracket */
	struct feed_result page;
};

static enum status add_items(struct feed_reading *reading)
{
	struct bytes rows = reading->page.items;
	struct feed_item item;

	for (uint32_t i = 0; i < reading->page.count; i++) {
		if (!unpack_record(&rows, feed_item_fields, &item))
			return STATUS_CORRUPT;
		if (reading->items.len > 1)
			buffer_append_str(&reading->items, ",");
		feed_json_render(&reading->items, &item, false);
	}
	reading->count += reading->page.count;
	reading->complete = reading->page.complete;
	reading->cmd.after = reading->page.next;
	reading->cmd.goes_on = true;
	return reading->items.failed ? STATUS_NOMEM : STATUS_OK;
}

/* Reads until @limit items, the end, or the last command. */
static enum status read_items(struct web_request *web, struct feed_reading *reading)
{
	const int64_t deadline_ms = clock_boot_ms() + web->ledger_deadline_ms;
	enum status status = STATUS_OK;

	for (unsigned int i = 0; i < FEED_COMMANDS_MAX && !status; i++) {
		reading->cmd.limit = reading->limit - reading->count;
		memset(&reading->page, 0, sizeof(reading->page));
		status = link_call(web->link, COMMAND_FEED, &reading->cmd, &reading->page,
			deadline_ms);
		if (status || reading->page.verdict.refusal != REFUSAL_NONE)
			return status;
		status = add_items(reading);
		if (reading->complete || reading->count == reading->limit)
			return status;
	}
	return status;
}

/* Returns true if the call may wait on: nothing was found, and its caller and worker stay. */
static bool goes_on_waiting(const struct web_request *web, const struct feed_reading *reading,
	int64_t until_ms)
{
	return !reading->count && reading->complete &&
		reading->page.verdict.refusal == REFUSAL_NONE && clock_boot_ms() < until_ms &&
		!http_request_hurries(web->request);
}

/* Looks for a transaction until @until_ms, or until another dealer needs the place. */
static enum status wait_for_items(struct web_request *web, struct feed_reading *reading,
	const struct feed_place *place, int64_t until_ms)
{
	enum status status = STATUS_OK;
	int64_t next_ms;

	while (!status && goes_on_waiting(web, reading, until_ms) &&
		feed_waits_holds(web->feed_waits, place)) {
		next_ms = clock_boot_ms() + FEED_LOOK_MS;
		web_request_rest(web);
		fiber_wait(-1, 0, next_ms < until_ms ? next_ms : until_ms);
		status = web_request_resume(web);
		if (!status)
			status = read_items(web, reading);
	}
	return status;
}

/* Waits if there is a place. Returns false if the answer was given: too many calls wait. */
static bool may_wait(struct web_request *web, struct feed_reading *reading, int64_t until_ms,
	enum status *status)
{
	struct feed_place place;

	if (!web->feed_waits || !goes_on_waiting(web, reading, until_ms))
		return true;
	if (!feed_waits_take(web->feed_waits, reading->cmd.casino_id, &place)) {
		reply_refuse(web->reply, REFUSAL_RATE_LIMITED,
			"too many calls of the feed wait; call again later");
		return false;
	}
	*status = wait_for_items(web, reading, &place, until_ms);
	feed_waits_give(web->feed_waits, &place);
	return true;
}

static void answer_items(struct web_request *web, struct feed_reading *reading, enum status status)
{
	struct feed_answer answer = {.next = reading->cmd.after, .complete = reading->complete};

	if (status || reading->page.verdict.refusal != REFUSAL_NONE) {
		web_request_answer(web, status, CALL_READS, &reading->page.verdict, NULL, NULL);
		return;
	}
	if (!buffer_append_str(&reading->items, "]")) {
		reply_fail(web->reply, STATUS_NOMEM, CALL_READS);
		return;
	}
	answer.items = (struct bytes){reading->items.data, (uint32_t)reading->items.len};
	reply_success_large(web->reply, feed_answer_fields, &answer);
}

/* Reads a page and waits for @wait_ms if it is empty. */
static void serve_items(struct web_request *web, const struct feed_cmd *cmd, int64_t limit,
	int64_t wait_ms)
{
	struct feed_reading reading = {.cmd = *cmd, .limit = (uint32_t)limit};
	int64_t until_ms =
		web->request->boot_ms + (wait_ms < FEED_WAIT_MS ? wait_ms : FEED_WAIT_MS);
	enum status status;

	text_copy(reading.cmd.casino_id, sizeof(reading.cmd.casino_id), web->caller->caller_id);
	buffer_init(&reading.items, REPLY_LARGE_MAX);
	buffer_append_str(&reading.items, "[");
	status = read_items(web, &reading);
	if (status || may_wait(web, &reading, until_ms, &status))
		answer_items(web, &reading, status);
	buffer_free(&reading.items);
}

void handle_feed(struct web_request *web)
{
	const struct feed_body *body = &web->body.feed;
	const struct feed_cmd cmd = {.after = (uint64_t)body->after};

	if (web_request_is_within(web, "limit", body->limit, 1, FEED_ITEMS_MAX) &&
		web_request_is_within(web, "wait_ms", body->wait_ms, 0, FEED_WAIT_ASKED_MAX_MS) &&
		web_request_is_fresh(web, body->request_timestamp))
		serve_items(web, &cmd, body->limit, body->wait_ms);
}

void handle_history(struct web_request *web)
{
	const struct history_body *body = &web->body.history;
	struct feed_cmd cmd = {.after = (uint64_t)body->after};

	text_copy(cmd.user_id, sizeof(cmd.user_id), body->user_id);
	if (web_request_is_within(web, "limit", body->limit, 1, FEED_ITEMS_MAX) &&
		web_request_is_fresh(web, body->request_timestamp))
		serve_items(web, &cmd, body->limit, 0);
}

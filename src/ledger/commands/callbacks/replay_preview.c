/*
 * replay_preview - counts what a replay would send.
 */
#include "ledger/commands/ops.h"
#include "ledger/outbox/aside_page.h"
#include "ledger/outbox/outbox.h"
#include "ledger/outbox/permits.h"
#include "ledger/rows/counters.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/life.h"

struct replay_look {
	const struct replay_preview_cmd *cmd;
	struct replay_filter filter;
	struct replay_preview_result *result;
	uint32_t count;
	struct callback fits[REPLAY_LOOK_MAX];
};

static void count_callback(struct replay_look *look, const struct callback *callback)
{
	switch (replay_fits(&look->filter, &look->cmd->events, callback)) {
	case REPLAY_FITS:
		look->fits[look->count++] = *callback;
		break;
	case REPLAY_IS_HELD:
		look->result->held++;
		break;
	case REPLAY_IS_ADJUSTED:
		look->result->adjusted++;
		break;
	case REPLAY_IS_LATER:
		look->result->parked_later++;
		break;
	case REPLAY_FITS_NOT:
	case REPLAY_FIT_COUNT:
		break;
	}
}

/* Looks at the parked and held callbacks, from the newest wanted event to older ones. */
static enum status look_at_parked(const struct read_context *context, struct replay_look *look)
{
	struct aside_page page = {.casino_id = look->filter.casino_id,
		.reverse = true,
		.after = look->cmd->below ? look->cmd->below : look->filter.last_event + 1,
		.limit = REPLAY_LOOK_MAX};
	const enum status status = aside_page_load(context->store, context->ws, &page);

	_Static_assert(REPLAY_LOOK_MAX <= ASIDE_PAGE_MAX, "a preview looks at one page");
	look->result->first_event = page.last;
	look->result->more = page.more;
	for (uint32_t i = 0; i < page.count && !status; i++) {
		const struct callback key = callback_named(page.events[i]);
		const struct callback *callback = ws_get(context->ws, RECORD_CALLBACK, &key);

		if (look->cmd->most && look->count == look->cmd->most) {
			look->result->first_event = page.events[i - 1];
			look->result->more = true;
			break;
		}
		if (!callback)
			continue;
		look->result->looked_to_ms = callback->created_ms;
		count_callback(look, callback);
	}
	return status;
}

/* Looks at the events that were given one by one. */
static enum status look_at_marked(const struct read_context *context, struct replay_look *look)
{
	const struct bytes *events = &look->cmd->events;
	const uint32_t count = replay_event_count(events);
	struct ws *ws = context->ws;
	enum status status;

	ws_reset(ws);
	for (uint32_t i = 0; i < count; i++) {
		const struct callback key = {.event = replay_event_at(events, i)};

		ws_want(ws, RECORD_CALLBACK, &key);
	}
	status = context->store->load(context->store, ws);
	for (uint32_t i = count; i-- && !status;) {
		const struct callback key = {.event = replay_event_at(events, i)};
		const struct callback *callback = ws_get(ws, RECORD_CALLBACK, &key);

		if (callback)
			count_callback(look, callback);
	}
	look->result->first_event = replay_event_at(events, 0);
	return status;
}

/* Declares the row that has the amount of the callback. */
static void want_subject(struct ws *ws, const struct callback *callback)
{
	const struct round round = round_named(callback->player_id, callback->game_id);
	const struct bet bet =
		bet_named(callback->player_id, callback->game_id, callback->bet_number);
	const struct correction correction =
		correction_named(callback->player_id, callback->game_id, callback->revision);

	if (callback->bet_number)
		ws_want_without_object(ws, RECORD_BET, &bet);
	else if (callback->revision)
		ws_want(ws, RECORD_CORRECTION, &correction);
	else
		ws_want(ws, RECORD_ROUND, &round);
}

/* Returns what the callback asks the dealer to move; below 0: to take back. */
static money_t replay_amount(struct ws *ws, const struct callback *callback)
{
	const struct round round_key = round_named(callback->player_id, callback->game_id);
	const struct bet bet_key =
		bet_named(callback->player_id, callback->game_id, callback->bet_number);
	const struct correction key =
		correction_named(callback->player_id, callback->game_id, callback->revision);
	const struct correction *correction;
	const struct round *round;
	const struct bet *bet;

	if (callback->bet_number) {
		bet = ws_get(ws, RECORD_BET, &bet_key);
		return bet ? bet->bet_amount : 0;
	}
	if (callback->revision) {
		correction = ws_get(ws, RECORD_CORRECTION, &key);
		return correction ? correction->payout_amount - correction->previous_payout : 0;
	}
	round = ws_get(ws, RECORD_ROUND, &round_key);
	return round ? round->payout_amount : 0;
}

/* Adds up the callbacks that were found. */
static enum status sum_found(const struct read_context *context, struct replay_look *look)
{
	struct replay_preview_result *result = look->result;
	struct ws *ws = context->ws;
	enum status status = STATUS_OK;

	ws_reset(ws);
	for (uint32_t i = 0; i < look->count; i++)
		want_subject(ws, &look->fits[i]);
	if (ws_pending(ws))
		status = context->store->load(context->store, ws);
	for (uint32_t i = 0; i < look->count && !status; i++) {
		const struct callback *callback = &look->fits[i];
		struct replay_sum *sum = &result->sums[callback->kind];

		sum->count++;
		sum->amount += replay_amount(ws, callback);
		if (!result->oldest_ms || callback->created_ms < result->oldest_ms)
			result->oldest_ms = callback->created_ms;
		if (callback->created_ms > result->newest_ms)
			result->newest_ms = callback->created_ms;
		replay_event_add(context->rows, callback->event);
	}
	result->found = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return context->rows->failed || ws_faulty(ws) ? STATUS_NOMEM : status;
}

/* Loads what the filter leaves open, and the state of the dealer. */
static enum status begin_look(const struct read_context *context, struct replay_look *look)
{
	struct replay_preview_result *result = look->result;
	const struct dealer key = dealer_named(look->filter.casino_id);
	const struct dealer *dealer;
	enum status status;

	ws_reset(context->ws);
	life_want(context->ws);
	ws_want(context->ws, RECORD_DEALER, &key);
	status = context->store->load(context->store, context->ws);
	if (status)
		return status;
	dealer = ws_get(context->ws, RECORD_DEALER, &key);
	if (!dealer) {
		result->verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
		return STATUS_OK;
	}
	if (!look->filter.last_event)
		look->filter.last_event = counter_read(context->ws, LIFE_EVENTS);
	if (!look->filter.parked_to_ms)
		look->filter.parked_to_ms = context->now.wall_ms;
	look->filter.first_event = 1;
	result->last_event = look->filter.last_event;
	result->parked_to_ms = look->filter.parked_to_ms;
	result->rate = context->replay_rate;
	result->has_url = dealer->url[0] != '\0';
	result->dealer_is_held = dealer->callbacks_held_ms != 0;
	result->breaker =
		permits_breaker(context->permits, dealer->casino_id, context->now.boot_ms);
	return STATUS_OK;
}

/* Returns why the command cannot be executed; NULL: it can. */
static const char *refusal_of(const struct replay_preview_cmd *cmd)
{
	if (!replay_events_ok(&cmd->events))
		return "at most 64 events can be named, each once, in rising order";
	if (cmd->filter.last_event > TRANSACTION_ID_MAX)
		return "the number of the last event is above 9007199254740991, and no event has such a number";
	return NULL;
}

enum status replay_preview_read(const void *arg, const struct read_context *context, void *out)
{
	static struct replay_look look;
	struct replay_preview_result *result = out;
	const char *refused;
	enum status status;

	memset(&look, 0, sizeof(look));
	look.cmd = arg;
	look.filter = look.cmd->filter;
	look.result = result;
	refused = refusal_of(look.cmd);
	if (refused) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		text_copy(result->verdict.detail, sizeof(result->verdict.detail), refused);
		return STATUS_OK;
	}
	status = begin_look(context, &look);
	if (status || result->verdict.refusal != REFUSAL_NONE)
		return status;
	status = look.cmd->events.len ? look_at_marked(context, &look)
				      : look_at_parked(context, &look);
	return status ? status : sum_found(context, &look);
}

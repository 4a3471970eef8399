#include "ledger/outbox/outbox.h"

#include "domain/aside.h"
#include "domain/replay.h"
#include "ledger/outbox/hold.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/life.h"
#include "ledger/rows/player_stats.h"
#include "ledger/rows/post.h"
#include "wire/callback_body.h"

#include <stdio.h>

void outbox_options_defaults(struct outbox_options *options)
{
	memset(options, 0, sizeof(*options));
	retry_policy_defaults(&options->retry);
	options->lease_ms = 10000;
	options->owner_patience_ms = SCHEDULE_OWNER_PATIENCE_MS;
	options->breaker_open_ms = PERMITS_OPEN_MS;
	options->keep_answers = true;
}

void outbox_too_large(struct verdict *verdict)
{
	snprintf(verdict->detail, sizeof(verdict->detail),
		"its JSON objects are larger than the %d bytes that a dealer can be sent",
		OUTBOX_OBJECTS_MAX);
}

void outbox_want_new(struct ws *ws)
{
	life_want_id(ws, LIFE_EVENTS);
}

static struct due due_named(uint64_t event)
{
	struct due key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	return key;
}

static struct attempt attempt_named(uint64_t event, uint32_t number)
{
	struct attempt key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	key.number = number;
	return key;
}

static struct callback_body body_named(uint64_t event)
{
	struct callback_body key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	return key;
}

static bool take_permit(const struct apply_context *context, const struct dealer *dealer,
	uint64_t event)
{
	return permits_take(context->permits, dealer->casino_id, event, hold_permits(dealer),
		context->now.boot_ms, context->now.boot_ms + context->outbox->lease_ms);
}

/*
 * Renders the body into memory that lives as long as the answer. Returns NULL bytes if memory is
 * exhausted.
 */
static struct bytes render_body(const struct apply_context *context, enum callback_kind kind,
	uint32_t revision, const struct dealer *dealer, const void *body)
{
	const char *currency = dealer_sent_currency(dealer, kind);
	struct bytes bytes = {NULL, 0};
	struct buffer text;
	uint8_t *data = NULL;

	buffer_init(&text, CALLBACK_BODY_MAX);
	if (revision && kind == CALLBACK_BETTING_RESULT
			? callback_body_render_win(&text, body, currency)
			: callback_body_render(&text, kind, body, currency))
		data = arena_take(context->arena, text.len);
	if (data) {
		memcpy(data, text.data, text.len);
		bytes = (struct bytes){data, (uint32_t)text.len};
	}
	buffer_free(&text);
	return bytes;
}

uint64_t outbox_open(struct ws *ws, const struct apply_context *context, enum callback_kind kind,
	const struct outbox_subject *subject, int64_t delay_ms, const void *body)
{
	struct callback_body row;
	struct delivery delivery;

	memset(&row, 0, sizeof(row));
	row.body = render_body(context, kind, subject->revision, subject->dealer, body);
	if (!row.body.data)
		return 0;
	row.event = life_take_id(ws, LIFE_EVENTS);
	if (!row.event)
		return 0;
	delivery_open(&delivery, kind, row.event, subject->dealer->casino_id, &context->now,
		delay_ms);
	text_copy(delivery.callback.player_id, PLAYER_ID_SIZE, subject->player_id);
	text_copy(delivery.callback.game_id, EXTERNAL_ID_SIZE, subject->game_id);
	delivery.callback.bet_number = subject->bet_number;
	delivery.callback.revision = subject->revision;
	if (kind == CALLBACK_BETTING_CORRECTION)
		text_copy(delivery.callback.path, CALLBACK_PATH_SIZE,
			dealer_callback_path(subject->dealer, kind));
	ws_append(ws, RECORD_CALLBACK, &delivery.callback);
	ws_append(ws, RECORD_CALLBACK_BODY, &row);
	ws_append(ws, RECORD_DUE, &delivery.due);
	return row.event;
}

bool outbox_admit_next(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer)
{
	return take_permit(context, dealer, life_peek_id(ws, LIFE_EVENTS));
}

bool outbox_find(struct ws *ws, uint64_t event, struct delivery *delivery)
{
	struct callback callback_key = callback_named(event);
	struct due due_key = due_named(event);
	const struct callback *callback = ws_get(ws, RECORD_CALLBACK, &callback_key);
	const struct due *due = ws_get(ws, RECORD_DUE, &due_key);
	const struct attempt *attempt;
	struct attempt attempt_key;

	memset(delivery, 0, sizeof(*delivery));
	if (!callback)
		return false;
	delivery->callback = *callback;
	delivery->scheduled = due != NULL;
	if (due)
		delivery->due = *due;
	if (!callback->attempts)
		return true;
	attempt_key = attempt_named(event, callback->attempts);
	attempt = ws_get(ws, RECORD_ATTEMPT, &attempt_key);
	if (attempt)
		delivery->attempt = *attempt;
	return true;
}

/* Counts the end of the attempt that a replay asked for. */
static void end_replayed(struct ws *ws, struct callback *callback)
{
	const struct replay key = replay_named(callback->replay);
	const struct replay *stored = ws_get(ws, RECORD_REPLAY, &key);
	struct replay row;

	callback->replay = 0;
	if (!stored)
		return;
	row = *stored;
	replay_count_end(&row, callback->state);
	ws_put(ws, RECORD_REPLAY, &row);
}

/*
 * Writes or drops the row of a callback that is set aside. Unless outbox_want() declared the row, the callback was not set
 * aside before, so that the row does not exist.
 */
static void write_aside(struct ws *ws, enum callback_state was, const struct callback *callback)
{
	const struct aside row = aside_of(callback);

	if (callback->state == was)
		return;
	if (!callback_is_aside(callback->state)) {
		if (callback_is_aside(was))
			ws_drop(ws, RECORD_ASIDE, &row);
	} else if (ws_loaded(ws, RECORD_ASIDE, &row)) {
		ws_put(ws, RECORD_ASIDE, &row);
	} else {
		ws_append(ws, RECORD_ASIDE, &row);
	}
}

void outbox_write(struct ws *ws, const struct delivery *delivery, bool begun)
{
	struct due key = due_named(delivery->callback.event);
	struct callback was_key = callback_named(delivery->callback.event);
	const struct callback *was = ws_get(ws, RECORD_CALLBACK, &was_key);
	struct callback callback = delivery->callback;

	if (was) {
		post_callback_state(ws, was->casino_id, was->state, callback.state);
		write_aside(ws, was->state, &callback);
	}
	if (callback.replay && !delivery->scheduled)
		end_replayed(ws, &callback);
	ws_put(ws, RECORD_CALLBACK, &callback);
	if (begun)
		ws_append(ws, RECORD_ATTEMPT, &delivery->attempt);
	else if (delivery->attempt.number)
		ws_put(ws, RECORD_ATTEMPT, &delivery->attempt);
	if (delivery->scheduled)
		ws_put(ws, RECORD_DUE, &delivery->due);
	else
		ws_drop(ws, RECORD_DUE, &key);
}

/*
 * Fills the grant. Copies the body, because the rows of the batch may be freed before the answer
 * is written.
 */
static bool fill_grant(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, const struct delivery *delivery, struct callback_grant *grant)
{
	struct callback_body key = body_named(delivery->callback.event);
	const struct callback_body *row = ws_get(ws, RECORD_CALLBACK_BODY, &key);
	uint8_t *body = row ? arena_take(context->arena, row->body.len) : NULL;

	if (!body)
		return false;
	memcpy(body, row->body.data, row->body.len);
	grant->event = delivery->callback.event;
	grant->kind = delivery->callback.kind;
	grant->attempt = delivery->callback.attempts;
	grant->lease_left_ms = delivery->due.due_boot_ms - context->now.boot_ms;
	callback_target_for(dealer, &delivery->callback, &grant->target);
	grant->body = (struct bytes){body, row->body.len};
	/* No callback goes to the URL itself. */
	return grant->target.path[0];
}

bool outbox_begin(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	uint64_t event, uint64_t sender, struct callback_grant *grant)
{
	const struct delivery_lease lease = {
		.lease_ms = context->outbox->lease_ms,
		.sender = sender,
		.owner = context->link,
	};
	struct delivery delivery;

	/* Take the permit last: after it the attempt begins in any case. */
	if (!outbox_find(ws, event, &delivery) || delivery.callback.state != CALLBACK_DUE ||
		!delivery_begin(&delivery, &context->now, &lease) ||
		!fill_grant(ws, context, dealer, &delivery, grant))
		return false;
	if (!take_permit(context, dealer, event)) {
		explicit_bzero(grant, sizeof(*grant));
		return false;
	}
	outbox_write(ws, &delivery, true);
	return true;
}

bool outbox_grant_again(struct ws *ws, const struct apply_context *context,
	const struct dealer *dealer, uint64_t event, uint64_t sender, struct callback_grant *grant)
{
	const struct schedule_entry *entry = schedule_find(context->schedule, event);
	struct delivery delivery;

	if (!sender || !hold_permits(dealer) || !outbox_find(ws, event, &delivery) ||
		delivery.callback.state != CALLBACK_SENDING || delivery.attempt.sender != sender)
		return false;
	/* After a restart of the ledger the lease in memory ends later. */
	if (entry) {
		/* Within one boot, keep the recorded relation of the clocks. */
		delivery.due.due_ms = delivery.due.boot == context->now.boot
			? delivery.due.due_ms + (entry->due_ms - delivery.due.due_boot_ms)
			: context->now.wall_ms + (entry->due_ms - context->now.boot_ms);
		delivery.due.due_boot_ms = entry->due_ms;
		delivery.due.boot = context->now.boot;
	}
	delivery.due.owner = context->link;
	if (!fill_grant(ws, context, dealer, &delivery, grant))
		return false;
	*context->granted_again = true;
	take_permit(context, dealer, event);
	ws_put(ws, RECORD_DUE, &delivery.due);
	return true;
}

bool outbox_inquire(struct ws *ws, const struct apply_context *context, const struct dealer *dealer,
	const struct player *player, struct callback_grant *grant)
{
	struct life_block *events = &context->permits->inquiries;
	const uint64_t event = life_block_peek(ws, LIFE_EVENTS, events);
	struct balance_inquire_body body;
	struct bytes text;

	memset(&body, 0, sizeof(body));
	text_copy(body.user_id, sizeof(body.user_id), player->user_id);
	text_copy(body.player_id, sizeof(body.player_id), player->player_id);
	text = render_body(context, CALLBACK_BALANCE_INQUIRE, 0, dealer, &body);
	if (!text.data || !event || !take_permit(context, dealer, event))
		return false;
	grant->event = life_block_take(ws, LIFE_EVENTS, context->outbox->inquiry_ids, events);
	grant->kind = CALLBACK_BALANCE_INQUIRE;
	grant->attempt = 1;
	grant->lease_left_ms = context->outbox->lease_ms;
	callback_target_of(dealer, grant->kind, &grant->target);
	grant->body = text;
	return true;
}

const struct correction *outbox_correction(struct ws *ws, const struct callback *callback)
{
	struct correction key =
		correction_named(callback->player_id, callback->game_id, callback->revision);

	return callback->revision ? ws_get(ws, RECORD_CORRECTION, &key) : NULL;
}

/* An accepted betting counts as a bet. */
static void want_tally(struct ws *ws, const struct callback *callback, const struct bet *key)
{
	const struct bet *bet = callback->kind == CALLBACK_BETTING && ws_loaded(ws, RECORD_BET, key)
		? ws_get(ws, RECORD_BET, key)
		: NULL;

	if (bet)
		player_stats_want(ws, bet->player_id, bet->day);
}

bool outbox_want(struct ws *ws, uint64_t event)
{
	struct callback callback_key = callback_named(event);
	struct due due_key = due_named(event);
	const struct callback *callback;
	struct correction correction;
	struct attempt attempt;
	struct dealer dealer;
	struct replay replay;
	struct aside aside;
	struct total total;
	struct round round;
	struct bet bet;

	ws_want(ws, RECORD_CALLBACK, &callback_key);
	ws_want(ws, RECORD_DUE, &due_key);
	callback = ws_loaded(ws, RECORD_CALLBACK, &callback_key)
		? ws_get(ws, RECORD_CALLBACK, &callback_key)
		: NULL;
	if (!callback)
		return false;
	outbox_want_new(ws);
	/* While the working set supposes nothing, a row that should not be there is found, too. */
	if (callback_is_aside(callback->state) || !ws->supposing) {
		aside = aside_of(callback);
		ws_want(ws, RECORD_ASIDE, &aside);
	}
	if (callback->replay) {
		replay = replay_named(callback->replay);
		ws_want(ws, RECORD_REPLAY, &replay);
	}
	dealer = dealer_named(callback->casino_id);
	total = total_named(callback->casino_id);
	round = round_named(callback->player_id, callback->game_id);
	ws_want(ws, RECORD_DEALER, &dealer);
	ws_want(ws, RECORD_TOTAL, &total);
	ws_want(ws, RECORD_ROUND, &round);
	if (callback->attempts) {
		attempt = attempt_named(event, callback->attempts);
		ws_want(ws, RECORD_ATTEMPT, &attempt);
	}
	if (callback->revision) {
		correction = correction_named(callback->player_id, callback->game_id,
			callback->revision);
		ws_want(ws, RECORD_CORRECTION, &correction);
	}
	if (callback->bet_number) {
		bet = bet_named(callback->player_id, callback->game_id, callback->bet_number);
		ws_want(ws, RECORD_BET, &bet);
		want_tally(ws, callback, &bet);
	}
	return true;
}

bool outbox_want_grant(struct ws *ws, uint64_t event)
{
	struct callback_body body = body_named(event);

	ws_want(ws, RECORD_CALLBACK_BODY, &body);
	return outbox_want(ws, event);
}

#include "wire/feed_json.h"

#include "wire/render.h"

#include <string.h>

/* The members of every item. */
#define COMMON                                                                                     \
	FIELD(FIELD_U64, feed_item, transaction_id),                                               \
		FIELD_NAMED(feed_item, kind, entry_kind_names, ENTRY_KIND_COUNT),                  \
		FIELD(FIELD_STR, feed_item, state),                                                \
		FIELD_AS("timestamp", FIELD_TIME_MS, feed_item, time_ms),                          \
		FIELD(FIELD_STR, feed_item, user_id), FIELD(FIELD_STR, feed_item, player_id)

static const struct field common_fields[] = {COMMON, FIELD_END};
static const struct field operator_fields[] = {FIELD(FIELD_STR, feed_item, casino_id), COMMON,
	FIELD_END};
static const struct field moved_fields[] = {
	FIELD(FIELD_MONEY, feed_item, amount),
	FIELD(FIELD_MONEY, feed_item, before_balance),
	FIELD(FIELD_MONEY, feed_item, current_balance),
	FIELD_END,
};
static const struct field reference_fields[] = {
	FIELD(FIELD_STR, feed_item, request_transaction_id),
	FIELD_END,
};
static const struct field bet_item_fields[] = {
	FIELD(FIELD_STR, feed_item, game_id),
	FIELD(FIELD_MONEY, feed_item, bet_amount),
	FIELD(FIELD_BOOL, feed_item, addition),
	FIELD_END,
};
static const struct field round_item_fields[] = {
	FIELD(FIELD_STR, feed_item, game_id),
	FIELD_NAMED(feed_item, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, feed_item, bet_amount),
	FIELD(FIELD_MONEY, feed_item, addition_amount),
	FIELD(FIELD_MONEY, feed_item, win_amount),
	FIELD(FIELD_MONEY, feed_item, payout_amount),
	FIELD_END,
};

static const struct field correction_item_fields[] = {
	FIELD(FIELD_STR, feed_item, game_id),
	FIELD(FIELD_U32, feed_item, revision),
	FIELD_NAMED(feed_item, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, feed_item, previous_payout_amount),
	FIELD(FIELD_MONEY, feed_item, payout_amount),
	FIELD(FIELD_MONEY, feed_item, shortfall),
	FIELD_END,
};

static const struct field *const subject_fields[FEED_SUBJECT_COUNT] = {
	[FEED_BET] = bet_item_fields,
	[FEED_ROUND] = round_item_fields,
	[FEED_CORRECTION] = correction_item_fields,
};

/* The callback of a result. */
struct feed_callback {
	char webhook_id[CALLBACK_EVENT_ID_SIZE];
	uint32_t attempts;
};
static const struct field callback_item_fields[] = {
	FIELD(FIELD_STR, feed_callback, webhook_id),
	FIELD(FIELD_U32, feed_callback, attempts),
	FIELD_END,
};

/* Appends members to the object at the end of @out. */
static bool add_members(struct buffer *out, const struct field *table, const void *record)
{
	const size_t end = out->len - 1;

	out->len = end;
	if (!render_record(out, table, record))
		return false;
	out->data[end] = ',';
	return true;
}

bool feed_json_render(struct buffer *out, const struct feed_item *item, bool for_operator)
{
	const struct field *subject = subject_fields[feed_subject_of(item->kind)];
	struct feed_callback callback = {.attempts = item->attempts};
	bool done = render_record(out, for_operator ? operator_fields : common_fields, item);

	if (done && subject)
		done = add_members(out, subject, item);
	if (done && item->moved)
		done = add_members(out, moved_fields, item);
	if (done && item->request_transaction_id[0])
		done = add_members(out, reference_fields, item);
	if (done && item->event) {
		callback_event_id(item->callback_kind, item->event, callback.webhook_id);
		done = add_members(out, callback_item_fields, &callback);
	}
	return done;
}

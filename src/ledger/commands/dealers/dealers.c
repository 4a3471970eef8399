/*
 * dealers - dealers, their settings and their keys.
 */
#include "base/pack.h"
#include "domain/dealer_day.h"
#include "domain/dealer_settings.h"
#include "domain/statistics.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/refused/rejected_requests.h"
#include "ledger/outbox/hold.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/counters.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/keyslots.h"
#include "ledger/rows/moves.h"

#include <inttypes.h>
#include <stdio.h>

/* A page of the keyring: 128 entries of at most 300 bytes. */
#define KEYRING_PAGE 128

void dealer_put_keys(const void *arg, struct ws *ws)
{
	const struct dealer_put_cmd *cmd = arg;
	struct dealer dealer = dealer_named(cmd->dealer.casino_id);
	struct total total = total_named(cmd->dealer.casino_id);
	const struct dealer_move move = move_named(cmd->dealer.casino_id);

	ws_want(ws, RECORD_DEALER, &dealer);
	ws_want(ws, RECORD_TOTAL, &total);
	if (cmd->create)
		ws_want(ws, RECORD_DEALER_MOVE, &move);
	counter_want(ws, DEALERS_COUNTER);
	audit_keys(ws, &cmd->operator);
}

/* One line a setting: how it is taken from the command into the dealer. */
#define TAKE(bit, member)                                                                          \
	{                                                                                          \
		bit, offsetof(struct dealer, member), sizeof(((struct dealer *)0)->member),        \
			#member                                                                    \
	}
static const struct {
	enum dealer_member bit;
	size_t offset;
	size_t size;
	const char *name;
} members[DEALER_MEMBER_COUNT] = {
	TAKE(DEALER_CURRENCY, currency),
	TAKE(DEALER_MODE, mode),
	TAKE(DEALER_DECIMALS, decimals),
	TAKE(DEALER_SUSPENDED, suspended),
	TAKE(DEALER_UTC_OFFSET, utc_offset_min),
	TAKE(DEALER_RATE_LIMIT, rate_limit),
	TAKE(DEALER_ALGORITHM, signature_algorithm),
	TAKE(DEALER_ENCODING, signature_encoding),
	TAKE(DEALER_URL, url),
	TAKE(DEALER_ALLOW_HTTP, allow_http),
	TAKE(DEALER_REFUND_DELAY, refund_delay_s),
	TAKE(DEALER_MAX_INFLIGHT, max_inflight),
	TAKE(DEALER_PATH_BALANCE_INQUIRE, path_balance_inquire),
	TAKE(DEALER_PATH_BETTING, path_betting),
	TAKE(DEALER_PATH_BETTING_RESULT, path_betting_result),
	TAKE(DEALER_PATH_BETTING_REFUND, path_betting_refund),
	TAKE(DEALER_PATH_BETTING_CORRECTION, path_betting_correction),
	TAKE(DEALER_UNKNOWN_BET_IDS, unknown_bet_ids),
	TAKE(DEALER_DUPLICATE_IDS, duplicate_ids),
	TAKE(DEALER_SUCCESS_NEEDS_BALANCE, success_needs_balance),
	TAKE(DEALER_SEND_CURRENCY, send_currency),
	TAKE(DEALER_CALLBACKS_HELD, callbacks_held_ms),
	TAKE(DEALER_RECONCILED, restored_ms),
	TAKE(DEALER_EXAM_PASSED, exam_passed),
	TAKE(DEALER_EXAM_FAILED, exam_failed),
	TAKE(DEALER_EXAM_NOT_JUDGED, exam_not_judged),
	TAKE(DEALER_EXAM_TIME, exam_ms),
};

/*
 * Returns the reason why a change is not allowed now (contract, "What an operator may change"), or
 * NULL.
 */
static const char *bad_change(const struct dealer *was, const struct dealer *is,
	const struct total *total)
{
	if (strcmp(was->currency, is->currency) != 0 && total && total->players)
		return "currency can be changed only before the first player";
	if (was->mode != is->mode && total && total->balance)
		return "mode can be changed only while all the dealer's balances are 0";
	if (was->mode != is->mode && total && total->open_bets)
		return "mode can be changed only while no bet and no callback is open";
	if (is->decimals < was->decimals)
		return "decimals can only be raised";
	return NULL;
}

/* Writes " NAME=VALUE" of a setting to @text; returns its length, which may exceed @room. */
static size_t describe_change(char *text, size_t room, const struct field *field, const char *value)
{
	uint32_t number = 0;
	int64_t time_ms;
	int len;

	if (field->type == FIELD_STR) {
		len = snprintf(text, room, " %s=%.200s", field->name, value);
		return (size_t)len;
	}
	if (field->type == FIELD_TIME_MS) {
		memcpy(&time_ms, value, sizeof(time_ms));
		len = snprintf(text, room, " %s=%" PRId64, field->name, time_ms);
		return (size_t)len;
	}
	if (field->size == 1)
		number = *(const uint8_t *)value;
	else
		memcpy(&number, value, sizeof(number));
	if (field->type == FIELD_ENUM)
		len = snprintf(text, room, " %s=%s", field->name, field->names[number]);
	else if (field->type == FIELD_I32)
		len = snprintf(text, room, " %s=%d", field->name, (int)number);
	else
		len = snprintf(text, room, " %s=%u", field->name, number);
	return (size_t)len;
}

static const char *action_of(const struct dealer_put_cmd *cmd)
{
	if (cmd->create)
		return "dealer add";
	if (cmd->mask == 1u << DEALER_CALLBACKS_HELD)
		return cmd->dealer.callbacks_held_ms ? "dealer hold" : "release";
	if (cmd->mask == 1u << DEALER_RECONCILED)
		return "reconcile";
	if (cmd->mask == DEALER_EXAM)
		return "dealer tested";
	if (cmd->mask != 1u << DEALER_SUSPENDED)
		return "dealer set";
	return cmd->dealer.suspended ? "dealer suspend" : "dealer resume";
}

static void audit_dealer(const struct dealer_put_cmd *cmd, const struct apply_context *context,
	struct ws *ws, const char *object)
{
	char detail[DETAIL_SIZE] = " ";
	size_t len = 0;

	for (unsigned int i = 0; i < DEALER_MEMBER_COUNT && len < sizeof(detail); i++) {
		if (cmd->create ? members[i].bit < DEALER_EXAM_PASSED
				: cmd->mask & 1u << members[i].bit)
			len += describe_change(detail + len, sizeof(detail) - len,
				field_find(dealer_fields, members[i].name),
				(const char *)&cmd->dealer + members[i].offset);
	}
	if (cmd->unreconciled && len < sizeof(detail))
		snprintf(detail + len, sizeof(detail) - len, " unreconciled");
	audit_write(ws, context, &cmd->operator, action_of(cmd), object, detail + 1);
}

static enum refusal refuse_dealer(struct verdict *verdict, enum refusal refusal, const char *detail)
{
	verdict->refusal = refusal;
	text_copy(verdict->detail, sizeof(verdict->detail), detail);
	return refusal;
}

/* Fills @dealer as a new one from the command. */
static enum refusal dealer_create(const struct dealer_put_cmd *cmd,
	const struct apply_context *context, struct ws *ws, struct dealer *dealer,
	struct verdict *verdict)
{
	struct total total = total_named(cmd->dealer.casino_id);
	const struct dealer_move move = move_named(cmd->dealer.casino_id);
	enum refusal refusal;

	if (!text_is_name(cmd->dealer.casino_id, CASINO_ID_SIZE - 1))
		return refuse_dealer(verdict, REFUSAL_BAD_REQUEST,
			"casino id must be [A-Za-z0-9_.-]{1,64}");
	if (!keyslots_secret_valid(cmd->dealer.keys[0].secret))
		return refuse_dealer(verdict, REFUSAL_BAD_REQUEST, "a key is 64 hex characters");
	if (ws_get(ws, RECORD_DEALER_MOVE, &move))
		return refuse_dealer(verdict, REFUSAL_NOT_ALLOWED_NOW,
			"the dealer was moved to another cell");
	if (counter_read(ws, DEALERS_COUNTER) + moves_arriving(context->moves) >= DEALERS_MAX)
		return refuse_dealer(verdict, REFUSAL_TOO_MANY_DEALERS, "");
	*dealer = cmd->dealer;
	memset(dealer->keys, 0, sizeof(dealer->keys));
	text_copy(dealer->keys[0].key_id, KEY_ID_SIZE, "k1");
	text_copy(dealer->keys[0].secret, KEY_SECRET_SIZE, cmd->dealer.keys[0].secret);
	dealer->keys[0].created_ms = context->now.wall_ms;
	text_copy(dealer->signing_key_id, KEY_ID_SIZE, "k1");
	dealer->keys_issued = 1;
	dealer->callbacks_held_ms = 0;
	dealer->keys_restored_ms = 0;
	dealer->exam_passed = dealer->exam_failed = dealer->exam_not_judged = 0;
	dealer->exam_ms = 0;
	dealer->days_from_ms = 0;
	hold_end_restore(dealer);
	dealer->created_ms = context->now.wall_ms;
	if (dealer_bad_setting(dealer))
		return refuse_dealer(verdict, REFUSAL_BAD_REQUEST, dealer_bad_setting(dealer));
	refusal = key_book_issue(context->key_book, KEYRING_DEALERS, dealer->casino_id,
		dealer->keys[0].secret, verdict);
	if (refusal != REFUSAL_NONE) {
		verdict->refusal = refusal;
		return refusal;
	}
	counter_next(ws, DEALERS_COUNTER);
	ws_put(ws, RECORD_TOTAL, &total);
	return REFUSAL_NONE;
}

/*
 * Returns days_from_ms after a change of utc_offset: the begin, in the new offset, of the first day whose number
 * has no sums yet. That number is above the present day's in both offsets, and above those that an earlier
 * change left out.
 */
static int64_t days_begin_ms(const struct dealer *dealer, const struct dealer *stored,
	int64_t now_ms)
{
	uint32_t day = statistics_day(now_ms, stored->utc_offset_min);
	const uint32_t new_day = statistics_day(now_ms, dealer->utc_offset_min);
	const uint32_t first = dealer_day_first(stored);

	if (day < new_day)
		day = new_day;
	if (first && day < first - 1)
		day = first - 1;
	return statistics_day_begin(day + 1, dealer->utc_offset_min);
}

/* Fills @dealer as @stored with the command's members changed. */
static enum refusal dealer_change(const struct dealer_put_cmd *cmd, const struct dealer *stored,
	const struct total *total, int64_t now_ms, struct dealer *dealer, struct verdict *verdict)
{
	const char *why;

	*dealer = *stored;
	for (unsigned int i = 0; i < DEALER_MEMBER_COUNT; i++) {
		if (cmd->mask & 1u << members[i].bit)
			memcpy((char *)dealer + members[i].offset,
				(const char *)&cmd->dealer + members[i].offset, members[i].size);
	}
	/* Days of another offset have other bounds: their sums begin again. Without players no row was counted. */
	if (dealer->utc_offset_min != stored->utc_offset_min && total && total->players)
		dealer->days_from_ms = days_begin_ms(dealer, stored, now_ms);
	if (dealer->callbacks_held_ms)
		dealer->callbacks_held_ms =
			stored->callbacks_held_ms ? stored->callbacks_held_ms : now_ms;
	if (cmd->mask & 1u << DEALER_EXAM_TIME)
		dealer->exam_ms = now_ms;
	if (cmd->mask & 1u << DEALER_RECONCILED)
		hold_end_restore(dealer);
	if (stored->callbacks_held_ms && !dealer->callbacks_held_ms && dealer->restored_id &&
		!cmd->unreconciled)
		return refuse_dealer(verdict, REFUSAL_NOT_ALLOWED_NOW,
			"the dealer's file was not compared "
			"since the restore, or something in it is to be mended");
	why = dealer_bad_setting(dealer);
	if (why)
		return refuse_dealer(verdict, REFUSAL_BAD_REQUEST, why);
	why = bad_change(stored, dealer, total);
	return why ? refuse_dealer(verdict, REFUSAL_NOT_ALLOWED_NOW, why) : REFUSAL_NONE;
}

void dealer_put_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct dealer_put_cmd *cmd = arg;
	struct dealer_put_result *result = out;
	struct dealer key = dealer_named(cmd->dealer.casino_id);
	struct total total_key = total_named(cmd->dealer.casino_id);
	const struct dealer *stored = ws_get(ws, RECORD_DEALER, &key);
	const struct total *total = ws_get(ws, RECORD_TOTAL, &total_key);
	char object[OBJECT_SIZE];
	enum audit_state state;
	enum refusal refusal;

	snprintf(object, sizeof(object), "dealer %s", cmd->dealer.casino_id);
	state = audit_state(ws, &cmd->operator, action_of(cmd), object, &result->verdict);
	if (state == AUDIT_REPEATED && stored)
		result->dealer = *stored;
	if (state != AUDIT_NEW)
		return;
	if (cmd->create != !stored) {
		result->verdict.refusal =
			stored ? REFUSAL_ALREADY_EXISTS : REFUSAL_DEALER_NOT_FOUND;
		return;
	}
	refusal = cmd->create ? dealer_create(cmd, context, ws, &result->dealer, &result->verdict)
			      : dealer_change(cmd, stored, total, context->now.wall_ms,
					&result->dealer, &result->verdict);
	if (refusal != REFUSAL_NONE)
		return;
	ws_put(ws, RECORD_DEALER, &result->dealer);
	audit_dealer(cmd, context, ws, object);
}

void dealer_key_keys(const void *arg, struct ws *ws)
{
	const struct dealer_key_cmd *cmd = arg;
	struct dealer dealer = dealer_named(cmd->casino_id);

	ws_want(ws, RECORD_DEALER, &dealer);
	audit_keys(ws, &cmd->operator);
}

static enum refusal key_change(const struct dealer_key_cmd *cmd, struct dealer *dealer,
	char *key_id)
{
	const struct dealer_key *key = dealer_key_find(dealer, cmd->key_id);

	if (cmd->action == KEY_CONFIRM) {
		dealer->keys_restored_ms = 0;
		return REFUSAL_NONE;
	}
	if (!key)
		return REFUSAL_KEY_NOT_FOUND;
	text_copy(key_id, KEY_ID_SIZE, cmd->key_id);
	if (cmd->action == KEY_USE) {
		text_copy(dealer->signing_key_id, KEY_ID_SIZE, cmd->key_id);
		return REFUSAL_NONE;
	}
	/* The last key is always the signing key. */
	if (strcmp(dealer->signing_key_id, cmd->key_id) == 0)
		return REFUSAL_KEY_IN_USE;
	memset(&dealer->keys[key - dealer->keys], 0, sizeof(dealer->keys[0]));
	return REFUSAL_NONE;
}

/* Repeats the answer of the first execution of the command. */
static enum refusal key_replay(const struct dealer_key_cmd *cmd, const struct dealer *dealer,
	char *key_id)
{
	if (cmd->action != KEY_ADD) {
		text_copy(key_id, KEY_ID_SIZE, cmd->key_id);
		return REFUSAL_NONE;
	}
	return keyslots_find(dealer->keys, cmd->secret, key_id);
}

void dealer_key_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct dealer_key_cmd *cmd = arg;
	struct dealer_key_result *result = out;
	struct dealer dealer = dealer_named(cmd->casino_id);
	const struct dealer *stored = ws_get(ws, RECORD_DEALER, &dealer);
	char action[ACTION_SIZE], object[OBJECT_SIZE], detail[DETAIL_SIZE];
	enum audit_state state;

	if (!stored) {
		result->verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
		return;
	}
	snprintf(action, sizeof(action), "dealer key-%s", key_action_names[cmd->action]);
	snprintf(object, sizeof(object), "dealer %s%s%s", cmd->casino_id, cmd->key_id[0] ? " " : "",
		cmd->key_id);
	state = audit_state(ws, &cmd->operator, action, object, &result->verdict);
	if (state == AUDIT_REPEATED)
		result->verdict.refusal = key_replay(cmd, stored, result->key_id);
	if (state != AUDIT_NEW)
		return;
	dealer = *stored;
	result->verdict.refusal = cmd->action == KEY_ADD
		? keyslots_add(dealer.keys, &dealer.keys_issued, cmd->secret, context->now.wall_ms,
			  result->key_id)
		: key_change(cmd, &dealer, result->key_id);
	if (result->verdict.refusal == REFUSAL_NONE && cmd->action == KEY_ADD)
		result->verdict.refusal = key_book_issue(context->key_book, KEYRING_DEALERS,
			cmd->casino_id, cmd->secret, &result->verdict);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	/* After an import without keys there is no other signing key. */
	if (!dealer.signing_key_id[0])
		text_copy(dealer.signing_key_id, KEY_ID_SIZE, result->key_id);
	if (cmd->action == KEY_RETIRE)
		retired_note(context->retired, KEYRING_DEALERS, cmd->casino_id,
			dealer_key_find(stored, cmd->key_id), context->now.wall_ms);
	snprintf(detail, sizeof(detail), "key_id=%s", result->key_id);
	if (cmd->action == KEY_RETIRE)
		key_book_describe(stored->keys, cmd->key_id, detail);
	/* From here on @stored is the new row. */
	ws_put(ws, RECORD_DEALER, &dealer);
	audit_write(ws, context, &cmd->operator, action, object, detail);
}

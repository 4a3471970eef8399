#include "domain/row_bounds.h"

#include "base/text.h"
#include "domain/dealer_settings.h"
#include "domain/replay.h"
#include "domain/round_list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_MS (INT64_C(1) << 53)
#define SUM_MAX     ((sum_t)1 << 100)
#define BODY_BYTES  65536        /* a request body, which contains the objects */
#define EVENT_BYTES (256 * 1024) /* a body of a callback */

enum rule {
	ANY,       /* only the type's limit: text cut to fit, or from another program */
	NAME,      /* casino_id, client_id: [A-Za-z0-9_.-]{1,64} */
	NAME_NONE, /* a NAME or empty */
	ID,        /* 1 to 128 bytes of UTF-8 without control characters */
	ID_NONE,
	REFERENCE, /* the same, or the key of an item of a batch: up to 132 bytes */
	REFERENCE_NONE,
	PLAYER, /* 20 lower-case base32 characters */
	PLAYER_NONE,
	KEY, /* "k" and a number */
	KEY_NONE,
	SECRET, /* 64 hex characters */
	NUMBER, /* 0 to @most */
	COUNT,  /* 1 to @most */
	GIVEN,  /* a number that the ledger assigns: 1 to 2^53-1 */
	GIVEN_NONE,
	CREDIT, /* an amount of 0 or more */
	STAKE,  /* an amount above 0 */
	OBJECT, /* at most @most bytes */
};

struct bound {
	enum record record;
	enum rule rule;
	const char *member;
	uint64_t most;
};

static const struct bound bounds[] = {
	{RECORD_COUNTER, NAME, "name", 0},
	{RECORD_DEALER, NAME, "casino_id", 0},
	{RECORD_DEALER, KEY_NONE, "signing_key_id", 0},
	{RECORD_DEALER, GIVEN_NONE, "restored_id", 0},
	{RECORD_TOTAL, NAME, "casino_id", 0},
	{RECORD_TOTAL, NUMBER, "players", TRANSACTION_ID_MAX},
	{RECORD_TOTAL, NUMBER, "open_bets", TRANSACTION_ID_MAX},
	{RECORD_TOTAL, NUMBER, "parked", TRANSACTION_ID_MAX},
	{RECORD_TOTAL, NUMBER, "held", TRANSACTION_ID_MAX},
	{RECORD_TOTAL, NUMBER, "bets_with_balance", TRANSACTION_ID_MAX},
	{RECORD_TOTAL, NUMBER, "bets_without_balance", TRANSACTION_ID_MAX},
	{RECORD_PLAYER, NAME, "casino_id", 0},
	{RECORD_PLAYER, ID, "user_id", 0},
	{RECORD_PLAYER, PLAYER, "player_id", 0},
	{RECORD_PLAYER, CREDIT, "balance", 0},
	{RECORD_PLAYER, GIVEN_NONE, "entry_seq", 0},
	{RECORD_PLAYER, GIVEN_NONE, "entry_transaction_id", 0},
	{RECORD_PLAYER_NAME, PLAYER, "player_id", 0},
	{RECORD_PLAYER_NAME, NAME, "casino_id", 0},
	{RECORD_PLAYER_NAME, ID, "user_id", 0},
	{RECORD_REQUEST, NAME, "owner", 0},
	{RECORD_REQUEST, REFERENCE, "request_transaction_id", 0},
	{RECORD_REQUEST, PLAYER_NONE, "player_id", 0},
	{RECORD_REQUEST, GIVEN_NONE, "entry_seq", 0},
	{RECORD_REQUEST, GIVEN_NONE, "transaction_id", 0},
	{RECORD_REQUEST, CREDIT, "current_balance", 0},
	{RECORD_REQUEST, ID_NONE, "game_id", 0},
	{RECORD_TRANSACTION, GIVEN, "transaction_id", 0},
	{RECORD_TRANSACTION, NAME, "casino_id", 0},
	{RECORD_TRANSACTION, PLAYER, "player_id", 0},
	{RECORD_TRANSACTION, ID_NONE, "game_id", 0},
	{RECORD_TRANSACTION, GIVEN_NONE, "entry_seq", 0},
	{RECORD_TRANSACTION, GIVEN_NONE, "previous", 0},
	{RECORD_TRANSACTION, CREDIT, "before_balance", 0},
	{RECORD_TRANSACTION, CREDIT, "current_balance", 0},
	{RECORD_TRANSACTION, REFERENCE_NONE, "request_transaction_id", 0},
	{RECORD_TRANSACTION, NAME_NONE, "client_id", 0},
	{RECORD_AUDIT, GIVEN, "seq", 0},
	{RECORD_AUDIT, ANY, "sudo_user", 0},
	{RECORD_AUDIT, ANY, "object", 0},
	{RECORD_AUDIT, ANY, "detail", 0},
	{RECORD_AUDIT, ANY, "reason", 0},
	{RECORD_AUDIT, NAME_NONE, "operator", 0},
	{RECORD_OPERATION, ID, "operation_id", 0},
	{RECORD_OPERATION, GIVEN, "audit_seq", 0},
	{RECORD_OPERATION, ANY, "object", 0},
	{RECORD_CLIENT, NAME, "client_id", 0},
	{RECORD_ROUND, PLAYER, "player_id", 0},
	{RECORD_ROUND, ID, "game_id", 0},
	{RECORD_ROUND, NAME, "casino_id", 0},
	{RECORD_ROUND, ID, "user_id", 0},
	{RECORD_ROUND, NAME, "client_id", 0},
	{RECORD_ROUND, COUNT, "bets", ROUND_NUMBERS_MAX},
	{RECORD_ROUND, CREDIT, "staked", 0},
	{RECORD_ROUND, CREDIT, "bet_amount", 0},
	{RECORD_ROUND, CREDIT, "addition_amount", 0},
	{RECORD_ROUND, CREDIT, "payout_amount", 0},
	{RECORD_ROUND, GIVEN_NONE, "transaction_id", 0},
	{RECORD_ROUND, GIVEN_NONE, "event", 0},
	{RECORD_ROUND, NUMBER, "revision", ROUND_CORRECTIONS_MAX},
	{RECORD_ROUND, CREDIT, "current_payout", 0},
	{RECORD_ROUND, CREDIT, "shortfall", 0},
	{RECORD_ROUND, GIVEN_NONE, "last_event", 0},
	{RECORD_BET, PLAYER, "player_id", 0},
	{RECORD_BET, ID, "game_id", 0},
	{RECORD_BET, COUNT, "number", ROUND_NUMBERS_MAX},
	{RECORD_BET, GIVEN, "transaction_id", 0},
	{RECORD_BET, NAME, "casino_id", 0},
	{RECORD_BET, NAME, "client_id", 0},
	{RECORD_BET, ID, "request_transaction_id", 0},
	{RECORD_BET, STAKE, "bet_amount", 0},
	{RECORD_BET, GIVEN_NONE, "event", 0},
	{RECORD_BET, GIVEN_NONE, "refund_event", 0},
	{RECORD_BET, ANY, "resolved_by", 0},
	{RECORD_CALLBACK, GIVEN, "event", 0},
	{RECORD_CALLBACK, NAME, "casino_id", 0},
	{RECORD_CALLBACK, PLAYER, "player_id", 0},
	{RECORD_CALLBACK, ID, "game_id", 0},
	{RECORD_CALLBACK, NUMBER, "bet_number", ROUND_NUMBERS_MAX},
	{RECORD_CALLBACK, NUMBER, "last_http_status", UINT16_MAX},
	{RECORD_CALLBACK, ANY, "resolved_by", 0},
	{RECORD_CALLBACK, NUMBER, "revision", ROUND_CORRECTIONS_MAX},
	{RECORD_CALLBACK, CREDIT, "shortfall", 0},
	{RECORD_CALLBACK, GIVEN_NONE, "adjusted_by", 0},
	{RECORD_CALLBACK_BODY, GIVEN, "event", 0},
	{RECORD_CALLBACK_BODY, OBJECT, "body", EVENT_BYTES},
	{RECORD_ATTEMPT, GIVEN, "event", 0},
	{RECORD_ATTEMPT, COUNT, "number", UINT32_MAX},
	{RECORD_ATTEMPT, ANY, "sender", 0},
	{RECORD_ATTEMPT, NUMBER, "http_status", UINT16_MAX},
	{RECORD_ATTEMPT, ANY, "note", 0},
	{RECORD_ANSWER, GIVEN, "event", 0},
	{RECORD_ANSWER, COUNT, "number", UINT32_MAX},
	{RECORD_ANSWER, COUNT, "length", UINT32_MAX},
	{RECORD_ANSWER, ANY, "content_type", 0},
	{RECORD_ANSWER, ANY, "text", 0},
	{RECORD_DUE, GIVEN, "event", 0},
	{RECORD_DUE, NAME, "casino_id", 0},
	{RECORD_DUE, ANY, "owner", 0},
	{RECORD_DUE, ANY, "boot", 0},
	{RECORD_ASIDE, NAME, "casino_id", 0},
	{RECORD_ASIDE, GIVEN, "event", 0},
	{RECORD_GAME_PLAYER, ID, "game_id", 0},
	{RECORD_GAME_PLAYER, PLAYER, "player_id", 0},
	{RECORD_GAME_PLAYER, GIVEN, "transaction_id", 0},
	{RECORD_PLAYER_BET, PLAYER, "player_id", 0},
	{RECORD_PLAYER_BET, GIVEN, "transaction_id", 0},
	{RECORD_PLAYER_BET, ID, "game_id", 0},
	{RECORD_PLAYER_BET, COUNT, "bet_number", ROUND_NUMBERS_MAX},
	{RECORD_LIFETIME, PLAYER, "player_id", 0},
	{RECORD_LIFETIME, CREDIT, "staked", 0},
	{RECORD_DAY, PLAYER, "player_id", 0},
	{RECORD_CORRECTION, PLAYER, "player_id", 0},
	{RECORD_CORRECTION, ID, "game_id", 0},
	{RECORD_CORRECTION, COUNT, "revision", ROUND_CORRECTIONS_MAX},
	{RECORD_CORRECTION, GIVEN, "transaction_id", 0},
	{RECORD_CORRECTION, NAME, "casino_id", 0},
	{RECORD_CORRECTION, NAME_NONE, "client_id", 0},
	{RECORD_CORRECTION, ID, "request_transaction_id", 0},
	{RECORD_CORRECTION, CREDIT, "previous_payout", 0},
	{RECORD_CORRECTION, CREDIT, "payout_amount", 0},
	{RECORD_CORRECTION, GIVEN_NONE, "event", 0},
	{RECORD_CORRECTION, ANY, "reason", 0},
	{RECORD_CANCELLATION, PLAYER, "player_id", 0},
	{RECORD_CANCELLATION, ID, "game_id", 0},
	{RECORD_CANCELLATION, COUNT, "number", ROUND_NUMBERS_MAX},
	{RECORD_CANCELLATION, NAME, "casino_id", 0},
	{RECORD_CANCELLATION, NAME, "client_id", 0},
	{RECORD_CANCELLATION, ID, "request_transaction_id", 0},
	{RECORD_CANCELLATION, GIVEN_NONE, "transaction_id", 0},
	{RECORD_CANCELLATION, ANY, "reason", 0},
	{RECORD_DESK_OPERATOR, NAME, "name", 0},
	{RECORD_DESK_OPERATOR, ID, "login", 0},
	{RECORD_REPLAY, GIVEN, "id", 0},
	{RECORD_REPLAY, OBJECT, "events", REPLAY_MARKED_MAX *REPLAY_EVENT_BYTES},
	{RECORD_REPLAY, ANY, "by", 0},
	{RECORD_REPLAY, ANY, "reason", 0},
	{RECORD_REPLAY, ANY, "stopped_by", 0},
	{RECORD_REPLAY, COUNT, "expected", REPLAY_CALLBACKS_MAX},
	{RECORD_REPLAY, GIVEN, "next_event", 0},
	{RECORD_REPLAY, NUMBER, "made_due", REPLAY_CALLBACKS_MAX},
	{RECORD_REPLAY, NUMBER, "left_out", TRANSACTION_ID_MAX},
	{RECORD_REPLAY, NUMBER, "parked_later", TRANSACTION_ID_MAX},
	{RECORD_REPLAY, NUMBER, "delivered", REPLAY_CALLBACKS_MAX},
	{RECORD_REPLAY, NUMBER, "parked_again", REPLAY_CALLBACKS_MAX},
	{RECORD_REPLAY, NUMBER, "withdrawn", REPLAY_CALLBACKS_MAX},
	{RECORD_DEALER_DAY, NAME, "casino_id", 0},
	{RECORD_RETIRED_DIGEST, GIVEN, "audit_seq", 0},
	{RECORD_RETIRED_DIGEST, COUNT, "number", DEALER_KEYS_MAX},
	{RECORD_RETIRED_DIGEST, NAME, "owner", 0},
	{RECORD_RETIRED_DIGEST, SECRET, "digest", 0},
	{RECORD_DEALER_MOVE, NAME, "casino_id", 0},
	{RECORD_DEALER_MOVE, ID, "id", 0},
	{RECORD_DEALER_MOVE, ID, "peer", 0},
	{RECORD_DEALER_MOVE, NAME_NONE, "other", 0},
	{RECORD_DEALER_MOVE, NUMBER, "page", TRANSACTION_ID_MAX},
	{RECORD_DEALER_MOVE, NUMBER, "page_kind", RECORD_COUNT - 1},
	{RECORD_DEALER_MOVE, OBJECT, "after", MOVE_AFTER_MAX},
	{RECORD_DEALER_MOVE, GIVEN_NONE, "first_transaction", 0},
	{RECORD_RESULT_BATCH, NAME, "client_id", 0},
	{RECORD_RESULT_BATCH, ID, "request_transaction_id", 0},
	{RECORD_RESULT_BATCH, COUNT, "count", BATCH_RESULTS_MAX},
	{RECORD_RESULT_BATCH, OBJECT, "answers", EVENT_BYTES},
};

static bool out_of_bounds(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool out_of_bounds(char *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, ROW_BOUNDS_WHY_SIZE, format, arguments);
	va_end(arguments);
	return false;
}

static bool is_id(const char *text, size_t size)
{
	const size_t len = strlen(text);

	return len > 0 && len < size && text_is_utf8_clean(text, len);
}

static bool is_key_id(const char *text)
{
	return text[0] == 'k' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1);
}

/* Returns what a text member must be, or NULL if it satisfies its rule. */
static const char *bad_text(enum rule rule, const char *text)
{
	const size_t len = strlen(text);

	switch (rule) {
	case NAME_NONE:
		if (!len)
			return NULL;
		__attribute__((fallthrough));
	case NAME:
		return text_is_name(text, CASINO_ID_SIZE - 1) ? NULL : "1 to 64 of [A-Za-z0-9_.-]";
	case ID_NONE:
		if (!len)
			return NULL;
		__attribute__((fallthrough));
	case ID:
		return is_id(text, EXTERNAL_ID_SIZE)
			? NULL
			: "1 to 128 bytes of UTF-8 without control characters";
	case REFERENCE_NONE:
		if (!len)
			return NULL;
		__attribute__((fallthrough));
	case REFERENCE:
		return is_id(text, REQUEST_KEY_SIZE)
			? NULL
			: "1 to 132 bytes of UTF-8 without control characters";
	case PLAYER_NONE:
		if (!len)
			return NULL;
		__attribute__((fallthrough));
	case PLAYER:
		return len == PLAYER_ID_SIZE - 1 && strspn(text, PLAYER_ID_CHARACTERS) == len
			? NULL
			: "20 lower-case base32 characters";
	case KEY_NONE:
		if (!len)
			return NULL;
		__attribute__((fallthrough));
	case KEY:
		return is_key_id(text) ? NULL : "\"k\" and a number";
	case ANY:
		return NULL;
	default:
		return text_is_utf8_clean(text, len) ? NULL : "UTF-8 without control characters";
	}
}

static bool check_number(const struct field *field, const struct bound *bound, uint64_t number,
	char *why)
{
	const enum rule rule = bound ? bound->rule : NUMBER;
	uint64_t least = 0, most = field->size == 8 ? INT64_MAX : UINT32_MAX;

	if (rule == ANY)
		return true;
	if (rule == GIVEN || rule == GIVEN_NONE)
		most = TRANSACTION_ID_MAX;
	else if (bound)
		most = bound->most;
	if (rule == GIVEN || rule == COUNT)
		least = 1;
	if (number >= least && number <= most)
		return true;
	return out_of_bounds(why, "%s is %" PRIu64 " and must be %" PRIu64 " to %" PRIu64,
		field->name, number, least, most);
}

static bool check_money(const struct field *field, const struct bound *bound, const void *member,
	char *why)
{
	const enum rule rule = bound ? bound->rule : NUMBER;
	const money_t least = rule == CREDIT ? 0 : rule == STAKE ? 1 : -MONEY_MAX;
	char text[MONEY_TEXT_MAX], most[MONEY_TEXT_MAX];
	money_t money;

	memcpy(&money, member, sizeof(money));
	if (money >= least && money <= MONEY_MAX)
		return true;
	money_format(money, 0, text);
	money_format(MONEY_MAX, 0, most);
	return out_of_bounds(why, "%s is %s and must be %s, at most %s", field->name, text,
		least > 0            ? "above 0"
			: least == 0 ? "0 or more"
				     : "an amount",
		most);
}

static bool check_time(const struct field *field, const void *member, char *why)
{
	int64_t time_ms;

	memcpy(&time_ms, member, sizeof(time_ms));
	return time_ms >= 0 && time_ms <= TIME_MAX_MS
		? true
		: out_of_bounds(why, "%s is no time in milliseconds since 1970", field->name);
}

static bool check_sum(const struct field *field, const void *member, char *why)
{
	sum_t sum;

	memcpy(&sum, member, sizeof(sum));
	return sum >= -SUM_MAX && sum <= SUM_MAX
		? true
		: out_of_bounds(why, "%s is larger than any sum of amounts", field->name);
}

static bool check_bytes(const struct field *field, const struct bound *bound, const void *member,
	char *why)
{
	const uint64_t most = bound && bound->rule == OBJECT ? bound->most : BODY_BYTES;
	struct bytes bytes;

	memcpy(&bytes, member, sizeof(bytes));
	return bytes.len <= most
		? true
		: out_of_bounds(why, "%s has %" PRIu32 " bytes and must have at most %" PRIu64,
			  field->name, bytes.len, most);
}

static bool check_member(const struct field *field, const struct bound *bound, const uint8_t *row,
	char *why)
{
	const void *member = row + field->offset;
	const char *must;

	switch (field->type) {
	case FIELD_STR:
		must = bad_text(bound ? bound->rule : NUMBER, member);
		return must ? out_of_bounds(why, "%s must be %s", field->name, must) : true;
	case FIELD_U32:
	case FIELD_U64:
		return check_number(field, bound, field_load_number(member, field->size), why);
	case FIELD_MONEY:
		return check_money(field, bound, member, why);
	case FIELD_TIME_MS:
		return check_time(field, member, why);
	case FIELD_SUM:
		return check_sum(field, member, why);
	case FIELD_BYTES:
	case FIELD_JSON:
		return check_bytes(field, bound, member, why);
	default:
		return true;
	}
}

#define BOUND_COUNT (sizeof(bounds) / sizeof(bounds[0]))

/* Returns the index of the first limit of @record; its limits are consecutive. */
static size_t first_bound(enum record record)
{
	size_t i = 0;

	while (i < BOUND_COUNT && bounds[i].record != record)
		i++;
	return i;
}

static const struct bound *find_bound(enum record record, size_t first, const char *member)
{
	for (size_t i = first; i < BOUND_COUNT && bounds[i].record == record; i++) {
		if (strcmp(bounds[i].member, member) == 0)
			return &bounds[i];
	}
	return NULL;
}

/* ---- rules between members */

static bool check_keys(const struct dealer_key keys[DEALER_KEYS_MAX], uint32_t issued, bool secrets,
	char *why)
{
	const struct dealer_key *key;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		key = &keys[i];
		if (!key->key_id[0]) {
			if (key->secret[0])
				return out_of_bounds(why, "a key without key_id has a secret");
			continue;
		}
		if (!is_key_id(key->key_id) || strtoul(key->key_id + 1, NULL, 10) > issued)
			return out_of_bounds(why,
				"key_id %s must be one of the %" PRIu32
				" keys that keys_issued counts",
				key->key_id, issued);
		if (secrets &&
			(strlen(key->secret) != KEY_SECRET_SIZE - 1 ||
				strspn(key->secret, "0123456789abcdefABCDEF") !=
					KEY_SECRET_SIZE - 1))
			return out_of_bounds(why, "key %s: a key is 64 hex characters",
				key->key_id);
		if (key->created_ms < 0 || key->created_ms > TIME_MAX_MS)
			return out_of_bounds(why, "key %s: created_ms is no time", key->key_id);
	}
	if (keys[0].key_id[0] && strcmp(keys[0].key_id, keys[1].key_id) == 0)
		return out_of_bounds(why, "key_id %s is there twice", keys[0].key_id);
	return true;
}

static bool check_dealer(const struct dealer *dealer, bool secrets, char *why)
{
	const char *setting = dealer_bad_setting(dealer);

	if (setting)
		return out_of_bounds(why, "%s", setting);
	if (!check_keys(dealer->keys, dealer->keys_issued, secrets, why))
		return false;
	if (dealer->signing_key_id[0] && !dealer_key_find(dealer, dealer->signing_key_id))
		return out_of_bounds(why, "signing_key_id %s is none of its keys",
			dealer->signing_key_id);
	return true;
}

static bool check_operator(const struct desk_operator *row, bool secrets, char *why)
{
	const size_t len = strlen(row->secret);

	if (row->role == ROLE_NONE)
		return out_of_bounds(why, "role must be read, support, finance or admin");
	if (secrets && len &&
		(len != DESK_SECRET_SIZE - 1 ||
			strspn(row->secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != len))
		return out_of_bounds(why, "secret must be empty or 32 base32 characters");
	return true;
}

static bool check_replay(const struct replay *row, char *why)
{
	if (!row->filter.casino_id[0])
		return out_of_bounds(why, "filter names no dealer");
	if (!row->filter.first_event || row->filter.last_event < row->filter.first_event ||
		row->filter.last_event > TRANSACTION_ID_MAX)
		return out_of_bounds(why, "filter is no range of events");
	if (!replay_events_ok(&row->events))
		return out_of_bounds(why, "events must hold at most %d numbers in rising order",
			REPLAY_MARKED_MAX);
	if (row->delivered + row->parked_again + row->withdrawn > row->made_due)
		return out_of_bounds(why, "more callbacks ended than were made due");
	if ((row->state == REPLAY_RUNNING) != (row->ended_ms == 0))
		return out_of_bounds(why, "ended_ms must be there exactly if it does not run");
	return true;
}

static bool check_counter(const struct counter *counter, char *why)
{
	if (counter->value <= TRANSACTION_ID_MAX)
		return true;
	return out_of_bounds(why, "value is %" PRIu64 " and must be at most %" PRIu64,
		counter->value, TRANSACTION_ID_MAX);
}

static bool check_round(const struct round *round, char *why)
{
	if (!round_list_sane(round))
		return out_of_bounds(why,
			"listed must hold at most %d numbers of bets up to %" PRIu32
			", in their order",
			ROUND_BETS_MAX, round->bets);
	if (round->refunded > round->bets)
		return out_of_bounds(why, "refunded is %" PRIu32 " of %" PRIu32 " bets",
			round->refunded, round->bets);
	if (round->dropped && round->state != ROUND_SETTLED)
		return out_of_bounds(why,
			"dropped is true, and retention drops only of settled rounds");
	return true;
}

static bool check_bet(const struct bet *bet, char *why)
{
	if (bet->dropped && bet->state != BET_SETTLED)
		return out_of_bounds(why,
			"dropped is true, and retention drops only of settled bets");
	if (bet->refund_dropped && !bet->refund_event)
		return out_of_bounds(why, "refund_dropped is true, and there is no betting-refund");
	return true;
}

static bool check_request(const struct request *row, char *why)
{
	const bool sealed = request_is_sealed(row) || request_is_batch(row);

	if (sealed == (row->player_id[0] != '\0'))
		return out_of_bounds(why,
			sealed ? "player_id must be empty in a sealed request and in a batch"
			       : "player_id must be 20 lower-case base32 characters");
	if (sealed && (row->amount || row->entry_seq || row->transaction_id || row->game_id[0]))
		return out_of_bounds(why, "a sealed request or a batch has moved something");
	return true;
}

static bool check_transaction(const struct transaction *row, char *why)
{
	if (row->entry_seq && !row->request_transaction_id[0])
		return out_of_bounds(why,
			"request_transaction_id must name the key that moved the credit");
	if (row->entry_seq && !row->amount)
		return out_of_bounds(why, "amount is 0 and entry_seq counts a movement");
	if (scope_is_of_client(row->scope) != (row->client_id[0] != '\0') && row->entry_seq)
		return out_of_bounds(why, "client_id must be there exactly for a client's key");
	return true;
}

bool row_bounds_check(enum record record, const void *row, bool secrets,
	char why[ROW_BOUNDS_WHY_SIZE])
{
	const struct record_info *info = &record_infos[record];
	const size_t first = first_bound(record);

	for (const struct field *field = info->fields; field->name; field++) {
		if (!check_member(field, find_bound(record, first, field->name), row, why))
			return false;
	}
	switch (record) {
	case RECORD_DEALER:
		return check_dealer(row, secrets, why);
	case RECORD_CLIENT:
		return check_keys(((const struct client *)row)->keys,
			((const struct client *)row)->keys_issued, secrets, why);
	case RECORD_DESK_OPERATOR:
		return check_operator(row, secrets, why);
	case RECORD_REPLAY:
		return check_replay(row, why);
	case RECORD_COUNTER:
		return check_counter(row, why);
	case RECORD_ROUND:
		return check_round(row, why);
	case RECORD_BET:
		return check_bet(row, why);
	case RECORD_REQUEST:
		return check_request(row, why);
	case RECORD_TRANSACTION:
		return check_transaction(row, why);
	default:
		return true;
	}
}

void row_bounds_name(enum record record, const void *row, char name[ROW_BOUNDS_NAME_SIZE])
{
	const struct record_info *info = &record_infos[record];
	size_t len = (size_t)snprintf(name, ROW_BOUNDS_NAME_SIZE, "%s", info->name);

	for (unsigned int i = 0; i < info->key_count && len < ROW_BOUNDS_NAME_SIZE; i++) {
		const struct field *field = &info->fields[i];
		const uint8_t *member = (const uint8_t *)row + field->offset;

		if (field->type == FIELD_STR)
			len += (size_t)snprintf(name + len, ROW_BOUNDS_NAME_SIZE - len, " %s",
				(const char *)member);
		else
			len += (size_t)snprintf(name + len, ROW_BOUNDS_NAME_SIZE - len, " %" PRIu64,
				field_load_number(member, field->size));
	}
	text_clean(name, strlen(name));
}

#include "domain/callback.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const breaker_names[BREAKER_COUNT] = {"closed", "open", "half-open"};

const char *const callback_default_paths[CALLBACK_KIND_COUNT] = {"/balance-inquire", "/betting",
	"/betting-result", "/betting-refund", ""};

const struct field answer_fields[] = {
	FIELD(FIELD_U64, answer, event),
	FIELD(FIELD_U32, answer, number),
	FIELD(FIELD_U32, answer, length),
	FIELD(FIELD_STR, answer, content_type),
	FIELD(FIELD_STR, answer, text),
	FIELD_END,
};

const struct field callback_target_fields[] = {
	FIELD(FIELD_STR, callback_target, url),
	FIELD(FIELD_STR, callback_target, path),
	FIELD(FIELD_BOOL, callback_target, allow_http),
	FIELD_NAMED(callback_target, signature_algorithm, signature_algorithm_names,
		SIGNATURE_ALGORITHM_COUNT),
	FIELD_NAMED(callback_target, signature_encoding, signature_encoding_names,
		SIGNATURE_ENCODING_COUNT),
	FIELD(FIELD_STR, callback_target, signing_key_id),
	FIELD_SUB(callback_target, keys, dealer_key, dealer_key_fields),
	FIELD(FIELD_BOOL, callback_target, needs_balance),
	FIELD_END,
};

const struct field callback_outcome_fields[] = {
	FIELD_NAMED(callback_outcome, class, callback_class_names, CALLBACK_CLASS_COUNT),
	FIELD(FIELD_U16, callback_outcome, http_status),
	FIELD(FIELD_U32, callback_outcome, ms),
	FIELD(FIELD_STR, callback_outcome, dealer_error_id),
	FIELD(FIELD_STR, callback_outcome, dealer_error_detail),
	FIELD(FIELD_BOOL, callback_outcome, has_balance),
	FIELD(FIELD_MONEY, callback_outcome, balance),
	FIELD(FIELD_MONEY, callback_outcome, shortfall),
	FIELD(FIELD_STR, callback_outcome, currency),
	FIELD(FIELD_STR, callback_outcome, user_id),
	FIELD(FIELD_STR, callback_outcome, note),
	FIELD(FIELD_U32, callback_outcome, answer_length),
	FIELD(FIELD_STR, callback_outcome, answer_type),
	FIELD(FIELD_STR, callback_outcome, answer),
	FIELD_END,
};

const char *dealer_callback_path(const struct dealer *dealer, enum callback_kind kind)
{
	const char *const paths[CALLBACK_KIND_COUNT] = {dealer->path_balance_inquire,
		dealer->path_betting, dealer->path_betting_result, dealer->path_betting_refund,
		dealer->path_betting_correction};

	return paths[kind][0] ? paths[kind] : callback_default_paths[kind];
}

/* The settings of a dealer that apply to a kind of callback: B1 to B4, and B2 to B4. */
static const struct {
	bool currency;
	bool balance;
} kind_settings[CALLBACK_KIND_COUNT] = {
	[CALLBACK_BALANCE_INQUIRE] = {.currency = true},
	[CALLBACK_BETTING] = {.currency = true, .balance = true},
	[CALLBACK_BETTING_RESULT] = {.currency = true, .balance = true},
	[CALLBACK_BETTING_REFUND] = {.currency = true, .balance = true},
};

const char *dealer_sent_currency(const struct dealer *dealer, enum callback_kind kind)
{
	return dealer->send_currency && kind_settings[kind].currency ? dealer->currency : "";
}

bool dealer_needs_balance(const struct dealer *dealer, enum callback_kind kind)
{
	return dealer->success_needs_balance && kind_settings[kind].balance;
}

void callback_target_of(const struct dealer *dealer, enum callback_kind kind,
	struct callback_target *target)
{
	memset(target, 0, sizeof(*target));
	memcpy(target->url, dealer->url, sizeof(target->url));
	snprintf(target->path, sizeof(target->path), "%s", dealer_callback_path(dealer, kind));
	target->allow_http = dealer->allow_http;
	target->signature_algorithm = dealer->signature_algorithm;
	target->signature_encoding = dealer->signature_encoding;
	memcpy(target->signing_key_id, dealer->signing_key_id, sizeof(target->signing_key_id));
	memcpy(target->keys, dealer->keys, sizeof(target->keys));
	target->needs_balance = dealer_needs_balance(dealer, kind);
}

void callback_target_for(const struct dealer *dealer, const struct callback *callback,
	struct callback_target *target)
{
	callback_target_of(dealer, callback->kind, target);
	if (!target->path[0])
		memcpy(target->path, callback->path, sizeof(target->path));
}

void callback_target_url(const struct callback_target *target, char url[CALLBACK_URL_SIZE])
{
	size_t len = strnlen(target->url, sizeof(target->url));

	while (len && target->url[len - 1] == '/')
		len--;
	snprintf(url, CALLBACK_URL_SIZE, "%.*s%s", (int)len, target->url, target->path);
}

/* Returns true if the segment at @segment, up to the next slash, is "." or "..". */
static bool segment_moves(const char *segment)
{
	size_t len = strcspn(segment, "/");

	return (len == 1 && segment[0] == '.') ||
		(len == 2 && segment[0] == '.' && segment[1] == '.');
}

bool callback_path_ok(const char *path)
{
	size_t len = strnlen(path, CALLBACK_PATH_SIZE);

	if (path[0] != '/' || len >= CALLBACK_PATH_SIZE)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (path[i] <= ' ' || path[i] > '~' || strchr("?#\\", path[i]))
			return false;
		if (path[i] == '/' && segment_moves(path + i + 1))
			return false;
	}
	return true;
}

void callback_event_id(enum callback_kind kind, uint64_t event, char id[CALLBACK_EVENT_ID_SIZE])
{
	snprintf(id, CALLBACK_EVENT_ID_SIZE, "%s-%" PRIu64, callback_kind_names[kind], event);
}

bool callback_event_read(const char *text, uint64_t *event, enum callback_kind *kind)
{
	const char *number = strrchr(text, '-');
	unsigned int i = 0;

	*kind = CALLBACK_KIND_COUNT;
	if (!number)
		return text_unsigned(text, UINT64_MAX, event);
	while (i < CALLBACK_KIND_COUNT &&
		(strlen(callback_kind_names[i]) != (size_t)(number - text) ||
			strncmp(callback_kind_names[i], text, (size_t)(number - text)) != 0))
		i++;
	*kind = i;
	return i < CALLBACK_KIND_COUNT && text_unsigned(number + 1, UINT64_MAX, event);
}

bool callback_balance_ok(const struct callback_outcome *outcome, const char *user_id,
	const char *currency)
{
	return outcome->class == CALLBACK_SUCCESS && outcome->has_balance &&
		strcmp(outcome->user_id, user_id) == 0 && strcmp(outcome->currency, currency) == 0;
}

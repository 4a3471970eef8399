#include "wire/dealer_answer.h"

#include "base/text.h"
#include "wire/parse.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* The shortest currency code. The longest is limited by the member's size. */
#define CURRENCY_LEN_MIN 2

void dealer_answer_quote(char *to, size_t size, const char *text)
{
	size_t left = strlen(text), used = 0, step;
	uint32_t code;

	while (left) {
		step = text_utf8_len(text, left, &code);
		if (used + (step ? step : 1) >= size)
			break;
		if (step && !text_steers(code)) {
			memcpy(to + used, text, step);
			used += step;
		} else {
			to[used++] = '?';
		}
		step = step ? step : 1;
		text += step;
		left -= step;
	}
	to[used] = '\0';
}

/* Writes the escape of one character, or of a byte that begins none (@step 0). */
static size_t write_escape(char *to, size_t size, size_t step, uint32_t code, uint8_t byte)
{
	static const char named[] = "\n\r\t", letters[] = "nrt";
	const char *at = step && code && code < 0x80 ? strchr(named, (int)code) : NULL;
	int len;

	if (at)
		len = snprintf(to, size, "\\%c", letters[at - named]);
	else if (step && code >= 0x100)
		len = snprintf(to, size, "\\u{%" PRIX32 "}", code);
	else
		len = snprintf(to, size, "\\x%02X", step ? (unsigned int)code : byte);
	return (size_t)len;
}

void dealer_answer_keep(char *to, size_t size, const void *bytes, size_t len)
{
	const char *from = bytes;
	char escape[16];
	size_t used = 0;

	while (len) {
		uint32_t code = 0;
		const size_t step = text_utf8_len(from, len, &code);
		const bool plain = step && !text_steers(code);
		const size_t need = plain
			? step
			: write_escape(escape, sizeof(escape), step, code, (uint8_t)*from);

		if (used + need >= size)
			break;
		memcpy(to + used, plain ? from : escape, need);
		used += need;
		from += step ? step : 1;
		len -= step ? step : 1;
	}
	to[used] = '\0';
}

static bool take_user_id(const json_t *value, struct callback_outcome *outcome)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);

	return text && len && text_is_utf8_clean(text, len) &&
		text_copy_len(outcome->user_id, sizeof(outcome->user_id), text, len);
}

static bool take_currency(const json_t *value, struct callback_outcome *outcome)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	const char *text = json_string_value(value);

	return text && strlen(text) >= CURRENCY_LEN_MIN && !text[strspn(text, letters)] &&
		text_copy(outcome->currency, sizeof(outcome->currency), text);
}

static bool take_balance(const json_t *value, struct callback_outcome *outcome)
{
	outcome->has_balance = json_is_integer(value)
		? money_from_integer(json_integer_value(value), &outcome->balance)
		: json_is_real(value) &&
			money_from_double(json_real_value(value), &outcome->balance);
	return outcome->has_balance;
}

static bool take_shortfall(const json_t *value, struct callback_outcome *outcome)
{
	money_t shortfall;
	const bool taken = json_is_integer(value)
		? money_from_integer(json_integer_value(value), &shortfall)
		: json_is_real(value) && money_from_double(json_real_value(value), &shortfall);

	/* Some programs write null for a member that does not apply. */
	if (json_is_null(value))
		return true;
	outcome->shortfall = taken && shortfall >= 0 ? shortfall : -1;
	return outcome->shortfall >= 0;
}

/* The optional members of a successful response. */
static const struct {
	const char *name;
	bool (*take)(const json_t *value, struct callback_outcome *outcome);
} members[] = {
	{"user_id", take_user_id},
	{"balance", take_balance},
	{"currency", take_currency},
	{"shortfall", take_shortfall},
};

static void read_members(const json_t *body, struct callback_outcome *outcome)
{
	char dropped[64] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *value = json_object_get(body, members[i].name);

		if (value && !members[i].take(value, outcome))
			used += (size_t)snprintf(dropped + used, sizeof(dropped) - used, "%s%s",
				used ? ", " : "", members[i].name);
	}
	if (used)
		snprintf(outcome->note, sizeof(outcome->note), "not usable in the answer: %s",
			dropped);
}

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!text[i] || !strchr(" \t\r\n", text[i]))
			return false;
	}
	return true;
}

enum dealer_answer_shape dealer_answer_read(const void *text, size_t len,
	struct callback_outcome *outcome)
{
	enum dealer_answer_shape shape = DEALER_ANSWER_OBJECT;
	char detail[BODY_DETAIL_MAX];
	const char *id, *words;
	json_t *body = NULL;

	if (is_blank(text, len))
		return DEALER_ANSWER_EMPTY;
	if (parse_object(text, len, &body, detail) != REFUSAL_NONE) {
		snprintf(outcome->note, sizeof(outcome->note), "the answer is not readable: %.*s",
			(int)sizeof(outcome->note) - 32, detail);
		shape = DEALER_ANSWER_UNREADABLE;
	} else {
		id = json_string_value(json_object_get(body, "id"));
		words = json_string_value(json_object_get(body, "detail"));
		if (id && words) {
			shape = DEALER_ANSWER_ERROR;
			dealer_answer_quote(outcome->dealer_error_id,
				sizeof(outcome->dealer_error_id), id);
			dealer_answer_quote(outcome->dealer_error_detail,
				sizeof(outcome->dealer_error_detail), words);
		} else {
			read_members(body, outcome);
		}
	}
	json_decref(body);
	return shape;
}

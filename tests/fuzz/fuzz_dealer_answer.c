/*
 * fuzz_dealer_answer - what a dealer's server answered to a callback, and its class.
 *
 * Two bytes are the HTTP status, the rest is the body. What goes on to the ledger must be bounded,
 * clean UTF-8 and survive the link; nothing but a whole answer may count as a yes or a no.
 */
#include "fuzz.h"

#include "base/pack.h"
#include "base/text.h"
#include "callback/classify.h"
#include "wire/dealer_answer.h"

#include <jansson.h>

#define CLEAN(member) clean((member), sizeof(member))

static void clean(const char *text, size_t size)
{
	must(strnlen(text, size) < size);
	must(text_is_utf8_clean(text, strlen(text)));
}

static void check_outcome(const struct callback_outcome *outcome)
{
	struct callback_outcome again;
	struct buffer out;
	struct bytes in;

	CLEAN(outcome->dealer_error_id);
	CLEAN(outcome->dealer_error_detail);
	CLEAN(outcome->currency);
	CLEAN(outcome->user_id);
	CLEAN(outcome->note);
	must(outcome->has_balance || !outcome->balance);
	must(outcome->balance <= MONEY_MAX && outcome->balance >= -MONEY_MAX);
	buffer_init(&out, FUZZ_ROW_MAX);
	must(pack_record(&out, callback_outcome_fields, outcome));
	in = (struct bytes){out.data, (uint32_t)out.len};
	memset(&again, 0, sizeof(again));
	must(unpack_record(&in, callback_outcome_fields, &again) && !in.len);
	must(strcmp(again.note, outcome->note) == 0);
	buffer_free(&out);
}

static void check_shape(struct bytes body, const json_t *json)
{
	struct callback_outcome outcome;
	enum dealer_answer_shape shape;
	const char *id, *detail;

	memset(&outcome, 0, sizeof(outcome));
	shape = dealer_answer_read(body.data, body.len, &outcome);
	check_outcome(&outcome);
	must(shape != DEALER_ANSWER_UNREADABLE || outcome.note[0]);
	must(shape == DEALER_ANSWER_ERROR ||
		(!outcome.dealer_error_id[0] && !outcome.dealer_error_detail[0]));
	must(shape == DEALER_ANSWER_OBJECT ||
		(!outcome.has_balance && !outcome.currency[0] && !outcome.user_id[0]));
	if (!json)
		return;
	must(shape != DEALER_ANSWER_EMPTY);
	must(shape == DEALER_ANSWER_UNREADABLE || json_is_object(json));
	id = json_string_value(json_object_get(json, "id"));
	detail = json_string_value(json_object_get(json, "detail"));
	must(shape == DEALER_ANSWER_UNREADABLE || (shape == DEALER_ANSWER_ERROR) == (id && detail));
	if (outcome.has_balance)
		must(money_to_double(outcome.balance) ==
			json_number_value(json_object_get(json, "balance")));
	if (outcome.user_id[0])
		must(strcmp(outcome.user_id, json_string_value(json_object_get(json, "user_id"))) ==
			0);
}

static void check_class(struct bytes body, int code, bool whole, bool needs_balance)
{
	struct http_answer answer = {.outcome = whole ? HTTP_ANSWERED : HTTP_CUT,
		.code = code,
		.ms = 5};
	struct callback_outcome outcome;

	buffer_init(&answer.headers, 256);
	buffer_init(&answer.body, FUZZ_ROW_MAX);
	buffer_append(&answer.body, body.data, body.len);
	snprintf(answer.error, sizeof(answer.error), "the connection broke");
	classify(&answer, needs_balance, &outcome);
	check_outcome(&outcome);
	must(outcome.class != CALLBACK_SUCCESS || !needs_balance || outcome.has_balance);
	must(whole || outcome.class == CALLBACK_UNKNOWN);
	must(outcome.class != CALLBACK_NOT_SENT);
	must(outcome.class != CALLBACK_SUCCESS || code / 100 == 2);
	must(outcome.class != CALLBACK_REFUSED || code / 100 == 4 || outcome.dealer_error_id[0] ||
		code / 100 == 2);
	buffer_free(&answer.headers);
	buffer_free(&answer.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int codes[] = {200, 201, 204, 299, 301, 302, 400, 401, 404, 408, 409, 425, 429,
		499, 500, 503, 100, 199, 600, 999};
	struct bytes in = {data, (uint32_t)size};
	const int code = codes[fuzz_byte(&in) % (sizeof(codes) / sizeof(codes[0]))];
	const uint8_t flags = fuzz_byte(&in);
	json_t *json = json_loadb((const char *)in.data, in.len, JSON_REJECT_DUPLICATES, NULL);

	check_shape(in, json);
	check_class(in, code, flags & 1, flags & 2);
	json_decref(json);
	return 0;
}

#include "suites.h"

#include "domain/records.h"
#include "wire/render.h"

#include <jansson.h>
#include <string.h>

struct slot {
	char name[4];
	uint8_t number;
};
struct numbered {
	uint8_t number;
	char name[4];
};
struct all {
	bool yes;
	bool no;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	int32_t i32;
	uint64_t u64;
	unsigned int kind;
	money_t money;
	int64_t time_ms;
	char text[5];
	char secret[8];
	struct bytes bytes;
	struct bytes json;
	struct bytes nothing;
	struct slot slots[3];
	struct numbered numbereds[2];
};
static const char *const kind_names[] = {"one", "two"};
static const struct field slot_fields[] = {
	FIELD(FIELD_STR, slot, name),
	FIELD(FIELD_U8, slot, number),
	FIELD_END,
};
static const struct field numbered_fields[] = {
	FIELD(FIELD_U8, numbered, number),
	FIELD(FIELD_STR, numbered, name),
	FIELD_END,
};
static const struct field all_fields[] = {
	FIELD(FIELD_SECRET, all, secret),
	FIELD(FIELD_BOOL, all, yes),
	FIELD(FIELD_BOOL, all, no),
	FIELD(FIELD_U8, all, u8),
	FIELD(FIELD_U16, all, u16),
	FIELD(FIELD_U32, all, u32),
	FIELD(FIELD_I32, all, i32),
	FIELD(FIELD_U64, all, u64),
	FIELD_NAMED(all, kind, kind_names, 2),
	FIELD(FIELD_MONEY, all, money),
	FIELD(FIELD_TIME_MS, all, time_ms),
	FIELD(FIELD_STR, all, text),
	FIELD(FIELD_BYTES, all, bytes),
	FIELD(FIELD_JSON, all, json),
	FIELD(FIELD_JSON, all, nothing),
	FIELD_SUB(all, slots, slot, slot_fields),
	FIELD_SUB(all, numbereds, numbered, numbered_fields),
	FIELD_END,
};
static const char all_json[] =
	"{\"yes\":true,\"no\":false,\"u8\":255,\"u16\":65535,\"u32\":4294967295,"
	"\"i32\":-2147483648,\"u64\":18446744073709551615,\"kind\":\"two\",\"money\":-12.5,"
	"\"time_ms\":1700000000123,\"text\":\"a\\\"b\","
	"\"json\":{ \"a\": [1.50] },"
	"\"slots\":[{\"name\":\"k1\",\"number\":1},{\"name\":\"k3\",\"number\":3}],"
	"\"numbereds\":[{\"number\":0,\"name\":\"\"},{\"number\":1,\"name\":\"\"}]}";

static struct all example(void)
{
	struct all all;

	memset(&all, 0, sizeof(all));
	all.yes = true;
	all.u8 = UINT8_MAX;
	all.u16 = UINT16_MAX;
	all.u32 = UINT32_MAX;
	all.i32 = INT32_MIN;
	all.u64 = UINT64_MAX;
	all.kind = 1;
	all.money = -125000;
	all.time_ms = INT64_C(1700000000123);
	strcpy(all.text, "a\"b");
	strcpy(all.secret, "hidden");
	all.bytes = (struct bytes){(const uint8_t *)"hidden", 6};
	all.json = (struct bytes){(const uint8_t *)"{ \"a\": [1.50] }", 15};
	strcpy(all.slots[0].name, "k1");
	all.slots[0].number = 1;
	all.slots[1].number = 2;
	strcpy(all.slots[2].name, "k3");
	all.slots[2].number = 3;
	all.numbereds[1].number = 1;
	return all;
}

/* Returns the appended data as a string. */
static const char *text_of(struct buffer *out)
{
	ck_assert(buffer_append(out, "", 1));
	return (const char *)out->data;
}

START_TEST(every_type)
{
	struct all all = example();
	struct buffer out;

	buffer_init(&out, 4096);
	ck_assert(render_record(&out, all_fields, &all));
	ck_assert_str_eq(text_of(&out), all_json);
	buffer_free(&out);
}
END_TEST

START_TEST(odd_records)
{
	static const struct field nothing[] = {FIELD_END};
	struct all all = example();
	struct buffer out;

	buffer_init(&out, 4096);
	ck_assert(render_record(&out, nothing, &all));
	ck_assert(render_record(&out, numbered_fields, &all.numbereds[1]));
	ck_assert_str_eq(text_of(&out), "{}{\"number\":1,\"name\":\"\"}");
	buffer_reset(&out);
	/* A text that fills its member, and a number without a name. */
	memcpy(all.text, "12345", 5);
	all.kind = 2;
	ck_assert(render_record(&out, all_fields, &all));
	ck_assert_ptr_nonnull(strstr(text_of(&out), "\"kind\":null,"));
	ck_assert_ptr_nonnull(strstr(text_of(&out), "\"text\":\"12345\","));
	buffer_free(&out);
}
END_TEST

START_TEST(amounts)
{
	static const struct {
		money_t money;
		const char *text;
	} cases[] = {
		{0, "{\"balance\":0.0}"},
		{1, "{\"balance\":0.0001}"},
		{1000, "{\"balance\":0.1}"},
		{3000, "{\"balance\":0.3}"},
		{-1000, "{\"balance\":-0.1}"},
		{1000000, "{\"balance\":100.0}"},
		{MONEY_MAX, "{\"balance\":99999999999.9999}"},
		{-MONEY_MAX, "{\"balance\":-99999999999.9999}"},
		{MONEY_MAX - 1, "{\"balance\":99999999999.9998}"},
		{INT64_C(1234567890123456789), "{\"balance\":123456789012345.6789}"},
		{INT64_MAX, "{\"balance\":922337203685477.5807}"},
		{INT64_MIN, "{\"balance\":-922337203685477.5808}"},
	};
	static const struct field fields[] = {FIELD(FIELD_MONEY, player, balance), FIELD_END};
	struct player player;
	struct buffer out;

	memset(&player, 0, sizeof(player));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_init(&out, 4096);
		player.balance = cases[i].money;
		ck_assert(render_record(&out, fields, &player));
		ck_assert_str_eq(text_of(&out), cases[i].text);
		buffer_free(&out);
	}
}
END_TEST

START_TEST(strings)
{
	static const struct {
		const char *text;
		const char *json;
	} cases[] = {
		{"", "\"\""},
		{"alice", "\"alice\""},
		{"\"\\/", "\"\\\"\\\\/\""},
		{"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
		{"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
		{"\xc2\x85", "\"\\u0085\""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
			"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"a\xff\xc3", "\"a??\""},
		{"\xed\xa0\x80", "\"???\""},
		{"<script>", "\"<script>\""},
	};
	struct buffer out;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_init(&out, 4096);
		ck_assert(render_string(&out, cases[i].text));
		ck_assert_str_eq(text_of(&out), cases[i].json);
		buffer_free(&out);
	}
}
END_TEST

START_TEST(every_byte_is_readable_json)
{
	/* An independent reader must restore the written value. */
	for (int c = 1; c < 256; c++) {
		char text[] = {'<', (char)c, '>', '\0'};
		struct buffer out;
		json_t *back;

		buffer_init(&out, 256);
		ck_assert(render_string(&out, text));
		back = json_loadb((const char *)out.data, out.len, JSON_DECODE_ANY, NULL);
		ck_assert_msg(back != NULL, "byte %d", c);
		ck_assert_str_eq(json_string_value(back), c < 0x80 ? text : "<?>");
		json_decref(back);
		buffer_free(&out);
	}
}
END_TEST

START_TEST(secrets_of_a_dealer)
{
	struct dealer dealer;
	struct buffer out;
	const char *text;

	memset(&dealer, 0, sizeof(dealer));
	strcpy(dealer.casino_id, "demo");
	strcpy(dealer.keys[0].key_id, "k1");
	memset(dealer.keys[0].secret, 'f', 64);
	dealer.signature_algorithm = HMAC_SHA512;
	buffer_init(&out, 8192);
	ck_assert(render_record(&out, dealer_fields, &dealer));
	text = text_of(&out);
	ck_assert_ptr_null(strstr(text, "ffff"));
	ck_assert_ptr_null(strstr(text, "secret"));
	ck_assert_ptr_nonnull(strstr(text, "\"keys\":[{\"key_id\":\"k1\",\"created_ms\":0}]"));
	ck_assert_ptr_nonnull(strstr(text, "\"signature_algorithm\":\"hmac-sha512\""));
	buffer_free(&out);
}
END_TEST

START_TEST(errors)
{
	static const struct {
		struct error_body error;
		const char *json;
	} cases[] = {
		{{.refusal = REFUSAL_USER_NOT_FOUND, .request_id = "r-1"},
			"{\"id\":\"user_not_found\",\"code\":404,\"status\":\"Not Found\","
			"\"detail\":\"the player is not known\",\"retryable\":false,"
			"\"request_id\":\"r-1\"}"},
		{{.refusal = REFUSAL_BAD_REQUEST,
			 .detail = "amount: is \"required\"",
			 .request_id = "r",
			 .field = "",
			 .current_balance = 5},
			"{\"id\":\"bad_request\",\"code\":400,\"status\":\"Bad Request\","
			"\"detail\":\"amount: is \\\"required\\\"\",\"retryable\":false,"
			"\"request_id\":\"r\"}"},
		{{.refusal = REFUSAL_TRANSACTION_CONFLICT,
			 .detail = "d",
			 .request_id = "r",
			 .field = "amount"},
			"{\"id\":\"transaction_conflict\",\"code\":409,\"status\":\"Conflict\","
			"\"detail\":\"d\",\"retryable\":false,\"request_id\":\"r\","
			"\"field\":\"amount\"}"},
		{{.refusal = REFUSAL_INSUFFICIENT_BALANCE,
			 .detail = "d",
			 .request_id = "r",
			 .has_balance = true,
			 .current_balance = 105000},
			"{\"id\":\"insufficient_balance\",\"code\":402,"
			"\"status\":\"Payment Required\",\"detail\":\"d\",\"retryable\":false,"
			"\"request_id\":\"r\",\"current_balance\":10.5}"},
		{{.refusal = REFUSAL_STORAGE_FULL, .detail = "d"},
			"{\"id\":\"storage_full\",\"code\":503,\"status\":\"Service Unavailable\","
			"\"detail\":\"d\",\"retryable\":true,\"request_id\":\"\"}"},
		{{.refusal = REFUSAL_BET_REJECTED,
			 .detail = "d",
			 .request_id = "r",
			 .dealer_error_id = "no",
			 .dealer_error_detail = "a \"b\""},
			"{\"id\":\"bet_rejected\",\"code\":409,\"status\":\"Conflict\","
			"\"detail\":\"d\",\"retryable\":false,\"request_id\":\"r\","
			"\"dealer_error\":{\"id\":\"no\",\"detail\":\"a \\\"b\\\"\"}}"},
		{{.refusal = REFUSAL_DEALER_TIMEOUT,
			 .detail = "d",
			 .request_id = "r",
			 .state = "refunding"},
			"{\"id\":\"dealer_timeout\",\"code\":504,"
			"\"status\":\"Gateway Timeout\",\"detail\":\"d\",\"retryable\":false,"
			"\"request_id\":\"r\",\"state\":\"refunding\"}"},
		{{.refusal = REFUSAL_DEALER_TIMEOUT,
			 .detail = "d",
			 .request_id = "r",
			 .retryable = true},
			"{\"id\":\"dealer_timeout\",\"code\":504,"
			"\"status\":\"Gateway Timeout\",\"detail\":\"d\",\"retryable\":true,"
			"\"request_id\":\"r\"}"},
	};
	struct buffer out;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_init(&out, 4096);
		ck_assert(render_error(&out, &cases[i].error));
		ck_assert_str_eq(text_of(&out), cases[i].json);
		buffer_free(&out);
	}
}
END_TEST

struct outer {
	struct numbered inner;
	struct bytes json;
};

/* A nested struct is an object. JSON text with line breaks stays on its line. */
START_TEST(nested)
{
	static const struct field fields[] = {
		FIELD_SUB(outer, inner, numbered, numbered_fields),
		FIELD(FIELD_JSON, outer, json),
		FIELD_END,
	};
	static const char json[] = "{\r\n\t\"a\": \"\\n\"\n}";
	struct outer outer = {
		.inner = {.number = 7},
		.json = {(const uint8_t *)json, sizeof(json) - 1},
	};
	struct buffer out;

	buffer_init(&out, 4096);
	ck_assert(render_record(&out, fields, &outer));
	ck_assert_str_eq(text_of(&out),
		"{\"inner\":{\"number\":7,\"name\":\"\"},"
		"\"json\":{  \t\"a\": \"\\n\" }}");
	buffer_free(&out);
}
END_TEST

START_TEST(every_refusal_has_a_reason)
{
	for (unsigned int i = 0; i < REFUSAL_COUNT; i++)
		ck_assert_str_ne(render_reason(refusal_info((enum refusal)i)->code), "Error");
	ck_assert_str_eq(render_reason(200), "OK");
	ck_assert_str_eq(render_reason(502), "Bad Gateway");
	ck_assert_str_eq(render_reason(504), "Gateway Timeout");
	ck_assert_str_eq(render_reason(299), "Error");
}
END_TEST

START_TEST(a_full_buffer_takes_nothing)
{
	struct all all = example();
	struct error_body error = {
		.refusal = REFUSAL_INSUFFICIENT_BALANCE,
		.detail = "d",
		.request_id = "r",
		.field = "f",
		.has_balance = true,
		.current_balance = 1,
	};

	for (size_t max = 3; max < sizeof(all_json) + 2; max++) {
		struct buffer out;
		bool fits;

		buffer_init(&out, max);
		ck_assert(buffer_append(&out, "abc", 3));
		fits = render_record(&out, all_fields, &all);
		/*
		 * A number needs room for a NUL while it is printed; no other slack is allowed.
		 */
		ck_assert_msg(fits == (max >= 3 + sizeof(all_json) - 1), "%zu", max);
		ck_assert(fits || (out.failed && out.len == 3));
		buffer_reset(&out);
		if (max < 100) {
			ck_assert(buffer_append(&out, "abc", 3));
			ck_assert(!render_error(&out, &error));
			ck_assert(out.failed && out.len == 3);
		}
		buffer_free(&out);
	}
}
END_TEST

Suite *render_suite(void)
{
	const TTest *const tests[] = {every_type, odd_records, amounts, strings,
		every_byte_is_readable_json, secrets_of_a_dealer, errors, nested,
		every_refusal_has_a_reason, a_full_buffer_takes_nothing, NULL};

	return suite_make("render", tests, 20);
}

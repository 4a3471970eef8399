#include "suites.h"

#include "chance.h"
#include "domain/money.h"
#include "domain/records.h"
#include "guard.h"
#include "wire/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
	money_t amount;
	char user_id[129];
	char casino_id[65];
	int64_t request_timestamp;
	char note[9];
	struct bytes object;
};
static const struct body_field fields[] = {
	BODY_FIELD(BODY_AMOUNT, call, amount),
	BODY_FIELD(BODY_ID, call, user_id),
	{"casino_id", BODY_NAME, false, offsetof(struct call, casino_id), 65, NULL},
	{"request_timestamp", BODY_INTEGER, false, offsetof(struct call, request_timestamp), 8,
		NULL},
	{"note", BODY_ID, false, offsetof(struct call, note), 9, NULL},
	BODY_OPTIONAL("object", BODY_OBJECT, call, object),
	BODY_FIELD_END,
};

#define A128                                                                                       \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                         \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define D400                                                                                       \
	"00000000000000000000000000000000000000000000000000000000000000000000000000000000"         \
	"00000000000000000000000000000000000000000000000000000000000000000000000000000000"         \
	"00000000000000000000000000000000000000000000000000000000000000000000000000000000"         \
	"00000000000000000000000000000000000000000000000000000000000000000000000000000000"         \
	"00000000000000000000000000000000000000000000000000000000000000000000000000000000"
#define U              "\"user_id\":\"alice\""
#define AMOUNT(number) "{" U ",\"amount\":" number "}"
#define WITH(more)     "{" U ",\"amount\":1," more "}"

#define ABOVE  "amount: must be above zero"
#define MOST   "amount: must be at most 99999999999.9999"
#define FINE   "amount: must have at most 4 decimals"
#define NUMBER "amount: must be a number"
#define ID     "user_id: must be 1 to 128 bytes of UTF-8 without control characters"
#define NAME   "casino_id: must be 1 to 64 of A-Z a-z 0-9 _ . -"
#define WHOLE  "request_timestamp: must be an integer from 0 to 9007199254740991"
#define TWICE  "the body has a key twice: send each key once"
#define DEEP   "the body is nested deeper than 16: send a flatter object"
#define OBJECT "the body is not a JSON object"
#define EMPTY                                                                                      \
	"the body is empty: send one JSON object; where a proxy drops the body of a GET, "         \
	"use POST on the same path"
#define PRINTED "the body is a printed PHP array: send what json_encode() makes of it"
#define SINGLE  "the body has ' where JSON has \", as a printed Python dict: use a JSON library"
/* Its position is checked separately. */
#define JSON "the body is not valid JSON"

static const struct {
	const char *text;
	enum refusal refusal;
	const char *detail;
	money_t amount;
} cases[] = {
	/* amounts */
	{AMOUNT("1"), REFUSAL_NONE, "", 10000},
	{AMOUNT("0.1"), REFUSAL_NONE, "", 1000},
	{AMOUNT("12.3456"), REFUSAL_NONE, "", 123456},
	{AMOUNT("1.0"), REFUSAL_NONE, "", 10000},
	{AMOUNT("1.5e2"), REFUSAL_NONE, "", 1500000},
	{AMOUNT("1E+2"), REFUSAL_NONE, "", 1000000},
	{AMOUNT("1e-4"), REFUSAL_NONE, "", 1},
	{AMOUNT("0.10000000000000000000000000000000"), REFUSAL_NONE, "", 1000},
	{AMOUNT("10000000000000000000000000e-25"), REFUSAL_NONE, "", 10000},
	{AMOUNT("0." D400 "1e401"), REFUSAL_NONE, "", 10000},
	{AMOUNT("0.1" D400), REFUSAL_NONE, "", 1000},
	{AMOUNT("99999999999"), REFUSAL_NONE, "", INT64_C(999999999990000)},
	{AMOUNT("99999999999.9999"), REFUSAL_NONE, "", MONEY_MAX},
	{AMOUNT("0"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("-0"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("-0.0"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("0.0"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("0e400"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("0." D400 "e99999"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("1e-400"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("1e-99999999999999999999"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("-1"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("-0.00001"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("-1e400"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("-99999999999999999999"), REFUSAL_INVALID_AMOUNT, ABOVE, 0},
	{AMOUNT("0.00001"), REFUSAL_INVALID_AMOUNT, FINE, 0},
	{AMOUNT("1.00001"), REFUSAL_INVALID_AMOUNT, FINE "; 1.00001 is nearest to 1.0000", 0},
	{AMOUNT("0.30000000000000004"), REFUSAL_INVALID_AMOUNT,
		FINE "; 0.30000000000000004 is nearest to 0.3000", 0},
	{AMOUNT("\"10.00\""), REFUSAL_BAD_REQUEST, NUMBER ", without quotes", 0},
	{AMOUNT("\"\""), REFUSAL_BAD_REQUEST, NUMBER, 0},
	{AMOUNT("\"abc\""), REFUSAL_BAD_REQUEST, NUMBER, 0},
	{AMOUNT("100000000000"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("100000000000.0"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("9007199254740993"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("9223372036854775807"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("9223372036854775808"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("99999999999999999999"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("999999999999999999"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1e18"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1e308"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1e309"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1e400"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1.7E+400"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1e99999999999999999999"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1" D400), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("1" D400 ".5"), REFUSAL_INVALID_AMOUNT, MOST, 0},
	{AMOUNT("\"1\""), REFUSAL_BAD_REQUEST, NUMBER ", without quotes", 0},
	{AMOUNT("true"), REFUSAL_BAD_REQUEST, NUMBER, 0},
	{AMOUNT("null"), REFUSAL_BAD_REQUEST, NUMBER, 0},
	{AMOUNT("[1]"), REFUSAL_BAD_REQUEST, NUMBER, 0},
	{AMOUNT("{}"), REFUSAL_BAD_REQUEST, NUMBER, 0},
	{"{" U "}", REFUSAL_BAD_REQUEST, "amount: is required", 0},
	/* a malformed number is refused at any size */
	{AMOUNT("01"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("01e400"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("0000000000000000000000000001"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("1e400.5"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("1e400e5"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("1e400x"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("1e400 1"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("99999999999999999999."), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("99999999999999999999.e5"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("99999999999999999999e"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("99999999999999999999e+"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("+99999999999999999999"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("--99999999999999999999"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT(".5"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("0x10"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("NaN"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT("Infinity"), REFUSAL_BAD_REQUEST, JSON, 0},
	{AMOUNT(""), REFUSAL_BAD_REQUEST, JSON, 0},
	/* types are checked before amounts */
	{"{\"amount\":-1}", REFUSAL_BAD_REQUEST, "user_id: is required", 0},
	{"{\"amount\":-1,\"user_id\":5}", REFUSAL_BAD_REQUEST, "user_id: must be a string", 0},
	/* ids */
	{"{\"amount\":1,\"user_id\":\"" A128 "\"}", REFUSAL_NONE, "", 10000},
	{"{\"amount\":1,\"user_id\":\"" A128 "a\"}", REFUSAL_BAD_REQUEST, ID, 0},
	{"{\"amount\":1,\"user_id\":\"\"}", REFUSAL_BAD_REQUEST, ID, 0},
	{"{\"amount\":1,\"user_id\":\"a\\nb\"}", REFUSAL_BAD_REQUEST, ID, 0},
	{"{\"amount\":1,\"user_id\":\"a\\u001fb\"}", REFUSAL_BAD_REQUEST, ID, 0},
	{"{\"amount\":1,\"user_id\":\"a\\u007f\"}", REFUSAL_BAD_REQUEST, ID, 0},
	{"{\"amount\":1,\"user_id\":\"a\\u0085\"}", REFUSAL_BAD_REQUEST, ID, 0},
	{"{\"amount\":1,\"user_id\":\"a\\u0020b\\u00e4\"}", REFUSAL_NONE, "", 10000},
	{"{\"amount\":1,\"user_id\":\"\xc3\xa4\xf0\x9f\x98\x80\"}", REFUSAL_NONE, "", 10000},
	{"{\"amount\":1,\"user_id\":null}", REFUSAL_BAD_REQUEST, "user_id: must be a string", 0},
	{"{\"amount\":1,\"user_id\":[\"a\"]}", REFUSAL_BAD_REQUEST, "user_id: must be a string", 0},
	{WITH("\"note\":\"12345678\""), REFUSAL_NONE, "", 10000},
	{WITH("\"note\":\"123456789\""), REFUSAL_BAD_REQUEST,
		"note: must be 1 to 8 bytes of UTF-8 without control characters", 0},
	/* names */
	{WITH("\"casino_id\":\"A-z_0.9\""), REFUSAL_NONE, "", 10000},
	{WITH("\"casino_id\":\"a b\""), REFUSAL_BAD_REQUEST, NAME, 0},
	{WITH("\"casino_id\":\"\""), REFUSAL_BAD_REQUEST, NAME, 0},
	{WITH("\"casino_id\":\"" A128 "\""), REFUSAL_BAD_REQUEST, NAME, 0},
	{WITH("\"casino_id\":7"), REFUSAL_BAD_REQUEST, "casino_id: must be a string", 0},
	/* integers */
	{WITH("\"request_timestamp\":0"), REFUSAL_NONE, "", 10000},
	{WITH("\"request_timestamp\":9007199254740991"), REFUSAL_NONE, "", 10000},
	{WITH("\"request_timestamp\":9007199254740992"), REFUSAL_BAD_REQUEST, WHOLE, 0},
	{WITH("\"request_timestamp\":99999999999999999999"), REFUSAL_BAD_REQUEST, WHOLE, 0},
	{WITH("\"request_timestamp\":-1"), REFUSAL_BAD_REQUEST, WHOLE, 0},
	{WITH("\"request_timestamp\":1.0"), REFUSAL_BAD_REQUEST, WHOLE, 0},
	{WITH("\"request_timestamp\":1e3"), REFUSAL_BAD_REQUEST, WHOLE, 0},
	{WITH("\"request_timestamp\":\"1\""), REFUSAL_BAD_REQUEST,
		"request_timestamp: must be an integer", 0},
	{WITH("\"request_timestamp\":null"), REFUSAL_BAD_REQUEST,
		"request_timestamp: must be an integer", 0},
	/* unknown members are ignored, whatever they contain */
	{WITH("\"x\":null,\"y\":[1,{\"z\":-1.5}],\"\":\"\""), REFUSAL_NONE, "", 10000},
	{WITH("\"x\":1e400"), REFUSAL_NONE, "", 10000},
	{WITH("\"x\":[1e400,-1e400,[99999999999999999999,-99999999999999999999,1e18,1" D400 "]]"),
		REFUSAL_NONE, "", 10000},
	{WITH("\"x\":\"1e400 99999999999999999999\""), REFUSAL_NONE, "", 10000},
	{WITH("\"1e400\":\"\\\"1e400\""), REFUSAL_NONE, "", 10000},
	{WITH("\"Amount\":-1"), REFUSAL_NONE, "", 10000},
	/* white space */
	{" \t\r\n{ \"amount\" : 1 ,\r\n" U " } \n", REFUSAL_NONE, "", 10000},
	{"{" U ",\"amount\":1}x", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{" U ",\"amount\":1}}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{" U ",\"amount\":1} {}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{" U ",\"amount\":1} 1e400", REFUSAL_BAD_REQUEST, JSON, 0},
	{"\xef\xbb\xbf{" U ",\"amount\":1}", REFUSAL_BAD_REQUEST,
		"the body begins with a byte order mark: send UTF-8 without one", 0},
	/* not JSON */
	{"", REFUSAL_BAD_REQUEST, EMPTY, 0},
	/* accidental forms that programs produce */
	{"\x1f\x8b\x08", REFUSAL_BAD_REQUEST, "the body is compressed (gzip): send it uncompressed",
		0},
	{"\xff\xfe{", REFUSAL_BAD_REQUEST, "the body is in UTF-16: send and sign it in UTF-8", 0},
	{"\xfe\xff", REFUSAL_BAD_REQUEST, "the body is in UTF-16: send and sign it in UTF-8", 0},
	{"--b0\r\nContent-Disposition: form-data; name=\"amount\"\r\n", REFUSAL_BAD_REQUEST,
		"the body is a multipart form: send JSON with Content-Type: application/json", 0},
	{"Array\n(\n    [amount] => 1\n)\n", REFUSAL_BAD_REQUEST, PRINTED, 0},
	{"array(1) {\n", REFUSAL_BAD_REQUEST, PRINTED, 0},
	{"a:1:{s:6:\"amount\";i:1;}", REFUSAL_BAD_REQUEST, PRINTED, 0},
	{"{'user_id': 'alice', 'amount': None}", REFUSAL_BAD_REQUEST, SINGLE, 0},
	{"\"{\\\"amount\\\":1}\"", REFUSAL_BAD_REQUEST,
		"the body is a JSON string that holds JSON: serialise it once, not twice", 0},
	{" ", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\\", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1e40", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1e400", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":99999999999999999999.", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{'amount':1}", REFUSAL_BAD_REQUEST, SINGLE, 0},
	{"{" U ",\"amount\":1,}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{" U ",/* */\"amount\":1}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"amount=1&user_id=alice", REFUSAL_BAD_REQUEST,
		"the body is a form (name=value): send JSON with Content-Type: application/json",
		0},
	{"}{", REFUSAL_BAD_REQUEST, JSON, 0},
	/* JSON that is not an object */
	{"[]", REFUSAL_BAD_REQUEST, OBJECT, 0},
	{"[{" U ",\"amount\":1}]", REFUSAL_BAD_REQUEST, OBJECT, 0},
	{"null", REFUSAL_BAD_REQUEST, JSON, 0},
	{"\"x\"", REFUSAL_BAD_REQUEST, JSON, 0},
	{"1", REFUSAL_BAD_REQUEST, JSON, 0},
	{"1e400", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{}", REFUSAL_BAD_REQUEST, "amount: is required", 0},
	/* duplicates */
	{"{\"amount\":1," U ",\"amount\":1}", REFUSAL_BAD_REQUEST, TWICE, 0},
	{"{\"amount\":1," U ",\"am\\u006funt\":1}", REFUSAL_BAD_REQUEST, TWICE, 0},
	{WITH("\"x\":1,\"x\":1"), REFUSAL_BAD_REQUEST, TWICE, 0},
	{WITH("\"x\":[{\"y\":1,\"y\":1}]"), REFUSAL_BAD_REQUEST, TWICE, 0},
	/* invalid text */
	{"{\"amount\":1,\"user_id\":\"\xff\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"\xc0\x80\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"\xed\xa0\x80\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"\\ud800\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"\\udc00\\ud800\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"a\nb\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"a\\u0000b\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"\\u0000\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	{WITH("\"x\":\"\\u0000\""), REFUSAL_BAD_REQUEST, JSON, 0},
	{WITH("\"\\u0000\":1"), REFUSAL_BAD_REQUEST, JSON, 0},
	{"{\"amount\":1,\"user_id\":\"\\x41\"}", REFUSAL_BAD_REQUEST, JSON, 0},
	/* nesting depth; the outermost object counts as 1 */
	{WITH("\"x\":[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]"), REFUSAL_NONE, "", 10000},
	{WITH("\"x\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"), REFUSAL_BAD_REQUEST, DEEP, 0},
	{WITH("\"x\":[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]"), REFUSAL_NONE, "", 10000},
	{WITH("\"x\":[[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]]"), REFUSAL_BAD_REQUEST, DEEP, 0},
	{WITH("\"x\":\"[[[[[[[[[[[[[[[[[[[[[[[\""), REFUSAL_NONE, "", 10000},
	{WITH("\"x\":[[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]"), REFUSAL_NONE, "",
		10000},
};
#define CASE_COUNT ((int)(sizeof(cases) / sizeof(cases[0])))

START_TEST(bodies)
{
	size_t len = strlen(cases[_i].text);
	struct guard guard = guard_make(4096);
	char detail[BODY_DETAIL_MAX];
	struct call call;
	enum refusal refusal;

	memset(&call, 0, sizeof(call));
	refusal = body_parse(guard_put(&guard, cases[_i].text, len), len, fields, &call, detail);
	ck_assert_msg(refusal == cases[_i].refusal, "%s: %d, %s", cases[_i].text, (int)refusal,
		detail);
	if (strcmp(cases[_i].detail, JSON) == 0)
		ck_assert_msg(strncmp(detail, JSON " (line ", strlen(JSON " (line ")) == 0,
			"%s: %s", cases[_i].text, detail);
	else
		ck_assert_str_eq(detail, cases[_i].detail);
	if (refusal == REFUSAL_NONE)
		ck_assert_int_eq(call.amount, cases[_i].amount);
	guard_free(&guard);
}
END_TEST

/* Tests amounts as languages print sums, for a dealer with 2 decimals or none. */
START_TEST(nearest_amounts)
{
	static const struct {
		const char *text;
		unsigned int decimals;
		const char *detail;
	} rows[] = {
		{AMOUNT("0.30000000000000004"), 2,
			"amount: must have at most 2 decimals; 0.30000000000000004 is nearest to 0.30"},
		{AMOUNT("5.4750000000000005"), 2,
			"amount: must have at most 2 decimals; 5.4750000000000005 is nearest to 5.48"},
		{AMOUNT("1e-1000"), 2, "amount: must be above zero"},
		{AMOUNT("0.00001"), 2, "amount: must have at most 2 decimals"},
		{AMOUNT("99.99999"), 0,
			"amount: must have at most 0 decimals; 99.99999 is nearest to 100"},
		{AMOUNT("0.100000000000000000000000000000000001"), 2, ""},
		{AMOUNT("0.300000000000000040000000000000000000"), 2,
			"amount: must have at most 2 decimals"},
	};
	char detail[BODY_DETAIL_MAX];
	struct call call;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(body_parse_of(rows[i].text, strlen(rows[i].text), fields, &call,
					 rows[i].decimals, detail),
			rows[i].detail[0] ? REFUSAL_INVALID_AMOUNT : REFUSAL_NONE);
		ck_assert_str_eq(detail, rows[i].detail);
	}
}
END_TEST

START_TEST(fills_every_member)
{
	static const char text[] =
		"{\"amount\":2.5,\"user_id\":\"\\u00e4\\ud83d\\ude00 b\",\"note\":\"x\","
		"\"casino_id\":\"demo\",\"request_timestamp\":1700000000123}";
	char detail[BODY_DETAIL_MAX] = "x";
	struct call call;

	memset(&call, 0xff, sizeof(call));
	ck_assert_int_eq(body_parse(text, strlen(text), fields, &call, detail), REFUSAL_NONE);
	ck_assert_str_eq(detail, "");
	ck_assert_int_eq(call.amount, 25000);
	ck_assert_str_eq(call.user_id, "\xc3\xa4\xf0\x9f\x98\x80 b");
	ck_assert_str_eq(call.casino_id, "demo");
	ck_assert_int_eq(call.request_timestamp, INT64_C(1700000000123));
	ck_assert_str_eq(call.note, "x");
}
END_TEST

START_TEST(tells_the_place)
{
	static const char text[] = "{\"amount\":1,\n  \"user_id\" 5}";
	char detail[BODY_DETAIL_MAX];
	struct call call;

	ck_assert_int_eq(body_parse(text, strlen(text), fields, &call, detail),
		REFUSAL_BAD_REQUEST);
	ck_assert_str_eq(detail, "the body is not valid JSON (line 2, column 13)");
}
END_TEST

START_TEST(raw_nul_bytes)
{
	static const char after[] = "{" U ",\"amount\":1}\0";
	static const char within[] = "{\"user_id\":\"a\0b\",\"amount\":1}";
	/* Jansson does not detect a NUL after a number or a word. */
	static const char number[] = "{" U ",\n \"note\":\"\xc3\xa4\",\"amount\":1\0}";
	static const char real[] = "{" U ",\"amount\":1.5\0}";
	static const char word[] = "{" U ",\"amount\":1,\"more\":true\0}";
	char detail[BODY_DETAIL_MAX];
	struct call call;

	ck_assert_int_eq(body_parse(number, sizeof(number) - 1, fields, &call, detail),
		REFUSAL_BAD_REQUEST);
	ck_assert_str_eq(detail, "the body is not valid JSON (line 2, column 23)");
	ck_assert_int_eq(body_parse(real, sizeof(real) - 1, fields, &call, detail),
		REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(body_parse(word, sizeof(word) - 1, fields, &call, detail),
		REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(body_parse(after, sizeof(after), fields, &call, detail),
		REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(body_parse(within, sizeof(within) - 1, fields, &call, detail),
		REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(body_parse(NULL, 0, fields, &call, detail), REFUSAL_BAD_REQUEST);
}
END_TEST

/* Makes a text of @len bytes: @head, then @unit repeated, then @tail. */
static char *make_long(const char *head, const char *unit, const char *tail, size_t len)
{
	char *text = malloc(len);
	size_t at = strlen(head), end = len - strlen(tail);

	ck_assert_ptr_nonnull(text);
	memcpy(text, head, at);
	while (at + strlen(unit) <= end) {
		memcpy(text + at, unit, strlen(unit));
		at += strlen(unit);
	}
	memset(text + at, ' ', end - at);
	memcpy(text + end, tail, strlen(tail));
	return text;
}

START_TEST(large_bodies)
{
	static const struct {
		const char *head;
		const char *unit;
		const char *tail;
		enum refusal refusal;
	} longs[] = {
		{"{" U ",\"amount\":1", " ", "}", REFUSAL_NONE},
		{"{" U ",\"amount\":1,\"x\":[0", ",1e400", "]}", REFUSAL_NONE},
		{"{" U ",\"amount\":1,\"x\":[0", ",{}", "]}", REFUSAL_NONE},
		{"{" U ",\"amount\":1,\"x\":\"", "y", "\"}", REFUSAL_NONE},
		{"{" U ",\"amount\":1", "0", "}", REFUSAL_INVALID_AMOUNT},
		{"{" U ",\"amount\":1.", "0", "}", REFUSAL_NONE},
		{"{" U ",\"amount\":1e", "9", "}", REFUSAL_INVALID_AMOUNT},
		{"{" U ",\"amount\":1e-", "9", "}", REFUSAL_INVALID_AMOUNT},
		{"", "[", "", REFUSAL_BAD_REQUEST},
		{"", "{\"a\":", "", REFUSAL_BAD_REQUEST},
		{"", "]", "", REFUSAL_BAD_REQUEST},
		{"{\"", "\\\"", "", REFUSAL_BAD_REQUEST},
	};
	static const size_t lens[] = {BODY_MAX, 4 * BODY_MAX};
	char detail[BODY_DETAIL_MAX];
	struct call call;

	for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
		for (size_t k = 0; k < 2; k++) {
			char *text =
				make_long(longs[i].head, longs[i].unit, longs[i].tail, lens[k]);
			enum refusal refusal = body_parse(text, lens[k], fields, &call, detail);

			ck_assert_msg(refusal == longs[i].refusal, "%zu: %d, %s", i, (int)refusal,
				detail);
			free(text);
		}
	}
}
END_TEST

START_TEST(mutated_bodies)
{
	static const char text[] =
		"{\"amount\":12.50,\"user_id\":\"al\\u00e4\\\"ice\",\"x\":[1e400,"
		"-99999999999999999999,{\"y\":null}],\"request_timestamp\":5,"
		"\"object\" : {\"a\":[{}, \"}\"],\"b\":1e400 }}";
	static const char tokens[] = "{}[]\",:\\.-+eE0019u \n\x80\xff";
	struct guard guard = guard_make(1024);
	char mutated[sizeof(text)], detail[BODY_DETAIL_MAX];
	const unsigned int rounds = chance_rounds(200000);
	unsigned int counts[REFUSAL_COUNT] = {0}, objects = 0;
	const uint8_t *at;
	uint64_t state = 7;
	struct call call;
	enum refusal refusal;

	for (unsigned int i = 0; i < rounds; i++) {
		size_t len = strlen(text);

		memcpy(mutated, text, sizeof(text));
		for (uint64_t n = 1 + chance_below(&state, 3); n; n--)
			mutated[chance_below(&state, len)] =
				tokens[chance_below(&state, sizeof(tokens) - 1)];
		if (chance(&state) & 1)
			len = chance_below(&state, len + 1);
		memset(&call, 0, sizeof(call));
		at = guard_put(&guard, mutated, len);
		refusal = body_parse(at, len, fields, &call, detail);
		counts[refusal]++;
		ck_assert((refusal == REFUSAL_NONE) == (detail[0] == '\0'));
		if (refusal == REFUSAL_NONE)
			ck_assert(call.amount > 0 && call.amount <= MONEY_MAX && call.user_id[0]);
		if (refusal != REFUSAL_NONE || !call.object.len)
			continue;
		objects++;
		ck_assert(call.object.data > at && call.object.data[0] == '{' &&
			call.object.data[call.object.len - 1] == '}' &&
			call.object.data + call.object.len < at + len);
	}
	/* Make sure that the test is not vacuous: some bodies must be accepted. */
	ck_assert_uint_gt(counts[REFUSAL_NONE], rounds / 200);
	ck_assert_uint_gt(objects, rounds / 400);
	ck_assert_uint_gt(counts[REFUSAL_BAD_REQUEST], rounds / 200);
	ck_assert_uint_gt(counts[REFUSAL_INVALID_AMOUNT], rounds / 4000);
	ck_assert_uint_eq(counts[REFUSAL_NONE] + counts[REFUSAL_BAD_REQUEST] +
			counts[REFUSAL_INVALID_AMOUNT],
		rounds);
	guard_free(&guard);
}
END_TEST

START_TEST(random_amounts_arrive)
{
	uint64_t state = 8;
	char text[128], number[MONEY_TEXT_MAX], detail[BODY_DETAIL_MAX];
	struct call call;

	for (unsigned int i = chance_rounds(100000); i; i--) {
		uint64_t drawn = chance(&state) >> chance_below(&state, 50);
		money_t money = 1 + (money_t)(drawn % MONEY_MAX);

		money_format(money, (unsigned int)chance_below(&state, 5), number);
		snprintf(text, sizeof(text), AMOUNT("%s"), number);
		ck_assert_int_eq(body_parse(text, strlen(text), fields, &call, detail),
			REFUSAL_NONE);
		ck_assert_int_eq(call.amount, money);
	}
}
END_TEST

struct looked_at {
	money_t payout;
	bool text, object, any;
};

/* Tests payouts that may be zero, and members whose presence matters. */
START_TEST(payouts_and_presence)
{
	static const struct body_field table[] = {
		BODY_FIELD(BODY_PAYOUT, looked_at, payout),
		{"text", BODY_HAS_STRING, false, offsetof(struct looked_at, text), 1, NULL},
		{"object", BODY_HAS_OBJECT, false, offsetof(struct looked_at, object), 1, NULL},
		{"any", BODY_HAS_ANY, false, offsetof(struct looked_at, any), 1, NULL},
		BODY_FIELD_END,
	};
	static const struct {
		const char *text;
		enum refusal refusal;
		const char *detail;
		struct looked_at record;
	} rows[] = {
		{"{\"payout\":0}", REFUSAL_NONE, "", {0, false, false, false}},
		{"{\"payout\":0.0,\"text\":\"\"}", REFUSAL_NONE, "", {0, true, false, false}},
		{"{\"payout\":0.0001,\"object\":{}}", REFUSAL_NONE, "", {1, false, true, false}},
		{"{\"payout\":2,\"any\":null}", REFUSAL_NONE, "", {20000, false, false, true}},
		{"{\"payout\":-1}", REFUSAL_INVALID_AMOUNT, "payout: must not be negative",
			{0, false, false, false}},
		{"{\"payout\":-1e-9}", REFUSAL_INVALID_AMOUNT, "payout: must not be negative",
			{0, false, false, false}},
		{"{\"payout\":\"1\"}", REFUSAL_BAD_REQUEST,
			"payout: must be a number, without quotes", {0, false, false, false}},
		{"{\"any\":1}", REFUSAL_BAD_REQUEST, "payout: is required",
			{0, false, false, false}},
		{"{\"payout\":1,\"text\":{}}", REFUSAL_BAD_REQUEST, "text: must be a string",
			{0, false, false, false}},
		{"{\"payout\":1,\"object\":null}", REFUSAL_BAD_REQUEST, "object: must be an object",
			{0, false, false, false}},
	};
	char detail[BODY_DETAIL_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct looked_at record = {0, false, false, false};

		ck_assert_int_eq(body_parse(rows[i].text, strlen(rows[i].text), table, &record,
					 detail),
			rows[i].refusal);
		ck_assert_str_eq(detail, rows[i].detail);
		if (rows[i].refusal != REFUSAL_NONE)
			continue;
		ck_assert_int_eq(record.payout, rows[i].record.payout);
		ck_assert_int_eq(record.text, rows[i].record.text);
		ck_assert_int_eq(record.object, rows[i].record.object);
		ck_assert_int_eq(record.any, rows[i].record.any);
	}
}
END_TEST

struct chosen {
	uint32_t words;
};

/* Tests a set of allowed words. */
START_TEST(words)
{
	static const char *const known[] = {"one", "two", "three", NULL};
	static const struct body_field table[] = {
		BODY_OPTIONAL_WORDS("words", chosen, words, known),
		BODY_FIELD_END,
	};
	static const struct {
		const char *text;
		const char *detail; /* NULL: accepted */
		uint32_t words;
	} rows[] = {
		{"{}", NULL, 77},
		{"{\"words\":[]}", NULL, 0},
		{"{\"words\":[\"one\"]}", NULL, 1},
		{"{\"words\":[\"three\",\"one\"]}", NULL, 5},
		{"{\"words\":[\"two\",\"two\",\"tw\\u006f\"]}", NULL, 2},
		{"{\"words\":[\"four\"]}", "words: holds what is not known", 0},
		{"{\"words\":[\"one\",\"\"]}", "words: holds what is not known", 0},
		{"{\"words\":[\"One\"]}", "words: holds what is not known", 0},
		{"{\"words\":[\"one \"]}", "words: holds what is not known", 0},
		{"{\"words\":[\"one,two\"]}", "words: holds what is not known", 0},
		{"{\"words\":[1]}", "words: holds what is not known", 0},
		{"{\"words\":[null]}", "words: holds what is not known", 0},
		{"{\"words\":[[\"one\"]]}", "words: holds what is not known", 0},
		{"{\"words\":\"one\"}", "words: must be an array", 0},
		{"{\"words\":{\"one\":1}}", "words: must be an array", 0},
		{"{\"words\":null}", "words: must be an array", 0},
		{"{\"words\":true}", "words: must be an array", 0},
	};
	char detail[BODY_DETAIL_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct chosen record = {77};

		ck_assert_int_eq(body_parse(rows[i].text, strlen(rows[i].text), table, &record,
					 detail),
			rows[i].detail ? REFUSAL_BAD_REQUEST : REFUSAL_NONE);
		ck_assert_str_eq(detail, rows[i].detail ? rows[i].detail : "");
		ck_assert_uint_eq(record.words, rows[i].detail ? 77 : rows[i].words);
	}
}
END_TEST

struct taken {
	struct bytes a, b;
	char text[9];
	bool yes, no;
	enum round_result result;
};

/* A table of optional members, which keep their values if absent. */
static const struct body_field taken_fields[] = {
	BODY_OPTIONAL("a", BODY_OBJECT, taken, a),
	BODY_OPTIONAL("b", BODY_OBJECT, taken, b),
	BODY_OPTIONAL("text", BODY_TEXT, taken, text),
	BODY_OPTIONAL("yes", BODY_BOOL, taken, yes),
	BODY_OPTIONAL("no", BODY_BOOL, taken, no),
	BODY_OPTIONAL("result", BODY_RESULT, taken, result),
	BODY_FIELD_END,
};

/* The text of an object is returned byte for byte, wherever it is in the body. */
START_TEST(objects)
{
	static const struct {
		const char *text, *a, *b;
	} rows[] = {
		{"{}", "", ""},
		{"{\"a\":{}}", "{}", ""},
		{" {\"b\":{},\"a\":{\"b\":1}}", "{\"b\":1}", "{}"},
		{"{ \t\"x\" : [1,{}] ,\r\n\"a\"\n:\t{ \"k\" : 0.1 }\n}", "{ \"k\" : 0.1 }", ""},
		/* numbers keep their notation */
		{"{\"a\":{\"n\":[0.10,1e400,-0,18446744073709551615,1E+2,0.30000000000000004]}}",
			"{\"n\":[0.10,1e400,-0,18446744073709551615,1E+2,0.30000000000000004]}",
			""},
		{"{\"x\":1e400,\"a\":{\"n\":99999999999999999999},\"y\":-1e999}",
			"{\"n\":99999999999999999999}", ""},
		/* structural characters within strings */
		{"{\"}\":\"{\\\"a\\\":{}}\",\"a\":{\"}\":\"\\\\\",\"{[\":\"\\\"}\"},\"b\":{}}",
			"{\"}\":\"\\\\\",\"{[\":\"\\\"}\"}", "{}"},
		/* keys with escapes, and the same keys in other objects */
		{"{\"\\u0061\":{\"a\":{\"b\":{}}},\"c\":{\"b\":{\"x\":1}},\"b\":{\"y\":[[]]}}",
			"{\"a\":{\"b\":{}}}", "{\"y\":[[]]}"},
		{"{\"x\":true,\"y\":null,\"z\":-1.5e-3,\"w\":\"\",\"v\":[],\"a\":{\"t\":false}}",
			"{\"t\":false}", ""},
		{"{\"a\":{\"\\u00e4\":\"\xc3\xa4\"}}", "{\"\\u00e4\":\"\xc3\xa4\"}", ""},
	};
	struct guard guard = guard_make(1024);
	char detail[BODY_DETAIL_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct taken taken = {.text = ""};
		size_t len = strlen(rows[i].text);

		ck_assert_int_eq(body_parse(guard_put(&guard, rows[i].text, len), len, taken_fields,
					 &taken, detail),
			REFUSAL_NONE);
		ck_assert_msg(taken.a.len == strlen(rows[i].a) &&
				(!taken.a.len || memcmp(taken.a.data, rows[i].a, taken.a.len) == 0),
			"%zu: %.*s", i, (int)taken.a.len, (const char *)taken.a.data);
		ck_assert_msg(taken.b.len == strlen(rows[i].b) &&
				(!taken.b.len || memcmp(taken.b.data, rows[i].b, taken.b.len) == 0),
			"%zu: %.*s", i, (int)taken.b.len, (const char *)taken.b.data);
	}
	guard_free(&guard);
}
END_TEST

/* The items of an array are returned byte for byte, one after the other. */
START_TEST(items_of_an_array)
{
	static const struct body_field array_fields[] = {
		BODY_OPTIONAL("a", BODY_ARRAY, taken, a),
		BODY_FIELD_END,
	};
	static const struct {
		const char *text, *items[4];
	} rows[] = {
		{"{}", {NULL}},
		{"{\"a\":[]}", {NULL}},
		{"{\"a\":[ \n ]}", {NULL}},
		{"{\"a\":[7]}", {"7"}},
		{"{\"a\":[ 1e400 , \"],\" ,null]}", {"1e400", "\"],\"", "null"}},
		{"{\"a\":[{},{\"b\":[1,{\"]\":2}]}\t,[[]] ],\"c\":[3]}",
			{"{}", "{\"b\":[1,{\"]\":2}]}", "[[]]"}},
	};
	struct guard guard = guard_make(1024);
	char detail[BODY_DETAIL_MAX];
	struct bytes item;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct taken taken = {.text = ""};
		size_t len = strlen(rows[i].text), at = 0;

		ck_assert_int_eq(body_parse(guard_put(&guard, rows[i].text, len), len, array_fields,
					 &taken, detail),
			REFUSAL_NONE);
		for (; body_next_item(&taken.a, &item); at++) {
			ck_assert_ptr_nonnull(rows[i].items[at]);
			ck_assert_uint_eq(item.len, strlen(rows[i].items[at]));
			ck_assert_mem_eq(item.data, rows[i].items[at], item.len);
		}
		ck_assert_ptr_null(rows[i].items[at]);
	}
	guard_free(&guard);
}
END_TEST

START_TEST(texts_bools_and_results)
{
	static const struct {
		const char *text, *detail;
	} bad[] = {
		{"{\"text\":\"123456789\"}",
			"text: must be at most 8 bytes of UTF-8 without control characters"},
		{"{\"text\":\"a\\tb\"}",
			"text: must be at most 8 bytes of UTF-8 without control characters"},
		{"{\"text\":null}", "text: must be a string"},
		{"{\"yes\":0}", "yes: must be true or false"},
		{"{\"no\":null}", "no: must be true or false"},
		{"{\"result\":\"none\"}", "result: must be win, loss or refund"},
		{"{\"result\":\"WIN\"}", "result: must be win, loss or refund"},
		{"{\"result\":1}", "result: must be a string"},
		{"{\"a\":[]}", "a: must be an object"},
		{"{\"a\":null}", "a: must be an object"},
	};
	static const char *const results[] = {"{\"result\":\"win\"}", "{\"result\":\"loss\"}",
		"{\"result\":\"refund\"}"};
	static const char set[] = "{\"yes\":true,\"no\":false,\"text\":\"\"}";
	struct taken taken = {.text = "default", .no = true};
	char detail[BODY_DETAIL_MAX];

	ck_assert_int_eq(body_parse("{}", 2, taken_fields, &taken, detail), REFUSAL_NONE);
	ck_assert_str_eq(taken.text, "default");
	ck_assert(taken.no && !taken.yes && taken.result == RESULT_NONE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(body_parse(bad[i].text, strlen(bad[i].text), taken_fields, &taken,
					 detail),
			REFUSAL_BAD_REQUEST);
		ck_assert_str_eq(detail, bad[i].detail);
	}
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_int_eq(body_parse(results[i], strlen(results[i]), taken_fields, &taken,
					 detail),
			REFUSAL_NONE);
		ck_assert_uint_eq(taken.result, RESULT_WIN + i);
	}
	ck_assert_int_eq(body_parse(set, strlen(set), taken_fields, &taken, detail), REFUSAL_NONE);
	ck_assert(taken.yes && !taken.no);
	ck_assert_str_eq(taken.text, "");
}
END_TEST

Suite *body_suite(void)
{
	const TTest *const tests[] = {objects, items_of_an_array, texts_bools_and_results,
		fills_every_member, nearest_amounts, tells_the_place, raw_nul_bytes, large_bodies,
		mutated_bodies, random_amounts_arrive, payouts_and_presence, words, NULL};
	Suite *suite = suite_make("body", tests, 120);
	TCase *tables = tcase_create("table");

	tcase_add_loop_test(tables, bodies, 0, CASE_COUNT);
	suite_add_tcase(suite, tables);
	return suite;
}

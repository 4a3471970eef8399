/*
 * Tests the reasons for a rejection (explain/explain.h): each cause is provoked and must be
 * reported. The function that signs callbacks makes the signatures, with other keys and bodies.
 */
#include "explain/explain.h"

#include "base/text.h"
#include "chance.h"
#include "domain/near_id.h"
#include "wire/rewrite.h"
#include "wire/key_use.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>
#include <tap.h>

#define KEY_LIVE  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define KEY_OLD   "1111111111111111111111111111111111111111111111111111111111111111"
#define KEY_RIVAL "2222222222222222222222222222222222222222222222222222222222222222"
#define KEY_GAME  "3333333333333333333333333333333333333333333333333333333333333333"
#define KEY_LOST  "4444444444444444444444444444444444444444444444444444444444444444"
#define NOW_MS    INT64_C(1700000000000)
#define BODY      "{\"user_id\": \"a/b\", \"amount\": 10.50, \"x\": \"\xc3\xa9\"}"

Suite *standing_suite(void);

static struct keyring_entry dealers[3];
static struct keyring_entry clients[1];
static const char *const retired_secret = KEY_OLD; /* key k1 of Casino */
static struct explain_case explain;
static struct explanation explanation;

static void set_entry(struct keyring_entry *entry, const char *name, const char *key)
{
	memset(entry, 0, sizeof(*entry));
	strcpy(entry->caller_id, name);
	strcpy(entry->keys[0].key_id, "k2");
	strcpy(entry->keys[0].secret, key);
	entry->keys[0].created_ms = NOW_MS - 1000;
}

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)};
}

static bool answer_key(struct key_try_result *result, enum keyring_of of,
	const struct keyring_entry *entry)
{
	result->found = true;
	result->of = of;
	strcpy(result->caller_id, entry->caller_id);
	strcpy(result->key_id, entry->keys[0].key_id);
	result->time_ms = entry->keys[0].created_ms;
	return true;
}

/* Tries keys as the ledger does (ledger/commands/refused/key_tries.c), one caller at a time. */
static bool try_keys(void *context, const struct key_try_cmd *cmd, struct key_try_result *result)
{
	bool behind = !cmd->after[0];

	(void)context;
	for (unsigned int of = 0; of < KEYRING_OF_COUNT; of++) {
		for (uint32_t i = 0; i < explain.caller_count[of]; i++) {
			const struct keyring_entry *entry = &explain.callers[of][i];
			const bool own =
				of == cmd->of && strcmp(entry->caller_id, cmd->caller_id) == 0;

			if (own != cmd->others && behind && entry->keys[0].key_id[0] &&
				key_use_signs(cmd->use, cmd->algorithm, entry->keys[0].secret,
					cmd->body, cmd->digest))
				return answer_key(result, (enum keyring_of)of, entry);
			if (cmd->others && behind) {
				result->more = true;
				result->after_of = (enum keyring_of)of;
				strcpy(result->after, entry->caller_id);
				return true;
			}
			behind |= of == cmd->after_of && strcmp(entry->caller_id, cmd->after) == 0;
		}
	}
	result->retired = !cmd->others && strcmp(cmd->caller_id, "Casino") == 0 &&
		key_use_signs(cmd->use, cmd->algorithm, retired_secret, cmd->body, cmd->digest);
	if (result->retired) {
		result->found = true;
		strcpy(result->key_id, "k1");
		result->time_ms = NOW_MS;
	}
	return true;
}

static void setup(void)
{
	memset(&explain, 0, sizeof(explain));
	set_entry(&dealers[0], "Casino", KEY_LIVE);
	set_entry(&dealers[1], "bare", "");
	set_entry(&dealers[2], "rival", KEY_RIVAL);
	dealers[1].keys[0].key_id[0] = '\0';
	set_entry(&clients[0], "slots", KEY_GAME);
	explain.callers[KEYRING_DEALERS] = dealers;
	explain.caller_count[KEYRING_DEALERS] = 3;
	explain.callers[KEYRING_CLIENTS] = clients;
	explain.caller_count[KEYRING_CLIENTS] = 1;
	explain.try_keys = try_keys;
	explain.window_ms = 300000;
	explain.request.time_ms = NOW_MS;
	explain.request.of = KEYRING_DEALERS;
	explain.request.refusal = REFUSAL_INVALID_SIGNATURE;
	explain.request.caller_count = 1;
	explain.request.signature_count = 1;
	explain.request.caller = bytes_of("Casino");
	strcpy(explain.request.path, "/p");
}

static void set_body(const char *body, size_t len)
{
	explain.request.body = (struct bytes){(const uint8_t *)body, (uint32_t)len};
	explain.request.body_len = (uint32_t)len;
}

/* Sets a request that contains @body and a signature of @text with @key. */
static void sign(const char *body, const char *key, const char *text)
{
	static char signature[SIGNATURE_TEXT_MAX];

	set_body(body, strlen(body));
	ck_assert(signature_make(HMAC_SHA256, ENCODING_HEX, key, text, strlen(text), signature));
	explain.request.signature = bytes_of(signature);
}

/* Checks the causes; the first finding must contain @found. */
static void judge(const enum explain_cause *causes, unsigned int count, const char *found)
{
	char told[256] = "";

	explain_request(&explain, &explanation);
	for (unsigned int i = 0; i < explanation.count; i++)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s ",
			explain_causes[explanation.findings[i].cause].id);
	ck_assert_msg(explanation.count == count, "%u causes: %s", explanation.count, told);
	for (unsigned int i = 0; i < count; i++)
		ck_assert_msg(explanation.findings[i].cause == causes[i], "cause %u: %s", i, told);
	ck_assert_msg(strstr(explanation.findings[0].found, found) != NULL, "'%s' in '%s'", found,
		explanation.findings[0].found);
}
#define ck_cause(name, found) judge((const enum explain_cause[]){CAUSE_##name}, 1, found)

/* ---- signatures */

static const struct {
	const char *body;
	const char *key;
	const char *text; /* the signed text */
	enum explain_cause cause;
	const char *found;
} signed_so[] = {
	{BODY, KEY_OLD, BODY, CAUSE_KEY_RETIRED,
		"key k1, which was retired at 2023-11-14 22:13:20"},
	{BODY, KEY_RIVAL, BODY, CAUSE_KEY_OF_OTHER, "key k2 of the dealer 'rival'"},
	{BODY, KEY_GAME, BODY, CAUSE_KEY_OF_OTHER, "of the game server 'slots'"},
	{BODY, KEY_LOST, BODY, CAUSE_SIGNATURE_UNEXPLAINED, "no live key of 'Casino'"},
	{BODY, KEY_LIVE, "", CAUSE_BODY_EMPTY_SIGNED, "the empty body"},
	{BODY, KEY_LIVE, BODY "\n", CAUSE_BODY_LINE_END, "that with a line end after it"},
	{BODY, KEY_LIVE, BODY "\r\n", CAUSE_BODY_LINE_END, "CR and LF"},
	{BODY, KEY_LIVE, "\xef\xbb\xbf" BODY, CAUSE_BODY_LINE_END, "with a byte order mark"},
	{BODY "\n", KEY_LIVE, BODY, CAUSE_BODY_LINE_END, "without the line end"},
	{BODY "\r\n", KEY_LIVE, BODY "\n", CAUSE_BODY_LINE_END, "LF"},
	{" \n" BODY "\n", KEY_LIVE, BODY, CAUSE_BODY_LINE_END, "without the space around it"},
	{"\xef\xbb\xbf" BODY, KEY_LIVE, BODY, CAUSE_BODY_LINE_END, "without the byte order mark"},
	{"{\n}", KEY_LIVE, "{\r\n}", CAUSE_BODY_LINE_END, "CR LF for LF"},
	{"{\r\n}", KEY_LIVE, "{\n}", CAUSE_BODY_LINE_END, "LF for CR LF"},
	{BODY, KEY_LIVE, "/p", CAUSE_URL_SIGNED, "the path"},
	{BODY, KEY_LIVE, "q=1", CAUSE_URL_SIGNED, "the query"},
	{BODY, KEY_LIVE, "/p?q=1", CAUSE_URL_SIGNED, "the path with the query"},
	{BODY, KEY_LIVE, "{\"user_id\":\"a/b\",\"amount\":10.50,\"x\":\"\xc3\xa9\"}",
		CAUSE_BODY_RESERIALISED, "(compact)"},
	{BODY, KEY_LIVE, "{\"user_id\":\"a\\/b\",\"amount\":10.5,\"x\":\"\\u00e9\"}",
		CAUSE_BODY_RESERIALISED, "compact, \\/ for /, \\u00e9"},
	{BODY, KEY_LIVE, "{\"user_id\":\"a/b\",\"amount\":10.5,\"x\":\"\\u00E9\"}",
		CAUSE_BODY_RESERIALISED, "\\u00E9"},
	{BODY, KEY_LIVE, "{\"amount\": 10.5, \"user_id\": \"a/b\", \"x\": \"\\u00e9\"}",
		CAUSE_BODY_RESERIALISED, "keys sorted"},
	{BODY, KEY_LIVE,
		"{\n    \"user_id\": \"a/b\",\n    \"amount\": 10.50,\n    \"x\": "
		"\"\xc3\xa9\"\n}\n",
		CAUSE_BODY_RESERIALISED, "indented by 4) and a line end"},
	{BODY, KEY_LIVE,
		"{\n\t\"user_id\": \"a/b\",\n\t\"amount\": 10.50,\n\t\"x\": \"\xc3\xa9\"\n}",
		CAUSE_BODY_RESERIALISED, "indented by tabs"},
	{"{\"a\":10}", KEY_LIVE, "{\"a\":10.0}", CAUSE_BODY_RESERIALISED, "10.0 for 10"},
	{"{\"a\":10.0}", KEY_LIVE, "{\"a\":10}", CAUSE_BODY_RESERIALISED, "10 for 10.0"},
	{"{\"a\":10}", KEY_LIVE, "{\"a\":10.00}", CAUSE_BODY_RESERIALISED, "10.00 for 10"},
	{"{\"a\":\"<\"}", KEY_LIVE, "{\"a\":\"\\u003c\"}", CAUSE_BODY_RESERIALISED, "\\u003c"},
	/* A different value is not another form of the body. */
	{BODY, KEY_LIVE, "{\"user_id\":\"a/b\",\"amount\":11.50,\"x\":\"\xc3\xa9\"}",
		CAUSE_SIGNATURE_UNEXPLAINED, ""},
};

START_TEST(what_was_signed)
{
	explain.request.query = bytes_of("q=1");
	sign(signed_so[_i].body, signed_so[_i].key, signed_so[_i].text);
	judge(&signed_so[_i].cause, 1, signed_so[_i].found);
}
END_TEST

/* A signature is @text, or is made by @make. */
static void digest_hex(const uint8_t *digest, unsigned int len, char *text)
{
	for (unsigned int i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

START_TEST(how_it_was_made)
{
	const struct bytes body = bytes_of(BODY), key = bytes_of(KEY_LIVE), none = {NULL, 0};
	const struct bytes parts[2][3] = {{body, none, none}, {key, body, none}};
	uint8_t digest[SIGNATURE_DIGEST_MAX];
	char text[SIGNATURE_TEXT_MAX];

	sign(BODY, KEY_LIVE, BODY);
	digest_hex(digest, signature_hash(HMAC_SHA256, parts[0], digest), text);
	explain.request.signature = bytes_of(text);
	ck_cause(NOT_HMAC, "a plain hash of the body,");
	digest_hex(digest, signature_hash(HMAC_SHA256, parts[1], digest), text);
	ck_cause(NOT_HMAC, "with the key before it");
	digest_hex(digest, signature_mac(HMAC_SHA256, body, key, digest), text);
	ck_cause(ARGUMENTS_SWAPPED, "with the body as its key");
	ck_assert(
		signature_make(HMAC_SHA256, ENCODING_HEX, KEY_LIVE "\n", BODY, strlen(BODY), text));
	ck_cause(KEY_FORM, "a line end after it");
	digest_hex(digest,
		signature_mac(HMAC_SHA256,
			(struct bytes){
				(const uint8_t *)"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"
						 "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff",
				32},
			body, digest),
		text);
	ck_cause(KEY_FORM, "decoded to 32 bytes");
	ck_assert(signature_make(HMAC_SHA512, ENCODING_HEX, KEY_LIVE, BODY, strlen(BODY), text));
	explain.request.signature = bytes_of(text);
	ck_cause(ALGORITHM_WRONG, "made by hmac-sha512; here it is hmac-sha256");
	/* Standard base64 is accepted, so the call was rejected for something else. */
	ck_assert(signature_make(HMAC_SHA256, ENCODING_BASE64, KEY_LIVE, BODY, strlen(BODY), text));
	explain.request.signature = bytes_of(text);
	ck_cause(SIGNATURE_RIGHT, "the live key k2");
	/* URL-safe alphabet without padding. */
	for (char *c = text; *c; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? '\0' : *c;
	explain.request.signature = bytes_of(text);
	ck_cause(ENCODING_WRONG, "written as base64 of the URL-safe alphabet or without");
	dealers[0].signature_encoding = ENCODING_BASE64;
	sign(BODY, KEY_LIVE, BODY);
	ck_cause(SIGNATURE_RIGHT, "the live key k2");
}
END_TEST

START_TEST(what_stands_around_it)
{
	static const char *const arounds[][2] = {{"sha256=", ""}, {"v1,", ""}, {"'", "'"},
		{"\"", "\""}, {"0x", ""}, {"Signature: ", ""}, {"HMAC-SHA256=", ""}};
	char text[SIGNATURE_TEXT_MAX], around[256];

	sign(BODY, KEY_LIVE, BODY);
	ck_assert(signature_make(HMAC_SHA256, ENCODING_HEX, KEY_LIVE, BODY, strlen(BODY), text));
	for (unsigned int i = 0; i < sizeof(arounds) / sizeof(arounds[0]); i++) {
		snprintf(around, sizeof(around), "%s%s%s", arounds[i][0], text, arounds[i][1]);
		explain.request.signature = bytes_of(around);
		explain_request(&explain, &explanation);
		ck_assert_uint_ge(explanation.count, 1);
		ck_assert_msg(explanation.findings[0].cause == CAUSE_SIGNATURE_DECORATED ||
				explanation.findings[0].cause == CAUSE_SIGNATURE_NOT_SINGLE,
			"%s: %s", around, explanation.findings[0].found);
	}
	text[10] = '\0';
	explain.request.signature = bytes_of(text);
	ck_cause(SIGNATURE_MALFORMED, "10 hex characters");
	explain.request.signature = bytes_of("0123456789abcdef0123456789abcdef");
	ck_cause(SIGNATURE_MALFORMED, "MD5");
	explain.request.signature = bytes_of("(signature)");
	ck_cause(SIGNATURE_MALFORMED, "of 11 characters, is neither");
}
END_TEST

START_TEST(who_calls)
{
	sign(BODY, KEY_LIVE, BODY);
	explain.request.caller = bytes_of("casino");
	ck_cause(CALLER_MISSPELT, "'Casino', which differs in upper and lower case");
	explain.request.caller = bytes_of("Casin");
	ck_cause(CALLER_MISSPELT, "one character");
	explain.request.caller = bytes_of("Casinoo");
	ck_cause(CALLER_MISSPELT, "one character");
	explain.request.caller = bytes_of("Catino");
	ck_cause(CALLER_MISSPELT, "one character");
	explain.request.caller = bytes_of("\"Casino\"");
	ck_cause(CALLER_MISSPELT, "what stands around it");
	explain.request.caller = bytes_of("slots");
	explain_request(&explain, &explanation);
	ck_assert_int_eq(explanation.findings[0].cause, CAUSE_CALLER_OTHER_MOUNT);
	/* An unknown id with the key of another owner. */
	explain.request.caller = bytes_of("nobody");
	judge((const enum explain_cause[]){CAUSE_CALLER_UNKNOWN, CAUSE_KEY_OF_OTHER}, 2,
		"nor one with a similar id");
	explain.request.caller = bytes_of("bare");
	judge((const enum explain_cause[]){CAUSE_KEY_NONE, CAUSE_KEY_OF_OTHER}, 2,
		"'bare' has no live key");
}
END_TEST

START_TEST(headers)
{
	sign(BODY, KEY_LIVE, BODY);
	explain.request.caller_count = 2;
	ck_cause(ID_NOT_SINGLE, "x-casino-id was sent 2 times");
	explain.request.caller_count = 1;
	explain.request.signature_count = 3;
	ck_cause(SIGNATURE_NOT_SINGLE, "x-casino-signature was sent 3 times");
	explain.request.signature_count = 0;
	explain.request.signature.len = 0;
	ck_cause(SIGNATURE_MISSING, "x-casino-signature is missing");
	explain.request.signature_count = 1;
	ck_cause(SIGNATURE_MISSING, "x-casino-signature is empty");
	explain.request.caller_count = 0;
	explain.request.caller.len = 0;
	judge((const enum explain_cause[]){CAUSE_ID_MISSING, CAUSE_SIGNATURE_MISSING}, 2,
		"x-casino-id is missing");
	explain.request.of = KEYRING_CLIENTS;
	judge((const enum explain_cause[]){CAUSE_ID_MISSING, CAUSE_SIGNATURE_MISSING}, 2,
		"x-client-id is missing");
}
END_TEST

START_TEST(a_value_with_more_in_it)
{
	sign(BODY, KEY_LIVE, BODY);
	explain.request.caller = bytes_of("Casino, Casino");
	explain_request(&explain, &explanation);
	ck_assert_int_eq(explanation.findings[0].cause, CAUSE_ID_NOT_SINGLE);
	ck_assert_ptr_nonnull(strstr(explanation.findings[0].found,
		"a comma in it, as its "
		"character 7"));
	explain.request.caller = bytes_of("Casino ");
	explain_request(&explain, &explanation);
	ck_assert_ptr_nonnull(strstr(explanation.findings[0].found, "a space in it"));
	explain.request.caller = bytes_of("Cas\x01no");
	explain_request(&explain, &explanation);
	ck_assert_ptr_nonnull(strstr(explanation.findings[0].found, "a control character"));
}
END_TEST

START_TEST(several_causes)
{
	char text[SIGNATURE_TEXT_MAX];

	sign(BODY, KEY_OLD, BODY "\n");
	ck_assert(signature_make(HMAC_SHA256, ENCODING_BASE64, KEY_OLD, BODY "\n", strlen(BODY) + 1,
		text));
	text[strcspn(text, "=")] = '\0';
	explain.request.signature = bytes_of(text);
	explain.suspended = true;
	judge((const enum explain_cause[]){CAUSE_KEY_RETIRED, CAUSE_ENCODING_WRONG,
		      CAUSE_BODY_LINE_END, CAUSE_CALLER_SUSPENDED},
		4, "retired");
}
END_TEST

START_TEST(a_given_key)
{
	sign(BODY, KEY_LOST, BODY);
	ck_cause(SIGNATURE_UNEXPLAINED, "");
	explain.given_secret = KEY_LOST;
	ck_cause(KEY_GIVEN, "--key-file");
}
END_TEST

/* The settings or keys changed since the request. */
START_TEST(right_by_now)
{
	sign(BODY, KEY_LIVE, BODY);
	ck_cause(SIGNATURE_RIGHT, "changed since");
	dealers[0].keys[0].created_ms = NOW_MS + 1;
	ck_cause(SIGNATURE_RIGHT, "issued after the request");
}
END_TEST

START_TEST(a_lost_body)
{
	sign("", KEY_LIVE, BODY);
	ck_cause(BODY_NOT_RECEIVED, "without a body");
}
END_TEST

/* No finding ever contains a key or a signature. */
START_TEST(no_secret_is_told)
{
	static const char *const keys[] = {KEY_LIVE, KEY_OLD, KEY_RIVAL, KEY_GAME, KEY_LOST};
	char signature[SIGNATURE_TEXT_MAX];

	explain.given_secret = KEY_LOST;
	for (unsigned int i = 0; i < sizeof(signed_so) / sizeof(signed_so[0]); i++) {
		sign(signed_so[i].body, signed_so[i].key, signed_so[i].text);
		snprintf(signature, sizeof(signature), "%.*s", (int)explain.request.signature.len,
			(const char *)explain.request.signature.data);
		explain_request(&explain, &explanation);
		for (unsigned int n = 0; n < explanation.count; n++) {
			ck_assert_ptr_null(strstr(explanation.findings[n].found, signature));
			for (unsigned int k = 0; k < 5; k++)
				ck_assert_ptr_null(strstr(explanation.findings[n].found, keys[k]));
		}
	}
}
END_TEST

/* The search ends even for the largest body with every variation. */
START_TEST(the_search_is_bounded)
{
	static char large[REFUSED_BODY_MAX];
	size_t len = 0;

	len += (size_t)snprintf(large, 64, "{\"a\": [");
	while (len < sizeof(large) - 64)
		len += (size_t)snprintf(large + len, 64, "\"<\xc3\xa9/\", 1.50, {\"k\": [{}]}, ");
	len += (size_t)snprintf(large + len, 32, "1.5]}");
	sign(BODY, KEY_LOST, BODY);
	set_body(large, len);
	ck_cause(SIGNATURE_UNEXPLAINED, "");
}
END_TEST

/* ---- the clock */

static const struct {
	const char *timestamp;
	enum explain_cause cause;
	const char *found;
} clocks[] = {
	{"1700000000", CAUSE_CLOCK_UNIT, "in seconds"},
	{"1700000000000000", CAUSE_CLOCK_UNIT, "microseconds"},
	{"1699999600000", CAUSE_CLOCK_BEHIND, "400.000 s behind the time here; at most 300 s"},
	{"1700000300001", CAUSE_CLOCK_AHEAD, "300.001 s ahead of the time here"},
	{"1700025200500", CAUSE_CLOCK_ZONE, "ahead of the time here: close to 7.0 hours"},
	{"1699980200000", CAUSE_CLOCK_ZONE, "behind the time here: close to 5.5 hours"},
	{"1700086400000", CAUSE_CLOCK_AHEAD, "86400.000 s ahead"},
	{"0", CAUSE_CLOCK_BEHIND, "1700000000.000 s behind"},
};

START_TEST(clock)
{
	char body[96];

	snprintf(body, sizeof(body), "{\"user_id\":\"a\",\"request_timestamp\":%s}",
		clocks[_i].timestamp);
	set_body(body, strlen(body));
	explain.request.refusal = REFUSAL_STALE_REQUEST;
	judge(&clocks[_i].cause, 1, clocks[_i].found);
}
END_TEST

/* ---- the body */

#define TEXT(text) text, sizeof(text) - 1
static const struct {
	const char *body;
	size_t len;
	const char *detail;
	enum explain_cause cause;
	const char *found;
} bodies[] = {
	{TEXT(""), "", CAUSE_BODY_EMPTY, "is empty"},
	{TEXT("\x1f\x8b\x08"), "", CAUSE_BODY_COMPRESSED, "gzip"},
	{TEXT("\xff\xfe{\0}\0"), "", CAUSE_BODY_UTF16, "UTF-16"},
	{TEXT("{\0\"\0"), "", CAUSE_BODY_UTF16, "UTF-16"},
	{TEXT("\xef\xbb\xbf{}"), "", CAUSE_BODY_BOM, "byte order mark"},
	{TEXT("user_id=a&amount=1"), "", CAUSE_BODY_FORM, "a form"},
	{TEXT("\"{\\\"a\\\":1}\""), "", CAUSE_BODY_QUOTED, "a JSON string that holds JSON"},
	{TEXT("[1]"), "", CAUSE_BODY_NOT_OBJECT, "not an object"},
	{TEXT("null"), "", CAUSE_BODY_NOT_OBJECT, "not an object"},
	{TEXT("\"\""), "", CAUSE_BODY_NOT_OBJECT, "not an object"},
	{TEXT("{\"a\":\"\xe9\"}"), "", CAUSE_BODY_NOT_UTF8, "not UTF-8"},
	{TEXT("{\"a\":1,\"b\":2,\"a\":3}"), "", CAUSE_BODY_KEY_TWICE, "twice: \"a\""},
	{TEXT("{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}"), "", CAUSE_BODY_NESTED,
		"deeper than 16"},
	{TEXT("{\"a\":1"), "", CAUSE_BODY_SYNTAX, "ends too early"},
	{TEXT("{\"a\":\"b"), "", CAUSE_BODY_SYNTAX, "ends too early"},
	{TEXT("{\"a\":1,}"), "", CAUSE_BODY_SYNTAX,
		"a comma before a closing bracket (line 1, column 8)"},
	{TEXT("{\n\"a\":[1,\n]}"), "", CAUSE_BODY_SYNTAX, "closing bracket (line 3"},
	{TEXT("{'a':1}"), "", CAUSE_BODY_SYNTAX, "' where JSON has \""},
	{TEXT("{\"a\":NaN}"), "", CAUSE_BODY_SYNTAX, "does not know: NaN"},
	{TEXT("{\"a\":None}"), "", CAUSE_BODY_SYNTAX, "does not know: None"},
	{TEXT("{\"a\":\n1\0}"), "", CAUSE_BODY_SYNTAX, "a byte that is zero (line 2, column 2)"},
	{TEXT("{\"a\" 1}"), "", CAUSE_BODY_SYNTAX, "not valid JSON (line 1, column 6)"},
	{TEXT("{\"user_id\":\"a\"}"), "amount: is required", CAUSE_FIELD_ABSENT,
		"amount is not there"},
	{TEXT("{\"userId\":\"a\"}"), "user_id: is required", CAUSE_FIELD_MISSPELT,
		"but 'userId' is"},
	{TEXT("{\"USER-ID\":\"a\"}"), "user_id: is required", CAUSE_FIELD_MISSPELT,
		"but 'USER-ID' is"},
	{TEXT("{\"amount\":\"1\"}"), "amount: must be a number", CAUSE_FIELD_TYPE,
		"amount must be a number; it is a string"},
	{TEXT("{\"user_id\":12}"), "user_id: must be a string", CAUSE_FIELD_TYPE,
		"it is an integer: 12"},
	{TEXT("{\"t\":1.5}"), "t: must be an integer from 0 to 9007199254740991", CAUSE_FIELD_VALUE,
		"a number with a fraction: 1.5"},
	{TEXT("{\"user_id\":\"\"}"),
		"user_id: must be 1 to 128 bytes of UTF-8 without control characters",
		CAUSE_FIELD_VALUE, "must be 1 to 128 bytes"},
	{TEXT("{}"), "something else", CAUSE_REQUEST_REFUSED, "something else"},
};

START_TEST(body)
{
	set_body(bodies[_i].body, bodies[_i].len);
	strcpy(explain.request.detail, bodies[_i].detail);
	explain.request.refusal = REFUSAL_BAD_REQUEST;
	judge(&bodies[_i].cause, 1, bodies[_i].found);
}
END_TEST

START_TEST(amounts)
{
	explain.request.refusal = REFUSAL_INVALID_AMOUNT;
	set_body("{\"amount\":-1}", 13);
	strcpy(explain.request.detail, "amount: must be above zero");
	ck_cause(AMOUNT_VALUE, "amount must be above zero; it is an integer: -1");
	set_body("{\"amount\":1.005}", 16);
	strcpy(explain.request.detail, "amount: more decimals than the dealer has");
	ck_cause(AMOUNT_VALUE,
		"more decimals than the dealer has; it is a number with a fraction: "
		"1.005");
}
END_TEST

START_TEST(cut_bodies)
{
	explain.request.refusal = REFUSAL_BAD_REQUEST;
	set_body("{\"a\"", 4);
	explain.request.body_broken = true;
	ck_cause(BODY_CUT, "4 bytes arrived");
	/* Data that was not stored is not judged. */
	explain.request.body_broken = false;
	explain.request.body_len = 70000;
	strcpy(explain.request.detail, "the body is not valid JSON (line 1, column 9)");
	ck_cause(REQUEST_REFUSED, "line 1, column 9");
}
END_TEST

/* ---- rewriting */

static const char *const documents[] = {"{}", "{\"a\":[]}", "[]", BODY,
	"{\"b\":{\"d\":[1,2.50,-3e2,true,null,\"\"],\"c\":{}},\"a\":\"\\u0041\\n\\\"\\\\/<&>\"}",
	"{\"k\":\"\\ud83d\\ude00 \xf0\x9f\x98\x80\",\"ab\":1,\"a\":2,\"\":0}",
	" { \"a\" : [ 1 , 2 ] , \"b\" : 123456789012345678901234567890 } \n"};

static void write_form(const char *text, const struct rewrite_form *form, char *to, size_t size)
{
	struct buffer out;

	buffer_init(&out, size - 1);
	ck_assert(rewrite_json(bytes_of(text), form, &out));
	if (out.len)
		memcpy(to, out.data, out.len);
	to[out.len] = '\0';
	buffer_free(&out);
}

/* Rewriting any form plainly gives the plain form of the original. */
START_TEST(forms_are_the_same_json)
{
	const struct rewrite_form plain = {.layout = LAYOUT_COMPACT};
	char expected[2048], formed[2048], again[2048];

	if (documents[_i][0] != '[')
		ck_assert(rewrite_may(bytes_of(documents[_i])));
	write_form(documents[_i], &plain, expected, sizeof(expected));
	for (unsigned int n = 0; n < LAYOUT_COUNT * ESCAPE_COUNT * 2; n++) {
		const struct rewrite_form form = {.layout = n % LAYOUT_COUNT,
			.slashes = n / LAYOUT_COUNT % 2,
			.escape = n / LAYOUT_COUNT / 2};

		write_form(documents[_i], &form, formed, sizeof(formed));
		write_form(formed, &plain, again, sizeof(again));
		ck_assert_str_eq(again, expected);
	}
}
END_TEST

START_TEST(forms_as_others_write_them)
{
	static const struct {
		struct rewrite_form form;
		const char *text;
	} forms[] = {
		{{.layout = LAYOUT_SPACED, .sorted = true},
			"{\"\": 0, \"a\": 2, \"ab\": 1, \"k\": \"\xf0\x9f\x98\x80 \xf0\x9f\x98\x80\"}"},
		{{.layout = LAYOUT_COMPACT, .escape = ESCAPE_UNICODE},
			"{\"k\":\"\\ud83d\\ude00 \\ud83d\\ude00\",\"ab\":1,\"a\":2,\"\":0}"},
		{{.layout = LAYOUT_INDENT_2, .number = NUMBER_POINT, .escape = ESCAPE_UNICODE_UP},
			"{\n  \"k\": \"\\uD83D\\uDE00 \\uD83D\\uDE00\",\n  \"ab\": 1.0,\n"
			"  \"a\": 2.0,\n  \"\": 0.0\n}"},
	};
	char formed[2048];

	for (unsigned int i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		write_form(documents[5], &forms[i].form, formed, sizeof(formed));
		ck_assert_str_eq(formed, forms[i].text);
	}
}
END_TEST

/* Any body, id or signature has at least one finding, and the search ends. */
START_TEST(anything_is_explained)
{
	static const enum refusal refusals[] = {REFUSAL_INVALID_SIGNATURE, REFUSAL_STALE_REQUEST,
		REFUSAL_BAD_REQUEST, REFUSAL_INVALID_AMOUNT};
	static const char alphabet[] = "{}[]\",:'\\ \n\tu0019aNeE.-/\xc3\xa9\xff\0=&";
	char text[200], id[80], signature[160];
	uint64_t state = 1;

	for (unsigned int round = 0; round < 4000; round++) {
		size_t len[3];
		char *const texts[] = {text, id, signature};
		const size_t sizes[] = {sizeof(text), sizeof(id), sizeof(signature)};

		for (unsigned int i = 0; i < 3; i++) {
			len[i] = chance_below(&state, sizes[i]);
			for (size_t n = 0; n < len[i]; n++)
				texts[i][n] = alphabet[chance_below(&state, sizeof(alphabet))];
		}
		if (round % 3 == 0 && len[0] < sizeof(BODY))
			memcpy(text, BODY, len[0] = sizeof(BODY) - 1);
		if (round % 3 == 0 && len[0])
			text[chance_below(&state, len[0])] =
				alphabet[chance_below(&state, sizeof(alphabet))];
		set_body(text, len[0]);
		explain.request.caller = (struct bytes){(uint8_t *)id, (uint32_t)len[1]};
		explain.request.signature = (struct bytes){(uint8_t *)signature, (uint32_t)len[2]};
		strcpy(explain.request.detail, round % 2 ? "amount: must be a number" : "");
		explain.request.refusal = refusals[round % 4];
		explain_request(&explain, &explanation);
		ck_assert_uint_ge(explanation.count, 1);
		ck_assert_uint_le(explanation.count, EXPLAIN_FINDINGS_MAX);
	}
}
END_TEST

/* ---- the player */

static const struct {
	const char *sent, *other;
	bool is_near;
	const char *found; /* the difference */
} players[] = {
	{"Ann", "ann", true,
		"there is no player 'Ann', but there is a player 'ann', which differs in upper"},
	{"ann ", "ann", true,
		"there is a player 'ann', which differs in the white space around it"},
	{"ann", "\tann ", true, "in the white space"},
	{" ANN", "ann", true, "in upper and lower case, and the white space"},
	{"ann", "anna", false, NULL},
	{"ann", "an n", false, NULL},
	{"\xc3\x84nn", "\xc3\xa4nn", false, NULL},
	{"", "ann", false, NULL},
};

START_TEST(a_player_of_a_similar_id)
{
	ck_assert_int_eq(near_id_is(players[_i].sent, players[_i].other), players[_i].is_near);
	ck_assert_int_eq(near_id_is(players[_i].other, players[_i].sent), players[_i].is_near);
	if (!players[_i].is_near)
		return;
	explain.request.refusal = REFUSAL_USER_NOT_FOUND;
	strcpy(explain.player.sent, players[_i].sent);
	strcpy(explain.player.near_id, players[_i].other);
	ck_cause(USER_MISSPELT, players[_i].found);
}
END_TEST

START_TEST(no_player_of_a_similar_id)
{
	char ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE];

	near_id_forms(" AnN\t", ids);
	ck_assert_str_eq(ids[0], "AnN");
	ck_assert_str_eq(ids[1], "ann");
	near_id_forms(" ", ids);
	ck_assert_str_eq(ids[0], "");
	explain.request.refusal = REFUSAL_USER_NOT_FOUND;
	/* The request has no body, or it was truncated. */
	ck_cause(REQUEST_REFUSED, "it was refused");
	strcpy(explain.player.sent, "ann");
	ck_cause(USER_UNKNOWN, "there is no player 'ann' of this dealer");
	ck_assert_ptr_null(strstr(explanation.findings[0].found, "similar"));
	explain.player.all = true;
	ck_cause(USER_UNKNOWN, "nor one with a similar id");
	explain.player.is_there = true;
	ck_cause(USER_THERE, "there is a player 'ann' now");
}
END_TEST

static Suite *explain_suite(void)
{
	Suite *suite = suite_create("explain");
	TCase *tc = tcase_create("explain");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, what_was_signed, 0, sizeof(signed_so) / sizeof(signed_so[0]));
	tcase_add_test(tc, how_it_was_made);
	tcase_add_test(tc, what_stands_around_it);
	tcase_add_test(tc, who_calls);
	tcase_add_test(tc, headers);
	tcase_add_test(tc, a_value_with_more_in_it);
	tcase_add_test(tc, several_causes);
	tcase_add_test(tc, a_given_key);
	tcase_add_test(tc, right_by_now);
	tcase_add_test(tc, a_lost_body);
	tcase_add_test(tc, no_secret_is_told);
	tcase_add_test(tc, the_search_is_bounded);
	tcase_add_loop_test(tc, clock, 0, sizeof(clocks) / sizeof(clocks[0]));
	tcase_add_loop_test(tc, body, 0, sizeof(bodies) / sizeof(bodies[0]));
	tcase_add_test(tc, amounts);
	tcase_add_test(tc, cut_bodies);
	tcase_add_loop_test(tc, forms_are_the_same_json, 0,
		sizeof(documents) / sizeof(documents[0]));
	tcase_add_test(tc, forms_as_others_write_them);
	tcase_add_loop_test(tc, a_player_of_a_similar_id, 0, sizeof(players) / sizeof(players[0]));
	tcase_add_test(tc, no_player_of_a_similar_id);
	tcase_add_test(tc, anything_is_explained);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(void) = {explain_suite, standing_suite, NULL};

	return tap_main(makers);
}

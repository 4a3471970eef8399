#include "suites.h"

#include "wire/signature.h"

#include <ctype.h>
#include <string.h>

#define KEY  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CALL "{\"user_id\":\"alice\",\"amount\":12.5}"

/*
 * Made with PHP's hash_hmac() and `openssl dgst -hmac`. "Jefe" is test case 2 of RFC 4231 and RFC
 * 2202.
 */
static const struct {
	enum signature_algorithm algorithm;
	const char *secret;
	const char *body;
	const char *hex;
	const char *base64;
} golden[] = {
	{HMAC_SHA256, "Jefe", "what do ya want for nothing?",
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		"W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM="},
	{HMAC_SHA512, "Jefe", "what do ya want for nothing?",
		"164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
		"9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
		"Fkt6e/z4GeLjlfvnO1bgo4e9ZCIugx/WECcM1+olBVSXWL91wFqZSm0DT2X48Ob9yuqxo01Ka0tjb"
		"gcKOLznNw=="},
	{HMAC_SHA1, "Jefe", "what do ya want for nothing?",
		"effcdf6ae5eb2fa2d27416d5f184df9c259a7c79", "7/zfauXrL6LSdBbV8YTfnCWafHk="},
	{HMAC_SHA256, KEY, CALL, "27c3b6848774bbaf51c84ae2b818ea21ae831d74ed2ac35858522d3f1b346b50",
		"J8O2hId0u69RyEriuBjqIa6DHXTtKsNYWFItPxs0a1A="},
	{HMAC_SHA512, KEY, CALL,
		"23b636607f0b2dd8873bb064c85b165554cae118b53b5a517be7c640ebf2839c"
		"234127437779fe116207625bd3ee9913616ea1b50e28819efeb5622e36894ca8",
		"I7Y2YH8LLdiHO7BkyFsWVVTK4Ri1O1pRe+fGQOvyg5wjQSdDd3n+EWIHYlvT7pkTYW6htQ4ogZ7+t"
		"WIuNolMqA=="},
	{HMAC_SHA1, KEY, CALL, "e9d804a1812cfda859fd378c24e16739ab60ebfa",
		"6dgEoYEs/ahZ/TeMJOFnOatg6/o="},
	{HMAC_SHA256, KEY, "", "081247dc68bb7fafbf13220013a0ab71db8b628d679161f87b5e5bd9e19b1494",
		"CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbFJQ="},
	{HMAC_SHA512, KEY, "",
		"c0b118414accc2aed7bdaf729caf73646673df707dd5c8c72f8a630d10bde7f2"
		"f1ef9a9ed7817e14149714eccbd25fccc471a84642f2b1ca51a8c353f23d8219",
		"wLEYQUrMwq7Xva9ynK9zZGZz33B91cjHL4pjDRC95/Lx75qe14F+FBSXFOzL0l/MxHGoRkLyscpRq"
		"MNT8j2CGQ=="},
	{HMAC_SHA1, KEY, "", "04fbbca6c6bb343925bc33f52b6ba6f74b675fc7",
		"BPu8psa7NDklvDP1K2um90tnX8c="},
};
#define GOLDEN_COUNT ((int)(sizeof(golden) / sizeof(golden[0])))

/* Returns whether @text is read, has the algorithm, and is the signature of @body. */
static bool verifies(enum signature_algorithm algorithm, const char *secret, const char *body,
	size_t len, const char *text)
{
	struct signature given;

	return signature_read(text, &given) && given.algorithm == algorithm &&
		signature_verify(&given, secret, body, len);
}

static bool verifies_row(int row, const char *text)
{
	return verifies(golden[row].algorithm, golden[row].secret, golden[row].body,
		strlen(golden[row].body), text);
}

/* A signature has one spelling in base64, and in hex one for each case of a letter. */
START_TEST(spellings)
{
	static const char *const none[] = {"", "abcd", "-", "sha256=0",
		"0123456789abcdef0123456789abcdef0123456z",
		"CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbFJQ", "BPu8psa7NDklvDP1K2um90tnX8=c",
		"BPu8psa7NDklvDP1K2um90tnX8==",
		/* the URL-safe alphabet, and characters that lenient decoders skip */
		"CBJH3Gi7f6-_EyIAE6CrcduLYo1nkWH4e15b2eGbFJQ=",
		"CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbFJ\n=",
		"CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbFJQ=\n",
		" CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbFJQ=",
		"CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbFJQ==",
		"CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbF=Q=", "081247dc68bb7fafbf13220013a0ab71",
		/* the last digit with a bit that no encoder sets: of each algorithm */
		"CBJH3Gi7f6+/EyIAE6CrcduLYo1nkWH4e15b2eGbFJR=", "BPu8psa7NDklvDP1K2um90tnX8d=",
		("wLEYQUrMwq7Xva9ynK9zZGZz33B91cjHL4pjDRC95/Lx75qe14F+FBSXFOzL0l/MxHGoRkLyscp"
		 "RqMNT8j2CGR==")};
	struct signature given;
	char longest[3 * SIGNATURE_TEXT_MAX];

	for (int i = 0; i < GOLDEN_COUNT; i++) {
		ck_assert(signature_read(golden[i].hex, &given));
		ck_assert_int_eq(given.algorithm, golden[i].algorithm);
		ck_assert(signature_read(golden[i].base64, &given));
		ck_assert_int_eq(given.algorithm, golden[i].algorithm);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(!signature_read(none[i], &given), "%s", none[i]);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ck_assert(!signature_read(longest, &given));
}
END_TEST

START_TEST(golden_vectors)
{
	char text[SIGNATURE_TEXT_MAX], upper[SIGNATURE_TEXT_MAX] = "";
	size_t len = strlen(golden[_i].body);

	ck_assert(signature_make(golden[_i].algorithm, ENCODING_HEX, golden[_i].secret,
		golden[_i].body, len, text));
	ck_assert_str_eq(text, golden[_i].hex);
	ck_assert(signature_make(golden[_i].algorithm, ENCODING_BASE64, golden[_i].secret,
		golden[_i].body, len, text));
	ck_assert_str_eq(text, golden[_i].base64);
	ck_assert(verifies_row(_i, golden[_i].hex));
	ck_assert(verifies_row(_i, golden[_i].base64));
	for (size_t i = 0; golden[_i].hex[i]; i++)
		upper[i] = (char)toupper((unsigned char)golden[_i].hex[i]);
	ck_assert(verifies_row(_i, upper));
	/* A mixture of the cases is hex, too. */
	upper[0] = golden[_i].hex[0];
	upper[9] = golden[_i].hex[9];
	ck_assert(verifies_row(_i, upper));
}
END_TEST

START_TEST(an_empty_body_may_have_no_place)
{
	char text[SIGNATURE_TEXT_MAX];

	ck_assert(signature_make(HMAC_SHA256, ENCODING_HEX, KEY, NULL, 0, text));
	ck_assert_str_eq(text, golden[6].hex);
	ck_assert(verifies(HMAC_SHA256, KEY, NULL, 0, text));
}
END_TEST

START_TEST(a_large_body)
{
	static char body[65536];
	char text[SIGNATURE_TEXT_MAX];

	memset(body, 'x', sizeof(body));
	ck_assert(signature_make(HMAC_SHA256, ENCODING_HEX, KEY, body, sizeof(body), text));
	ck_assert_str_eq(text, "f87c10de0b842de10c74650dd75b2e75cad54d80abf296342834d312154f6492");
}
END_TEST

/* Tries every other character at every position of @good. */
static void check_changes(int row, bool is_hex, const char *good)
{
	char text[SIGNATURE_TEXT_MAX];

	for (size_t at = 0; good[at]; at++) {
		for (int c = 0; c < 256; c++) {
			if (c == (unsigned char)good[at])
				continue;
			if (is_hex && c == toupper((unsigned char)good[at]))
				continue;
			strcpy(text, good);
			text[at] = (char)c;
			ck_assert(!verifies_row(row, text));
		}
	}
}

START_TEST(one_character_changed)
{
	check_changes(_i, true, golden[_i].hex);
	check_changes(_i, false, golden[_i].base64);
}
END_TEST

START_TEST(one_bit_of_the_body_or_key_changed)
{
	char body[] = CALL, key[] = KEY;

	for (size_t at = 0; at < strlen(CALL); at++) {
		body[at] ^= 1;
		ck_assert(!verifies(HMAC_SHA256, KEY, body, strlen(CALL), golden[3].hex));
		body[at] ^= 1;
	}
	ck_assert(!verifies(HMAC_SHA256, KEY, body, strlen(CALL) - 1, golden[3].hex));
	for (size_t at = 0; at < strlen(KEY); at++) {
		key[at] ^= 1;
		ck_assert(!verifies(HMAC_SHA256, key, body, strlen(CALL), golden[3].hex));
		key[at] ^= 1;
	}
	ck_assert(verifies(HMAC_SHA256, key, body, strlen(CALL), golden[3].hex));
}
END_TEST

START_TEST(wrong_lengths)
{
	char text[300];

	for (int row = 0; row < GOLDEN_COUNT; row++) {
		size_t len = strlen(golden[row].hex);

		for (size_t shorter = 0; shorter < len; shorter++) {
			memcpy(text, golden[row].hex, shorter);
			text[shorter] = '\0';
			ck_assert(!verifies_row(row, text));
		}
		for (size_t longer = len + 1; longer < 290; longer++) {
			memset(text, '0', longer);
			memcpy(text, golden[row].hex, len);
			text[longer] = '\0';
			ck_assert(!verifies_row(row, text));
		}
		strcpy(text, golden[row].hex);
		strcat(text, " ");
		ck_assert(!verifies_row(row, text));
	}
}
END_TEST

START_TEST(an_empty_secret_verifies_nothing)
{
	char text[SIGNATURE_TEXT_MAX];

	ck_assert(signature_make(HMAC_SHA256, ENCODING_HEX, "", CALL, strlen(CALL), text));
	ck_assert(!verifies(HMAC_SHA256, "", CALL, strlen(CALL), text));
	ck_assert(!verifies(HMAC_SHA256, "", CALL, strlen(CALL), ""));
}
END_TEST

START_TEST(an_unknown_algorithm_is_refused)
{
	char text[SIGNATURE_TEXT_MAX] = "x";

	ck_assert(!signature_make(SIGNATURE_ALGORITHM_COUNT, ENCODING_HEX, KEY, "", 0, text));
	ck_assert_str_eq(text, "");
	ck_assert(!signature_make(HMAC_SHA256, SIGNATURE_ENCODING_COUNT, KEY, "", 0, text));
}
END_TEST

START_TEST(equal_bytes)
{
	char one[] = "0123456789abcdef", other[] = "0123456789abcdef";

	ck_assert(signature_equal(one, other, 16));
	for (size_t i = 0; i < 16; i++) {
		other[i] = 'X';
		ck_assert(!signature_equal(one, other, 16));
		ck_assert(signature_equal(one, other, i));
		other[i] = one[i];
	}
}
END_TEST

START_TEST(algorithms_by_their_digests)
{
	enum signature_algorithm algorithm;

	ck_assert(signature_algorithm_of(20, &algorithm) && algorithm == HMAC_SHA1);
	ck_assert(signature_algorithm_of(32, &algorithm) && algorithm == HMAC_SHA256);
	ck_assert(signature_algorithm_of(64, &algorithm) && algorithm == HMAC_SHA512);
	ck_assert(!signature_algorithm_of(0, &algorithm));
	ck_assert(!signature_algorithm_of(33, &algorithm));
}
END_TEST

START_TEST(random_texts)
{
	char secret[2][KEY_SECRET_SIZE], id[2][PLAYER_ID_SIZE], seen[256] = {0};
	unsigned int different = 0;
	uint64_t numbers[2];

	for (int i = 0; i < 200; i++) {
		ck_assert(signature_new_secret(secret[i & 1]));
		ck_assert_uint_eq(strlen(secret[i & 1]), 64);
		ck_assert_uint_eq(strspn(secret[i & 1], "0123456789abcdef"), 64);
		ck_assert(i == 0 || strcmp(secret[0], secret[1]) != 0);
		ck_assert(signature_random_id(id[i & 1], PLAYER_ID_SIZE));
		ck_assert_uint_eq(strlen(id[i & 1]), 20);
		ck_assert_uint_eq(strspn(id[i & 1], "abcdefghijklmnopqrstuvwxyz234567"), 20);
		ck_assert(i == 0 || strcmp(id[0], id[1]) != 0);
		for (const char *c = id[i & 1]; *c; c++)
			seen[(unsigned char)*c] = 1;
	}
	for (int c = 0; c < 256; c++)
		different += seen[c] != 0;
	/* The chance that 4000 characters miss one of 32 is below 10^-53. */
	ck_assert_uint_eq(different, 32);
	ck_assert(signature_random_id(id[0], 1));
	ck_assert_str_eq(id[0], "");
	ck_assert(!signature_random_id(id[0], 0));
	ck_assert(signature_random_number(&numbers[0]) && signature_random_number(&numbers[1]));
	ck_assert_uint_ne(numbers[0], numbers[1]);
}
END_TEST

Suite *signature_suite(void)
{
	const TTest *const tests[] = {an_empty_body_may_have_no_place, a_large_body,
		one_bit_of_the_body_or_key_changed, wrong_lengths, an_empty_secret_verifies_nothing,
		an_unknown_algorithm_is_refused, equal_bytes, algorithms_by_their_digests,
		random_texts, NULL};
	Suite *suite = suite_make("signature", tests, 60);
	TCase *vectors = tcase_create("vectors");

	tcase_set_timeout(vectors, 120);
	tcase_add_loop_test(vectors, golden_vectors, 0, GOLDEN_COUNT);
	tcase_add_test(vectors, spellings);
	tcase_add_loop_test(vectors, one_character_changed, 0, GOLDEN_COUNT);
	suite_add_tcase(suite, vectors);
	return suite;
}

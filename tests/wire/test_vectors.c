/*
 * Checks that our code produces doc/signature-vectors.json, which integrators receive.
 */
#include "suites.h"

#include "base/buffer.h"
#include "wire/signature.h"
#include "wire/webhook.h"

#include <jansson.h>
#include <string.h>

#define VECTORS     SOURCE_DIR "/doc/signature-vectors.json"
#define LARGE_BYTES (128 * 1024)

static json_t *vectors;

static void setup(void)
{
	json_error_t error;

	vectors = json_load_file(VECTORS, JSON_ALLOW_NUL, &error);
	ck_assert_msg(vectors != NULL, "%s:%d: %s", VECTORS, error.line, error.text);
}

static void teardown(void)
{
	json_decref(vectors);
}

static const char *text_of(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	ck_assert_msg(text != NULL, "a row without %s", name);
	return text;
}

/* Appends the bytes of the member "body". */
static void put_body(struct buffer *out, const json_t *row)
{
	const json_t *body = json_object_get(row, "body");

	ck_assert(buffer_append(out, json_string_value(body), json_string_length(body)));
}

static void check_signature(const json_t *row, enum signature_algorithm algorithm,
	enum signature_encoding encoding, const struct buffer *body)
{
	const char *key = text_of(row, "key"), *wanted = text_of(row, "signature");
	char text[SIGNATURE_TEXT_MAX];
	struct signature given;

	ck_assert(signature_make(algorithm, encoding, key, body->data, body->len, text));
	ck_assert_str_eq(text, wanted);
	ck_assert(signature_read(wanted, &given) && given.algorithm == algorithm);
	ck_assert(signature_verify(&given, key, body->data, body->len));
}

START_TEST(golden)
{
	const json_t *rows = json_object_get(vectors, "vectors");
	size_t i;
	json_t *row;

	ck_assert_uint_ge(json_array_size(rows), 8);
	json_array_foreach(rows, i, row)
	{
		json_int_t times = json_integer_value(json_object_get(row, "times"));
		struct buffer body;

		buffer_init(&body, LARGE_BYTES);
		ck_assert_int_ge(times, 1);
		while (times--)
			put_body(&body, row);
		ck_assert_int_eq((json_int_t)body.len,
			json_integer_value(json_object_get(row, "length")));
		check_signature(row, HMAC_SHA256, ENCODING_HEX, &body);
		buffer_free(&body);
	}
}
END_TEST

START_TEST(other_schemes)
{
	static const char *const algorithms[SIGNATURE_ALGORITHM_COUNT] = {
		[HMAC_SHA256] = "hmac-sha256",
		[HMAC_SHA512] = "hmac-sha512",
		[HMAC_SHA1] = "hmac-sha1",
	};
	const json_t *rows = json_object_get(vectors, "other_schemes");
	unsigned int done = 0;
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		bool base64 = strcmp(text_of(row, "encoding"), "base64") == 0;
		struct buffer body;

		buffer_init(&body, LARGE_BYTES);
		put_body(&body, row);
		for (unsigned int a = 0; a < SIGNATURE_ALGORITHM_COUNT; a++) {
			if (strcmp(text_of(row, "algorithm"), algorithms[a]) != 0)
				continue;
			check_signature(row, (enum signature_algorithm)a,
				base64 ? ENCODING_BASE64 : ENCODING_HEX, &body);
			done++;
		}
		buffer_free(&body);
	}
	/* All combinations except the one in the golden rows. */
	ck_assert_uint_eq(done, SIGNATURE_ALGORITHM_COUNT * SIGNATURE_ENCODING_COUNT - 1);
}
END_TEST

/* A lenient decoder would take most of these as the signature of the first row. */
START_TEST(refused)
{
	const json_t *rows = json_object_get(vectors, "refused");
	struct signature given;
	size_t i;
	json_t *row;

	ck_assert_uint_ge(json_array_size(rows), 7);
	json_array_foreach(rows, i, row)
	{
		/* Base64 of hex characters is as long as another algorithm's signature. */
		ck_assert_msg(!signature_read(text_of(row, "signature"), &given) ||
				given.algorithm != HMAC_SHA256,
			"%s", text_of(row, "about"));
	}
}
END_TEST

START_TEST(webhook_headers)
{
	const json_t *rows = json_object_get(vectors, "webhook");
	size_t i, k;
	json_t *row, *key;

	ck_assert_uint_ge(json_array_size(rows), 2);
	json_array_foreach(rows, i, row)
	{
		struct dealer_key keys[DEALER_KEYS_MAX] = {{.key_id = "k1"}, {.key_id = "k2"}};
		char text[WEBHOOK_SIGNATURE_MAX];
		const json_t *body = json_object_get(row, "body");

		json_array_foreach(json_object_get(row, "keys"), k, key)
		{
			ck_assert_uint_lt(k, DEALER_KEYS_MAX);
			ck_assert_uint_eq(json_string_length(key), KEY_SECRET_SIZE - 1);
			memcpy(keys[k].secret, json_string_value(key), KEY_SECRET_SIZE);
		}
		ck_assert(webhook_sign(keys, "k1", text_of(row, "id"),
			json_integer_value(json_object_get(row, "timestamp")),
			json_string_value(body), json_string_length(body), text));
		ck_assert_str_eq(text, text_of(row, "webhook-signature"));
	}
}
END_TEST

Suite *vectors_suite(void)
{
	Suite *suite = suite_create("vectors");
	TCase *cases = tcase_create("vectors");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, golden);
	tcase_add_test(cases, other_schemes);
	tcase_add_test(cases, refused);
	tcase_add_test(cases, webhook_headers);
	suite_add_tcase(suite, cases);
	return suite;
}

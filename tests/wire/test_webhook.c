#include "suites.h"

#include "wire/webhook.h"

#include <string.h>

#define KEY1 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KEY2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define BET  "{\"user_id\":\"alice\",\"player_id\":\"p2345abcdefghijklmno\",\"bet_amount\":12.5}"
/* Made with `openssl dgst -sha256 -mac HMAC -macopt key:... -binary | base64`. */
#define SIGNED1 "v1,57WVVu/t6ndnIzuoCseJPIxy0PyYaBGcB8cF6A/JL3I="
#define SIGNED2 "v1,Y1uvIyPUIUPbpMzViX2fRIZvHkIgjYBCJOgH8rUCDzE="

static const struct {
	struct dealer_key keys[DEALER_KEYS_MAX];
	const char *signing;
	const char *text; /* "": refused */
} cases[] = {
	{{{"k1", KEY1, 0}}, "k1", SIGNED1},
	{{{"k1", KEY1, 0}, {"k2", KEY2, 0}}, "k1", SIGNED1 " " SIGNED2},
	{{{"k1", KEY1, 0}, {"k2", KEY2, 0}}, "k2", SIGNED2 " " SIGNED1},
	{{{"", "", 0}, {"k2", KEY2, 0}}, "k2", SIGNED2},
	/* A slot without a secret signs nothing. */
	{{{"k1", KEY1, 0}, {"k2", "", 0}}, "k1", SIGNED1},
	{{{"k1", KEY1, 0}, {"k2", "", 0}}, "k2", ""},
	{{{"k1", KEY1, 0}}, "k2", ""},
	{{{"k1", KEY1, 0}}, "", ""},
	{{{"", KEY1, 0}}, "", ""},
};

START_TEST(live_keys_sign)
{
	char text[WEBHOOK_SIGNATURE_MAX];
	bool made = webhook_sign(cases[_i].keys, cases[_i].signing, "betting-17", 1700000000, BET,
		strlen(BET), text);

	ck_assert_str_eq(text, cases[_i].text);
	ck_assert(made == (cases[_i].text[0] != '\0'));
}
END_TEST

/* The example of the Standard Webhooks specification; its key is binary. */
START_TEST(the_standards_example)
{
	static const struct dealer_key keys[DEALER_KEYS_MAX] = {{"k1",
		"\x31\xf2\x90\xf6\xbf\x06\x29\x8a\xab\x4f\x08\xd4\x3c\x3f\x08\x2c\xf6\x48\xa3\x62"
		"\xda\x2d\xa4\xb0",
		0}};
	static const char body[] = "{\"test\": 2432232314}";
	char text[WEBHOOK_SIGNATURE_MAX];

	ck_assert(webhook_sign(keys, "k1", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body,
		strlen(body), text));
	ck_assert_str_eq(text, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}
END_TEST

START_TEST(longest_id_and_no_body)
{
	static const struct dealer_key keys[DEALER_KEYS_MAX] = {{"k1", KEY1, 0}};
	char text[WEBHOOK_SIGNATURE_MAX];

	ck_assert(
		webhook_sign(keys, "k1", "betting-refund-18446744073709551615", 1, NULL, 0, text));
	ck_assert_str_eq(text, "v1,ZInit6xR0XrBwLT4unDEiq5cK62M9kx7ha4L4OcTuGE=");
}
END_TEST

Suite *webhook_suite(void)
{
	const TTest *const tests[] = {the_standards_example, longest_id_and_no_body, NULL};
	Suite *suite = suite_make("webhook", tests, 10);
	TCase *tcase = tcase_create("keys");

	tcase_add_loop_test(tcase, live_keys_sign, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	suite_add_tcase(suite, tcase);
	return suite;
}

#include "suites.h"

#include "base/pack.h"
#include "domain/callback.h"

#include <string.h>

START_TEST(names_and_paths)
{
	char id[CALLBACK_EVENT_ID_SIZE];

	for (int kind = 0; kind < CALLBACK_KIND_COUNT; kind++) {
		/* The specification does not know betting-correction: a dealer chooses its path. */
		if (kind == CALLBACK_BETTING_CORRECTION) {
			ck_assert_str_eq(callback_default_paths[kind], "");
		} else {
			ck_assert_str_eq(callback_default_paths[kind] + 1,
				callback_kind_names[kind]);
			ck_assert(callback_path_ok(callback_default_paths[kind]));
		}
		callback_event_id((enum callback_kind)kind, UINT64_MAX, id);
		ck_assert(strstr(id, "-18446744073709551615") != NULL);
	}
	/* contract, "Webhook headers". */
	callback_event_id(CALLBACK_BALANCE_INQUIRE, 20, id);
	ck_assert_str_eq(id, "balance-inquire-20");
	callback_event_id(CALLBACK_BETTING, 17, id);
	ck_assert_str_eq(id, "betting-17");
	callback_event_id(CALLBACK_BETTING_RESULT, 18, id);
	ck_assert_str_eq(id, "betting-result-18");
	callback_event_id(CALLBACK_BETTING_REFUND, 19, id);
	ck_assert_str_eq(id, "betting-refund-19");
}
END_TEST

START_TEST(paths_are_judged)
{
	static const char *const good[] = {"/", "/a", "/a/b.c/..d/e..", "/%20", "/a;b=c&d", "//"};
	static const char *const bad[] = {"", "a", "/a b", "/a?b", "/a#", "/a\\b", "/\xc3\xa4",
		"/a\n", "/\x7f", "/..", "/../a", "/a/..", "/a/./b", "/."};
	char text[CALLBACK_PATH_SIZE + 1];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(callback_path_ok(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!callback_path_ok(bad[i]), "%s", bad[i]);
	memset(text, '/', sizeof(text));
	text[CALLBACK_PATH_SIZE] = '\0';
	ck_assert(!callback_path_ok(text));
	text[CALLBACK_PATH_SIZE - 1] = '\0';
	ck_assert(callback_path_ok(text));
}
END_TEST

START_TEST(a_dealers_target)
{
	struct dealer dealer;
	struct callback_target target;

	memset(&dealer, 0, sizeof(dealer));
	strcpy(dealer.url, "https://dealer.example");
	dealer.allow_http = true;
	dealer.signature_algorithm = HMAC_SHA512;
	dealer.signature_encoding = ENCODING_BASE64;
	strcpy(dealer.signing_key_id, "k2");
	strcpy(dealer.keys[1].key_id, "k2");
	strcpy(dealer.keys[1].secret, "secret");
	memset(&target, 0xff, sizeof(target));
	callback_target_of(&dealer, CALLBACK_BETTING_REFUND, &target);
	ck_assert_str_eq(target.url, dealer.url);
	ck_assert_str_eq(target.path, "/betting-refund");
	ck_assert(target.allow_http);
	ck_assert_int_eq(target.signature_algorithm, HMAC_SHA512);
	ck_assert_int_eq(target.signature_encoding, ENCODING_BASE64);
	ck_assert_str_eq(target.signing_key_id, "k2");
	ck_assert_str_eq(target.keys[0].key_id, "");
	ck_assert_str_eq(target.keys[1].secret, "secret");
	/* A balance inquiry needs its balance in any case. */
	ck_assert(!target.needs_balance);
	dealer.success_needs_balance = true;
	for (unsigned int kind = 0; kind < CALLBACK_KIND_COUNT; kind++) {
		callback_target_of(&dealer, (enum callback_kind)kind, &target);
		ck_assert_int_eq(target.needs_balance,
			kind != CALLBACK_BALANCE_INQUIRE && kind != CALLBACK_BETTING_CORRECTION);
		strcpy(dealer.currency, "thb");
		dealer.send_currency = false;
		ck_assert_str_eq(dealer_sent_currency(&dealer, (enum callback_kind)kind), "");
		dealer.send_currency = true;
		ck_assert_str_eq(dealer_sent_currency(&dealer, (enum callback_kind)kind),
			kind == CALLBACK_BETTING_CORRECTION ? "" : "thb");
	}
}
END_TEST

/*
 * contract, "Answers of a dealer": all three members are required; user_id and currency must equal
 * ours.
 */
START_TEST(a_balance_is_whole_or_none)
{
	struct callback_outcome whole, outcome;

	memset(&whole, 0, sizeof(whole));
	ck_assert_int_eq(whole.class, CALLBACK_UNKNOWN);
	whole.class = CALLBACK_SUCCESS;
	whole.has_balance = true;
	strcpy(whole.user_id, "alice");
	strcpy(whole.currency, "thb");
	ck_assert(callback_balance_ok(&whole, "alice", "thb"));
	ck_assert(!callback_balance_ok(&whole, "bob", "thb"));
	ck_assert(!callback_balance_ok(&whole, "alice", "usd"));
	outcome = whole;
	outcome.has_balance = false;
	ck_assert(!callback_balance_ok(&outcome, "alice", "thb"));
	outcome = whole;
	outcome.user_id[0] = '\0';
	ck_assert(!callback_balance_ok(&outcome, "alice", "thb"));
	outcome = whole;
	outcome.class = CALLBACK_UNKNOWN;
	ck_assert(!callback_balance_ok(&outcome, "alice", "thb"));
}
END_TEST

/* The members in the table are adjacent and cover the whole struct. */
static void check_table(const struct field *table, size_t size)
{
	size_t end = 0;

	for (; table->name; table++) {
		ck_assert_msg(table->offset >= end && table->offset - end < 8, "before %s",
			table->name);
		end = table->offset + table->size * (table->type == FIELD_GROUP ? table->count : 1);
	}
	ck_assert(size >= end && size - end < 8);
}

START_TEST(tables_travel)
{
	struct callback_target target, target_back;
	struct callback_outcome outcome, outcome_back;
	struct buffer out;
	struct bytes in;

	check_table(callback_target_fields, sizeof(target));
	check_table(callback_outcome_fields, sizeof(outcome));
	memset(&target, 0, sizeof(target));
	memset(&target_back, 0, sizeof(target_back));
	strcpy(target.path, "/x");
	target.allow_http = true;
	strcpy(target.keys[1].secret, "s");
	memset(&outcome, 0, sizeof(outcome));
	memset(&outcome_back, 0, sizeof(outcome_back));
	outcome.class = CALLBACK_NOT_SENT;
	outcome.http_status = 599;
	outcome.ms = 3000;
	outcome.has_balance = true;
	outcome.balance = -5;
	strcpy(outcome.note, "fence");
	buffer_init(&out, 65536);
	ck_assert(pack_record(&out, callback_target_fields, &target));
	ck_assert(pack_record(&out, callback_outcome_fields, &outcome));
	in = (struct bytes){out.data, (uint32_t)out.len};
	ck_assert(unpack_record(&in, callback_target_fields, &target_back));
	ck_assert(unpack_record(&in, callback_outcome_fields, &outcome_back));
	ck_assert_uint_eq(in.len, 0);
	ck_assert_mem_eq(&target, &target_back, sizeof(target));
	ck_assert_mem_eq(&outcome, &outcome_back, sizeof(outcome));
	buffer_free(&out);
}
END_TEST

START_TEST(one_slash_between_url_and_path)
{
	struct callback_target target;
	char url[CALLBACK_URL_SIZE];

	memset(&target, 0, sizeof(target));
	strcpy(target.path, "/betting");
	strcpy(target.url, "https://dealer.example");
	callback_target_url(&target, url);
	ck_assert_str_eq(url, "https://dealer.example/betting");
	strcpy(target.url, "https://dealer.example/a//");
	callback_target_url(&target, url);
	ck_assert_str_eq(url, "https://dealer.example/a/betting");
	/* The longest values of both must fit. */
	memset(target.url, 'u', sizeof(target.url) - 1);
	memset(target.path, 'p', sizeof(target.path) - 1);
	callback_target_url(&target, url);
	ck_assert_uint_eq(strlen(url), URL_SIZE + CALLBACK_PATH_SIZE - 2);
}
END_TEST

Suite *callback_names_suite(void)
{
	const TTest *const tests[] = {names_and_paths, paths_are_judged, a_dealers_target,
		one_slash_between_url_and_path, a_balance_is_whole_or_none, tables_travel, NULL};

	return suite_make("callback", tests, 10);
}

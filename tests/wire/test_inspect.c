/* Tests the ids that are read from a refused body (inspect_ids() of wire/inspect.h). */
#include "suites.h"

#include "wire/inspect.h"

#include <string.h>

static struct inspect_ids ids;

static void read_ids(const char *body)
{
	inspect_ids((struct bytes){(const uint8_t *)body, (uint32_t)strlen(body)}, &ids);
}

START_TEST(each_id_is_read)
{
	read_ids("{\"casino_id\":\"demo\",\"user_id\":\"b\\u00f6b\",\"player_id\":\"p1\","
		 "\"game_id\":\"g1\",\"request_transaction_id\":\"r1\",\"amount\":10.250,"
		 "\"request_timestamp\":1700000000000}");
	ck_assert_str_eq(ids.casino_id, "demo");
	ck_assert_str_eq(ids.user_id,
		"b\xc3\xb6"
		"b");
	ck_assert_str_eq(ids.player_id, "p1");
	ck_assert_str_eq(ids.game_id, "g1");
	ck_assert_str_eq(ids.request_transaction_id, "r1");
	/* As it is written, also if it is not accepted so. */
	ck_assert_str_eq(ids.amount, "10.250");
	ck_assert_int_eq(ids.request_timestamp, 1700000000000);
}
END_TEST

START_TEST(amounts_of_each_operation)
{
	read_ids("{\"bet_amount\":5}");
	ck_assert_str_eq(ids.amount, "5");
	read_ids("{\"payout_amount\":1e3}");
	ck_assert_str_eq(ids.amount, "1e3");
	read_ids("{\"all\":true}");
	ck_assert_str_eq(ids.amount, "all");
	read_ids("{\"all\":false}");
	ck_assert_str_eq(ids.amount, "");
	read_ids("{\"amount\":\"10\"}");
	ck_assert_str_eq(ids.amount, "");
	/* Longer than the room. */
	read_ids("{\"amount\":0.00000000000000000000000000000001}");
	ck_assert_str_eq(ids.amount, "");
}
END_TEST

START_TEST(others_are_empty)
{
	static const char *const bodies[] = {"", "[]", "{", "{\"user_id\":\"a\"} x",
		"{\"user_id\":\"a\",\"user_id\":\"b\"}", "{\"user_id\":7}", "{\"user_id\":null}",
		"{\"user_id\":\"a\\u0000b\"}", "\xff"};
	char body[EXTERNAL_ID_SIZE + 32] = "{\"user_id\":\"";

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		read_ids(bodies[i]);
		ck_assert_msg(!ids.user_id[0] && !ids.request_timestamp, "%s", bodies[i]);
	}
	memset(body + strlen(body), 'u', EXTERNAL_ID_SIZE);
	strcat(body, "\"}");
	read_ids(body);
	ck_assert_str_eq(ids.user_id, "");
}
END_TEST

Suite *inspect_suite(void)
{
	Suite *suite = suite_create("inspect");
	TCase *tc = tcase_create("inspect");

	tcase_add_test(tc, each_id_is_read);
	tcase_add_test(tc, amounts_of_each_operation);
	tcase_add_test(tc, others_are_empty);
	suite_add_tcase(suite, tc);
	return suite;
}

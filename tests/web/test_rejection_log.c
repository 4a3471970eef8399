/* The reports of a worker to the ledger about requests that it answered 400 or 401. */
#include "web_case.h"

#include "base/clock.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_MS 10000

static unsigned int noted(void)
{
	unsigned int calls;

	fake_lock(&fake);
	calls = fake.calls[COMMAND_REFUSED_NOTE];
	fake_unlock(&fake);
	return calls;
}

/* Waits until the ledger has received @count reports. */
static void wait_noted(unsigned int count)
{
	int64_t until_ms = clock_boot_ms() + PATIENCE_MS;

	while (noted() < count && clock_boot_ms() < until_ms)
		clock_sleep_ms(1);
	ck_assert_uint_eq(noted(), count);
}

/* Waits for the answer to the last report, because the next one would be dropped before. */
static void wait_answered(void)
{
	struct pollfd connection = {.fd = worker.link.fd, .events = POLLIN};

	ck_assert_int_eq(poll(&connection, 1, PATIENCE_MS), 1);
}

static struct refused_request newest(void)
{
	return fake.cmds.refused_note.request;
}

#define ck_bytes(bytes_, text)                                                                     \
	do {                                                                                       \
		ck_assert_uint_eq((bytes_).len, strlen(text));                                     \
		ck_assert_mem_eq((bytes_).data, text, strlen(text));                               \
	} while (0)

START_TEST(a_401_is_told)
{
	struct ask what = {.signature = "abc",
		.more = {"HTTP_X_REQUEST_ID=me", "QUERY_STRING=a=1"}};

	ck_assert_int_eq(ask(&what), 401);
	ck_assert_uint_eq(noted(), 0);
	serve_after(&worker);
	wait_noted(1);
	ck_assert_str_eq(newest().request_id, "me");
	ck_assert_str_eq(newest().operation, "transfer-in");
	ck_assert_str_eq(newest().method, "POST");
	ck_assert_str_eq(newest().path, TRANSFER_IN);
	ck_assert_int_eq(newest().refusal, REFUSAL_INVALID_SIGNATURE);
	ck_assert_int_eq(newest().of, KEYRING_DEALERS);
	ck_assert_int_eq(newest().time_ms, NOW_MS);
	ck_assert_uint_eq(newest().caller_count, 1);
	ck_assert_uint_eq(newest().signature_count, 1);
	ck_bytes(newest().caller, "demo");
	ck_bytes(newest().signature, "abc");
	ck_bytes(newest().query, "a=1");
	ck_bytes(newest().body, BODY_TRANSFER);
	ck_assert_uint_eq(newest().body_len, strlen(BODY_TRANSFER));
	ck_assert(!newest().body_broken);
	/* Only once. */
	serve_after(&worker);
	ck_assert_int_eq(ask(&what), 401);
	ck_assert_uint_eq(noted(), 1);
}
END_TEST

START_TEST(a_400_is_told)
{
	ck_assert_int_eq(ask(&(struct ask){.body = "{\"user_id\":7}"}), 400);
	serve_after(&worker);
	wait_noted(1);
	ck_assert_int_eq(newest().refusal, REFUSAL_BAD_REQUEST);
	ck_assert_msg(strstr(newest().detail, "amount: is required"), "%s", newest().detail);
}
END_TEST

/* Requests for unknown players use at most half of the budget. */
START_TEST(a_player_who_is_not_found_is_told)
{
	const int64_t now_ms = clock_boot_ms();
	unsigned int count;

	fake.results.transfer.verdict.refusal = REFUSAL_USER_NOT_FOUND;
	for (unsigned int i = 0; i < REJECTION_LOG_BURST; i++) {
		count = noted();
		ck_assert_int_eq(ask_at(&(struct ask){.method = NULL}, NOW_MS, now_ms), 404);
		serve_after(&worker);
		if (i < REJECTION_LOG_BURST / 2) {
			wait_noted(count + 1);
			wait_answered();
		}
	}
	ck_assert_uint_eq(noted(), REJECTION_LOG_BURST / 2);
	ck_assert_int_eq(newest().refusal, REFUSAL_USER_NOT_FOUND);
	ck_assert_int_eq(ask_at(&(struct ask){.signature = "x"}, NOW_MS, now_ms), 401);
	serve_after(&worker);
	wait_noted(REJECTION_LOG_BURST / 2 + 1);
}
END_TEST

START_TEST(long_headers_are_cut)
{
	static char id[2 * REFUSED_ID_MAX], signature[2 * REFUSED_SIGNATURE_MAX];

	memset(id, 'i', sizeof(id));
	memcpy(id, "HTTP_X_CASINO_ID=", 17);
	id[sizeof(id) - 1] = '\0';
	memset(signature, 's', sizeof(signature));
	memcpy(signature, "HTTP_X_CASINO_SIGNATURE=", 24);
	signature[sizeof(signature) - 1] = '\0';
	ck_assert_int_eq(ask(&(struct ask){.caller = "-",
				 .signature = "-",
				 .more = {id, signature, signature}}),
		401);
	serve_after(&worker);
	wait_noted(1);
	ck_assert_uint_eq(newest().caller.len, REFUSED_ID_MAX);
	ck_assert_uint_eq(newest().signature.len, REFUSED_SIGNATURE_MAX);
	ck_assert_uint_eq(newest().signature_count, 2);
}
END_TEST

/* Not reported: success, unknown paths, bodies that are too large. */
START_TEST(nothing_else_is_told)
{
	static char large[BODY_MAX + 2];
	static const struct ask others[] = {{.method = NULL}, {.path = "/nowhere"},
		{.method = "DELETE"}, {.body = large}};
	static const int codes[] = {200, 404, 405, 413};

	memset(large, 'x', sizeof(large) - 1);
	for (unsigned int i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		ck_assert_int_eq(ask(&others[i]), codes[i]);
		serve_after(&worker);
	}
	/* This one arrives after all of them. */
	ck_assert_int_eq(ask(&(struct ask){.signature = "-"}), 401);
	serve_after(&worker);
	wait_noted(1);
	ck_assert_uint_eq(newest().signature_count, 0);
}
END_TEST

/* Reports above the budget are dropped; the budget recovers over time. */
START_TEST(a_flood_is_left_out)
{
	int64_t now_ms = clock_boot_ms();
	unsigned int count;

	for (unsigned int i = 0; i < 10 * REJECTION_LOG_BURST; i++) {
		count = noted();
		ck_assert_int_eq(ask_at(&(struct ask){.signature = "x"}, NOW_MS, now_ms), 401);
		serve_after(&worker);
		if (i < REJECTION_LOG_BURST) {
			wait_noted(count + 1);
			wait_answered();
		}
	}
	ck_assert_uint_eq(noted(), REJECTION_LOG_BURST);
	ck_assert_uint_eq(worker.counting.kept.refused_notes[NOTE_DROPPED],
		9 * REJECTION_LOG_BURST);
	ck_assert_uint_eq(worker.counting.kept.refused_notes[NOTE_SENT], REJECTION_LOG_BURST);
	ck_assert_int_eq(ask_at(&(struct ask){.signature = "x"}, NOW_MS, now_ms + 1000), 401);
	serve_after(&worker);
	wait_noted(REJECTION_LOG_BURST + 1);
}
END_TEST

START_TEST(large_bodies_use_the_budget_up)
{
	static char large[BODY_MAX];
	int64_t now_ms = clock_boot_ms();
	unsigned int sent = 0;

	memset(large, 'x', sizeof(large) - 1);
	for (unsigned int i = 0; i < REJECTION_LOG_BURST; i++) {
		ck_assert_int_eq(ask_at(&(struct ask){.signature = "x", .body = large}, NOW_MS,
					 now_ms),
			401);
		sent += worker.rejections.pending;
		worker.rejections.pending = false;
	}
	ck_assert_uint_eq(sent, REJECTION_LOG_BURST * REJECTION_LOG_BYTES / BODY_MAX);
}
END_TEST

/* The worker does not wait for a ledger that does not answer, and serves later calls. */
START_TEST(a_silent_ledger_is_not_waited_for)
{
	int64_t begun_ms;

	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	fake_lock(&fake);
	fake.acts[COMMAND_REFUSED_NOTE] = FAKE_SILENT;
	fake_unlock(&fake);
	begun_ms = clock_boot_ms();
	for (unsigned int i = 0; i < 20; i++) {
		ck_assert_int_eq(ask(&(struct ask){.signature = "x"}), 401);
		serve_after(&worker);
	}
	ck_assert_int_lt(clock_boot_ms() - begun_ms, PATIENCE_MS / 2);
	ck_assert_uint_eq(worker.counting.kept.refused_notes[NOTE_SENT], 1);
	ck_assert_uint_eq(worker.counting.kept.refused_notes[NOTE_DROPPED], 19);
	/* A report that is never answered fails no call. */
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
}
END_TEST

START_TEST(clients_are_told_apart)
{
	ck_assert_int_eq(ask(&(struct ask){.path = "/platform/players", .key = KEY_OTHER}), 401);
	serve_after(&worker);
	wait_noted(1);
	ck_assert_int_eq(newest().of, KEYRING_CLIENTS);
	ck_bytes(newest().caller, "game");
	ck_assert_uint_eq(newest().signature.len, 64);
}
END_TEST

Suite *web_rejection_log_suite(void)
{
	Suite *suite = suite_create("web_rejection_log");
	TCase *wallet = tcase_create("wallet"), *platform = tcase_create("platform");

	tcase_add_checked_fixture(wallet, web_case_setup, web_case_teardown);
	tcase_add_test(wallet, a_401_is_told);
	tcase_add_test(wallet, a_400_is_told);
	tcase_add_test(wallet, a_player_who_is_not_found_is_told);
	tcase_add_test(wallet, long_headers_are_cut);
	tcase_add_test(wallet, nothing_else_is_told);
	tcase_add_test(wallet, a_flood_is_left_out);
	tcase_add_test(wallet, large_bodies_use_the_budget_up);
	tcase_add_test(wallet, a_silent_ledger_is_not_waited_for);
	tcase_set_timeout(wallet, 60);
	suite_add_tcase(suite, wallet);
	tcase_add_checked_fixture(platform, web_case_platform, web_case_teardown);
	tcase_add_test(platform, clients_are_told_apart);
	tcase_set_timeout(platform, 60);
	suite_add_tcase(suite, platform);
	return suite;
}

/* Descriptions of calls that were answered 4xx, on their way to the ledger's files. */
#include "web_case.h"

#include "base/clock.h"
#include "base/pack.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE_MS 10000

static struct refusal_queue queue;

/* Adds a call as a worker does. */
static bool add_call(const struct refused_call *call, int64_t boot_ms)
{
	uint64_t lost;

	return refusal_queue_has_share(&queue, call, boot_ms) &&
		refusal_queue_add(&queue, call, &lost);
}

static void setup_wallet(void)
{
	web_case_setup();
	ck_assert(refusal_queue_init(&queue));
	service.refusals = &queue;
}

static void setup_platform(void)
{
	web_case_platform();
	ck_assert(refusal_queue_init(&queue));
	service.refusals = &queue;
}

static void teardown(void)
{
	/* The thread that sends is idle now, and goes on to live. */
	service.refusals = NULL;
	web_case_teardown();
}

/* Serves a call that is answered @code, and waits until the ledger has its description. */
static struct refused_call served(const struct ask *what, int code)
{
	const int64_t until_ms = clock_boot_ms() + PATIENCE_MS;
	struct refused_call call;
	struct bytes packed;
	unsigned int before, calls;

	fake_lock(&fake);
	before = fake.calls[COMMAND_REFUSED_KEEP];
	fake_unlock(&fake);
	ck_assert_int_eq(ask(what), code);
	serve_after(&worker);
	do {
		clock_sleep_ms(1);
		fake_lock(&fake);
		calls = fake.calls[COMMAND_REFUSED_KEEP];
		fake_unlock(&fake);
	} while (calls == before && clock_boot_ms() < until_ms);
	ck_assert_uint_eq(calls, before + 1);
	packed = fake.cmds.refused_keep.calls;
	ck_assert(unpack_record(&packed, refused_call_fields, &call));
	ck_assert_uint_eq(packed.len, 0);
	return call;
}

START_TEST(a_402_is_described)
{
	struct refused_call call;

	fake.results.transfer.verdict.refusal = REFUSAL_INSUFFICIENT_BALANCE;
	call = served(&(struct ask){.path = TRANSFER_OUT,
			      .more = {"HTTP_X_REQUEST_ID=me", "REMOTE_ADDR=192.0.2.7"}},
		402);
	ck_assert_str_eq(call.request_id, "me");
	ck_assert_int_eq(call.time_ms, NOW_MS);
	ck_assert_int_eq(call.of, KEYRING_DEALERS);
	ck_assert(call.proved);
	ck_assert_int_eq(call.why, REFUSED_WHY_NONE);
	ck_assert_int_eq(call.refusal, REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_str_eq(call.operation, "transfer-out");
	ck_assert_str_eq(call.path, TRANSFER_OUT);
	ck_assert_str_eq(call.caller, "demo");
	ck_assert_str_eq(call.casino_id, "demo");
	ck_assert_str_eq(call.user_id, "alice");
	ck_assert_str_eq(call.request_transaction_id, "r1");
	ck_assert_str_eq(call.amount, "10.5");
	ck_assert_str_eq(call.address, "192.0.2.7");
	ck_assert_uint_eq(call.body_len, strlen(BODY_TRANSFER));
}
END_TEST

START_TEST(the_reason_of_a_401_is_described)
{
	struct refused_call call = served(&(struct ask){.signature = "-"}, 401);

	ck_assert_int_eq(call.why, REFUSED_WHY_HEADERS);
	ck_assert_uint_eq(call.signature_count, 0);
	ck_assert(!call.proved);
	ck_assert_str_eq(call.user_id, "alice");
	call = served(&(struct ask){.caller = "nobody"}, 401);
	ck_assert_int_eq(call.why, REFUSED_WHY_CALLER);
	call = served(&(struct ask){.key = KEY_OTHER}, 401);
	ck_assert_int_eq(call.why, REFUSED_WHY_SIGNATURE);
	call = served(&(struct ask){.path = BALANCE,
			      .body = "{\"user_id\":\"alice\",\"request_timestamp\":17}"},
		401);
	ck_assert_int_eq(call.why, REFUSED_WHY_CLOCK);
	ck_assert(call.proved);
	ck_assert_int_eq(call.request_timestamp, 17);
}
END_TEST

/* What any client may send does no harm: no body, no header and no path is kept as it came. */
START_TEST(strangers_are_cut)
{
	static char large[REFUSED_RECORD_STRANGER_MAX + 64];
	struct refused_call call;

	snprintf(large, sizeof(large), "{\"user_id\":\"alice\",\"x\":\"%0*d\"}",
		REFUSED_RECORD_STRANGER_MAX, 0);
	call = served(&(struct ask){.signature = "x", .body = large}, 401);
	ck_assert_str_eq(call.user_id, "");
	call = served(&(struct ask){.path = "/\x1b[2J\xff/", .caller = "a b"}, 404);
	ck_assert_str_eq(call.path, "/?[2J?/");
	ck_assert_str_eq(call.caller, "");
	ck_assert_str_eq(call.operation, "none");
	ck_assert_str_eq(call.user_id, "alice");
	call = served(&(struct ask){.signature = "x", .body = "{\"user_id\":\"a\",\"user_id\":1}"},
		401);
	ck_assert_str_eq(call.user_id, "");
}
END_TEST

START_TEST(game_servers_are_described)
{
	struct refused_call call;

	fake.results.player_register.verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
	call = served(&(struct ask){.path = "/platform/players",
			      .body = "{\"casino_id\":\"demo\",\"user_id\":\"bob\"}"},
		404);
	ck_assert_int_eq(call.of, KEYRING_CLIENTS);
	ck_assert_str_eq(call.caller, "game");
	ck_assert_str_eq(call.casino_id, "demo");
	ck_assert_str_eq(call.user_id, "bob");
}
END_TEST

/* Success, 5xx and probes of doctor are not described. */
START_TEST(nothing_else_is_described)
{
	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	serve_after(&worker);
	ck_assert_uint_eq(queue.calls.len, 0);
	ck_assert_int_eq(ask(&(struct ask){.excess = true}), 503);
	serve_after(&worker);
	ck_assert_uint_eq(queue.calls.len, 0);
	ck_assert_int_eq(ask(&(struct ask){.caller = "-",
				 .signature = "-",
				 .more = {"HTTP_X_REQUEST_ID=doctor-1"}}),
		401);
	serve_after(&worker);
	ck_assert_uint_eq(queue.calls.len, 0);
	ck_assert(!queue.started);
}
END_TEST

/* Calls that come together are one command. A call above its sender's share is counted. */
START_TEST(calls_are_collected)
{
	struct refused_call call = {.proved = false, .address = "192.0.2.1"};
	unsigned int added = 0;

	for (unsigned int i = 0; i < 3 * REFUSED_NETWORK_BURST; i++)
		added += add_call(&call, 1000);
	ck_assert_uint_eq(added, REFUSED_NETWORK_BURST);
	strcpy(call.address, "192.0.2.2");
	ck_assert(add_call(&call, 1000));
	call.proved = true;
	ck_assert(add_call(&call, 1000));
	refusal_queue_end(&queue, service.ledger_path, clock_boot_ms() + REFUSAL_END_MS);
	ck_assert_uint_eq(queue.calls.len, 0);
	ck_assert_uint_eq(fake.calls[COMMAND_REFUSED_KEEP], 1);
}
END_TEST

/* Strangers fill at most half of the queue; a full queue drops and is emptied again. */
START_TEST(the_queue_has_a_bound)
{
	struct refused_call call = {.proved = false};
	unsigned int strangers = 0, callers = 0;

	memset(call.user_id, 'u', sizeof(call.user_id) - 1);
	memset(call.detail, 'd', sizeof(call.detail) - 1);
	memset(call.request_transaction_id, 'r', sizeof(call.request_transaction_id) - 1);
	for (unsigned int i = 0; i < 4096; i++) {
		snprintf(call.address, sizeof(call.address), "10.0.%u.%u", i / 250, i % 250);
		strangers += add_call(&call, 1000);
	}
	ck_assert_uint_le(queue.calls.len, REFUSAL_QUEUE_BYTES / 2);
	call.proved = true;
	for (unsigned int i = 0; i < 4096; i++) {
		snprintf(call.caller, sizeof(call.caller), "dealer%u", i % 64);
		callers += add_call(&call, 1000);
	}
	ck_assert_uint_le(queue.calls.len, REFUSAL_QUEUE_BYTES);
	ck_assert_uint_gt(strangers, 100);
	ck_assert_uint_gt(callers, strangers / 2);
	refusal_queue_end(&queue, service.ledger_path, clock_boot_ms() + REFUSAL_END_MS);
	ck_assert_uint_eq(queue.calls.len, 0);
	ck_assert_uint_ge(fake.calls[COMMAND_REFUSED_KEEP], 4);
	ck_assert(add_call(&call, 100000));
}
END_TEST

/* The worker waits for no ledger that is silent; what it could not send is counted. */
START_TEST(a_silent_ledger_delays_no_call)
{
	int64_t begun_ms;

	ck_assert_int_eq(ask(&(struct ask){.method = NULL}), 200);
	fake_lock(&fake);
	fake.acts[COMMAND_REFUSED_KEEP] = FAKE_SILENT;
	fake_unlock(&fake);
	begun_ms = clock_boot_ms();
	for (unsigned int i = 0; i < 20; i++) {
		ck_assert_int_eq(ask(&(struct ask){.signature = "x"}), 401);
		serve_after(&worker);
	}
	ck_assert_int_lt(clock_boot_ms() - begun_ms, PATIENCE_MS / 2);
	ck_assert_uint_eq(worker.counting.kept.refused_calls[NOTE_SENT], 20);
}
END_TEST

/* The queues of all cells share the time that a stopping process has. */
START_TEST(queues_end_together)
{
	static struct refusal_queue queues[4];
	const struct refused_call call = {.proved = true};
	const int64_t begun_ms = clock_boot_ms();
	uint64_t lost;

	fake_lock(&fake);
	fake.acts[COMMAND_REFUSED_KEEP] = FAKE_SILENT;
	fake_unlock(&fake);
	for (size_t i = 0; i < 4; i++) {
		ck_assert(refusal_queue_init(&queues[i]));
		ck_assert(refusal_queue_add(&queues[i], &call, &lost));
	}
	for (size_t i = 0; i < 4; i++) {
		refusal_queue_end(&queues[i], service.ledger_path, begun_ms + REFUSAL_END_MS);
		ck_assert_uint_eq(queues[i].calls.len, 0);
	}
	ck_assert_int_lt(clock_boot_ms() - begun_ms, 3 * REFUSAL_END_MS);
}
END_TEST

Suite *web_refusal_queue_suite(void)
{
	Suite *suite = suite_create("web_refusal_queue");
	TCase *wallet = tcase_create("wallet"), *platform = tcase_create("platform");

	tcase_add_checked_fixture(wallet, setup_wallet, teardown);
	tcase_add_test(wallet, a_402_is_described);
	tcase_add_test(wallet, the_reason_of_a_401_is_described);
	tcase_add_test(wallet, strangers_are_cut);
	tcase_add_test(wallet, nothing_else_is_described);
	tcase_add_test(wallet, calls_are_collected);
	tcase_add_test(wallet, the_queue_has_a_bound);
	tcase_add_test(wallet, a_silent_ledger_delays_no_call);
	tcase_add_test(wallet, queues_end_together);
	tcase_set_timeout(wallet, 60);
	suite_add_tcase(suite, wallet);
	tcase_add_checked_fixture(platform, setup_platform, teardown);
	tcase_add_test(platform, game_servers_are_described);
	tcase_set_timeout(platform, 60);
	suite_add_tcase(suite, platform);
	return suite;
}

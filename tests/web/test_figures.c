/*
 * Tests /readyz and /metrics, and the counters of requests.
 */
#include "web_case.h"

#include "base/clock.h"
#include "base/text.h"
#include "metrics/exposition.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The counters file of the worker under test, beside the fake ledger's socket. */
static char counters_path[128];
static struct counters counters;

static void count_in(const char *directory)
{
	char why[256] = "";

	ck_assert_msg(counters_make(directory, "edge.sock", why, sizeof(why)), "%s", why);
	snprintf(counters_path, sizeof(counters_path), "%s/" COUNTERS_FILE, directory);
	memcpy(service.counters_path, counters_path, sizeof(counters_path));
	counting_free(&worker.counting);
	ck_assert(counting_init(&worker.counting, counters_path));
}

static void setup_wallet(void)
{
	web_case_setup();
	count_in(fake.directory);
}

static void setup_platform(void)
{
	web_case_platform();
	count_in(fake.directory);
	service.sweep_overdue_s = 120;
	fake.results.metrics.swept = true;
	fake.results.metrics.swept_ms_ago = 120000;
}

static void teardown(void)
{
	unlink(counters_path);
	web_case_teardown();
}

static void read_counters(void)
{
	ck_assert(counters_read(counters_path, &counters));
}

static uint64_t all_requests(void)
{
	uint64_t sum = 0;

	read_counters();
	for (unsigned int i = 0; i < OPERATION_COUNT; i++) {
		uint64_t of_one = 0;

		for (unsigned int n = 0; n < REFUSAL_COUNT; n++)
			of_one += counters.requests[i][n];
		ck_assert_uint_eq(of_one, histogram_count(&counters.latency_us[i]));
		sum += of_one;
	}
	return sum;
}

static int get(const char *path)
{
	return ask(&(struct ask){.method = "GET",
		.path = path,
		.caller = "-",
		.signature = "-",
		.body = ""});
}

START_TEST(ready)
{
	ck_assert_int_eq(get("/readyz"), 200);
	ck_assert_str_eq(reply_body(),
		"{\"status\":\"ready\",\"checks\":["
		"{\"name\":\"ledger\",\"ok\":true,\"detail\":\"answers\"},"
		"{\"name\":\"disk\",\"ok\":true,\"detail\":\"0 bytes free, the mark is 0\"},"
		"{\"name\":\"sweeper\",\"ok\":true,\"detail\":\"ran 120 s ago\"}]}");
	ck_assert(reply_has("Content-Type: application/json"));
	fake_lock(&fake);
	ck_assert(fake.cmds.metrics.without_dealers);
	fake_unlock(&fake);
}
END_TEST

/* A standby is ready while the active ledger answers over the relay. */
START_TEST(ready_standby)
{
	text_copy(service.member, sizeof(service.member), "a");
	fake_lock(&fake);
	text_copy(fake.results.metrics.status.member, 64, "b");
	fake_unlock(&fake);
	ck_assert_int_eq(get("/readyz"), 200);
	ck_assert_ptr_nonnull(
		strstr(reply_body(), "\"detail\":\"answers; this host is the standby of b\""));
	text_copy(service.member, sizeof(service.member), "b");
	ck_assert_int_eq(get("/readyz"), 200);
	ck_assert_ptr_nonnull(strstr(reply_body(), "\"detail\":\"answers\""));
}
END_TEST

/* Each check fails by itself. */
START_TEST(not_ready)
{
	static const char *const failing[] = {
		"{\"name\":\"ledger\",\"ok\":false,\"detail\":\"halted: its disk failed\"}",
		"{\"name\":\"disk\",\"ok\":false,\"detail\":\"5 bytes free, the mark is 6\"}",
		"{\"name\":\"sweeper\",\"ok\":false,\"detail\":\"ran 120 s ago\"}",
		"\"ok\":false,\"detail\":\"has not run since the ledger was started\"}",
	};

	fake_lock(&fake);
	fake.results.metrics.status.halted = _i == 0;
	fake.results.metrics.status.storage_low = _i == 1;
	fake.results.metrics.status.disk_free_bytes = 5;
	fake.results.metrics.status.disk_low_water_bytes = 6;
	fake.results.metrics.swept_ms_ago += _i == 2;
	fake.results.metrics.swept = _i != 3;
	fake_unlock(&fake);
	ck_assert_int_eq(get("/readyz"), 503);
	ck_assert_ptr_nonnull(strstr(reply_body(), "{\"status\":\"not_ready\","));
	ck_assert_msg(strstr(reply_body(), failing[_i]) != NULL, "%s", reply_body());
	/* No other check fails. */
	ck_assert_ptr_null(strstr(strstr(reply_body(), "\"ok\":false") + 1, "\"ok\":false"));
	read_counters();
	ck_assert_uint_eq(counters.requests[OPERATION_READYZ][REFUSAL_SERVICE_UNAVAILABLE], 1);
}
END_TEST

/* The other checks are then unknown. The answer arrives sooner than that of a transfer. */
START_TEST(not_ready_without_a_ledger)
{
	int64_t begun_ms = clock_boot_ms();

	fake_lock(&fake);
	fake.acts[COMMAND_METRICS] = _i ? FAKE_SILENT : FAKE_BUSY;
	fake_unlock(&fake);
	service.ledger_deadline_ms = 60000;
	ck_assert_int_eq(get("/readyz"), 503);
	ck_assert_int_lt(clock_boot_ms() - begun_ms, 20000);
	ck_assert_msg(strstr(reply_body(),
			      "{\"name\":\"ledger\",\"ok\":false,\"detail\":"
			      "\"does not answer: ") != NULL,
		"%s", reply_body());
	ck_assert_ptr_nonnull(strstr(reply_body(),
		"{\"name\":\"disk\",\"ok\":false,\"detail\":\"not known: the ledger does not "
		"answer\"}"));
	ck_assert_ptr_nonnull(strstr(reply_body(),
		"{\"name\":\"sweeper\",\"ok\":false,\"detail\":\"not known: the ledger does not "
		"answer\"}"));
	ck_assert(!worker.ended);
}
END_TEST

START_TEST(metrics_are_text)
{
	ck_assert_int_eq(get("/metrics"), 200);
	ck_assert(reply_has("Content-Type: " EXPOSITION_TYPE));
	ck_assert_ptr_nonnull(strstr(reply_body(), "\ncreditbridge_ledger_up 1\n"));
	ck_assert_ptr_nonnull(strstr(reply_body(), "\ncreditbridge_counters_readable 1\n"));
	ck_assert_ptr_nonnull(strstr(reply_body(), "\ncreditbridge_callbacks{state=\"due\"} 0\n"));
	/* The next reply is JSON again. */
	ck_assert_int_eq(get("/healthz"), 200);
	ck_assert(reply_has("Content-Type: application/json"));
	ck_assert_str_eq(reply_body(), "{\"status\":\"ok\"}");
}
END_TEST

START_TEST(metrics_without_a_ledger)
{
	fake_lock(&fake);
	fake.acts[COMMAND_METRICS] = FAKE_BUSY;
	fake_unlock(&fake);
	ck_assert_int_eq(get("/metrics"), 200);
	ck_assert_ptr_nonnull(strstr(reply_body(), "\ncreditbridge_ledger_up 0\n"));
	ck_assert_ptr_nonnull(strstr(reply_body(), "\ncreditbridge_requests_total{"));
	ck_assert_ptr_null(strstr(reply_body(), "creditbridge_storage_low"));
}
END_TEST

START_TEST(metrics_without_a_file)
{
	unlink(counters_path);
	ck_assert_int_eq(get("/metrics"), 200);
	ck_assert_ptr_nonnull(strstr(reply_body(), "\ncreditbridge_ledger_up 1\n"));
	ck_assert_ptr_nonnull(strstr(reply_body(), "\ncreditbridge_counters_readable 0\n"));
	ck_assert_ptr_null(strstr(reply_body(), "creditbridge_requests_total"));
}
END_TEST

/* After an impossible answer of the ledger, no partial text is sent. */
START_TEST(metrics_of_a_broken_ledger)
{
	fake_lock(&fake);
	fake.results.metrics.count = 3;
	fake_unlock(&fake);
	ck_assert_int_eq(get("/metrics"), 503);
	ck_error("service_unavailable");
	ck_assert(reply_has("Content-Type: application/json"));
}
END_TEST

START_TEST(the_wallet_has_neither)
{
	ck_assert_int_eq(get("/readyz"), 404);
	ck_assert_int_eq(get("/metrics"), 404);
	ck_assert_uint_eq(fake.calls[COMMAND_METRICS], 0);
}
END_TEST

/* Each route has its own operation. */
START_TEST(each_route_is_an_operation)
{
	bool seen[OPERATION_COUNT] = {false};
	const struct route *route;

	for (unsigned int i = 0; (route = route_number(i)); i++) {
		const enum web_operation number = route->operation->number;

		ck_assert_msg(number != OPERATION_NONE, "%s is not counted",
			route->operation->path);
		ck_assert_msg(!seen[number], "%s: %s is counted twice", route->operation->path,
			operation_names[number]);
		seen[number] = true;
	}
	for (unsigned int i = OPERATION_NONE + 1; i < OPERATION_DOCTOR; i++)
		ck_assert_msg(seen[i], "%s has no route", operation_names[i]);
}
END_TEST

/* Makes one request of each kind; each is counted under its answer. */
START_TEST(requests_are_counted)
{
	static const struct {
		struct ask ask;
		enum refusal refusal;
	} asks[] = {
		{{.path = TRANSFER_IN}, REFUSAL_NONE},
		{{.path = TRANSFER_IN, .method = "GET"}, REFUSAL_METHOD_NOT_ALLOWED},
		{{.path = TRANSFER_IN, .body = "{}"}, REFUSAL_BAD_REQUEST},
		{{.path = TRANSFER_IN, .key = KEY_OTHER}, REFUSAL_INVALID_SIGNATURE},
	};

	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		ask(&asks[i].ask);
		read_counters();
		ck_assert_uint_eq(counters.requests[OPERATION_TRANSFER_IN][asks[i].refusal], 1);
		ck_assert_uint_eq(all_requests(), i + 1);
	}
	ck_assert_int_eq(get("/nowhere"), 404);
	read_counters();
	ck_assert_uint_eq(counters.requests[OPERATION_NONE][REFUSAL_NOT_FOUND], 1);
	ck_assert_uint_eq(all_requests(), sizeof(asks) / sizeof(asks[0]) + 1);
}
END_TEST

START_TEST(failures_to_sign_are_counted)
{
	static const struct {
		struct ask ask;
		enum auth_failure why;
	} asks[] = {
		{{.caller = "-"}, AUTH_HEADERS},
		{{.caller = "demo, demo"}, AUTH_HEADERS},
		{{.signature = "-"}, AUTH_HEADERS},
		{{.caller = "nobody"}, AUTH_UNKNOWN},
		{{.signature = "00"}, AUTH_SIGNATURE},
		{{.key = KEY_OTHER}, AUTH_SIGNATURE},
		{{.path = BALANCE, .body = "{\"user_id\":\"alice\",\"request_timestamp\":1}"},
			AUTH_STALE},
	};
	uint64_t expected[AUTH_FAILURE_COUNT] = {0};

	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		ck_assert_int_eq(ask(&asks[i].ask), 401);
		expected[asks[i].why]++;
		read_counters();
		for (unsigned int n = 0; n < AUTH_FAILURE_COUNT; n++)
			ck_assert_msg(counters.auth_failures[CALLER_DEALER][n] == expected[n],
				"%zu: %s", i, auth_failure_names[n]);
	}
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 200);
	/* An authenticated caller that the ledger no longer has. */
	fake_lock(&fake);
	fake.results.transfer.verdict.refusal = REFUSAL_DEALER_NOT_FOUND;
	fake_unlock(&fake);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 401);
	read_counters();
	ck_assert_uint_eq(counters.auth_failures[CALLER_DEALER][AUTH_UNKNOWN],
		expected[AUTH_UNKNOWN] + 1);
}
END_TEST

START_TEST(clients_fail_to_sign_by_themselves)
{
	ck_assert_int_eq(ask(&(struct ask){.path = "/platform/players", .caller = "nobody"}), 401);
	read_counters();
	ck_assert_uint_eq(counters.auth_failures[CALLER_CLIENT][AUTH_UNKNOWN], 1);
	ck_assert_uint_eq(counters.auth_failures[CALLER_DEALER][AUTH_UNKNOWN], 0);
	ck_assert_uint_eq(counters.requests[OPERATION_PLAYERS][REFUSAL_INVALID_SIGNATURE], 1);
}
END_TEST

/* A worker without a counters file serves as before. */
START_TEST(serving_without_counting)
{
	unlink(counters_path);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 200);
	ck_assert_ptr_null(worker.counting.page);
	count_in(fake.directory);
	ck_assert_int_eq(ask(&(struct ask){.path = TRANSFER_IN}), 200);
	ck_assert_uint_eq(all_requests(), 1);
}
END_TEST

Suite *web_figures_suite(void)
{
	Suite *suite = suite_create("web_figures");
	TCase *platform = tcase_create("platform"), *wallet = tcase_create("wallet");

	tcase_add_checked_fixture(platform, setup_platform, teardown);
	tcase_add_test(platform, ready);
	tcase_add_test(platform, ready_standby);
	tcase_add_loop_test(platform, not_ready, 0, 4);
	tcase_add_loop_test(platform, not_ready_without_a_ledger, 0, 2);
	tcase_add_test(platform, metrics_are_text);
	tcase_add_test(platform, metrics_without_a_ledger);
	tcase_add_test(platform, metrics_without_a_file);
	tcase_add_test(platform, metrics_of_a_broken_ledger);
	tcase_add_test(platform, clients_fail_to_sign_by_themselves);
	tcase_add_test(platform, each_route_is_an_operation);
	tcase_set_timeout(platform, 60);
	suite_add_tcase(suite, platform);
	tcase_add_checked_fixture(wallet, setup_wallet, teardown);
	tcase_add_test(wallet, the_wallet_has_neither);
	tcase_add_test(wallet, requests_are_counted);
	tcase_add_test(wallet, failures_to_sign_are_counted);
	tcase_add_test(wallet, serving_without_counting);
	tcase_set_timeout(wallet, 60);
	suite_add_tcase(suite, wallet);
	return suite;
}

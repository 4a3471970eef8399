/*
 * Tests a collection of pages of the ledger and its text.
 */
#include "suites.h"

#include "base/pack.h"
#include "base/text.h"
#include "link/frame.h"
#include "metrics/exposition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A ledger that answers from a list of dealers. */
static struct {
	uint32_t dealers; /* d0000, d0001 ... */
	uint32_t page;    /* rows on each page */
	bool empty_first; /* the first page has no rows */
	bool endless;
	bool damaged;
	unsigned int fail_at; /* this call fails; 0: none */
	unsigned int calls;
	bool halted;
} fake;
static struct buffer rows;
static struct collection collection;
static struct buffer text;

static void setup(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.page = 3;
	memset(&collection, 0, sizeof(collection));
	buffer_init(&rows, FRAME_MAX);
	buffer_init(&text, EXPOSITION_MAX);
}

static void teardown(void)
{
	collection_free(&collection);
	buffer_free(&rows);
	buffer_free(&text);
}

static void name_dealer(char casino_id[CASINO_ID_SIZE], uint32_t number)
{
	snprintf(casino_id, CASINO_ID_SIZE, "d%04u", number);
}

static bool ask(void *context, const struct metrics_cmd *cmd, struct metrics_result *result)
{
	uint32_t from = cmd->after[0] ? (uint32_t)strtoul(cmd->after + 1, NULL, 10) + 1 : 0;

	ck_assert_ptr_eq(context, &fake);
	ck_assert(!cmd->without_dealers);
	if (++fake.calls == fake.fail_at)
		return false;
	text_copy(result->status.version, sizeof(result->status.version), "9.9");
	result->status.halted = fake.halted;
	result->more = fake.endless;
	text_copy(result->last, sizeof(result->last), cmd->after);
	buffer_reset(&rows);
	if (fake.empty_first && fake.calls == 1) {
		result->more = true;
		return true;
	}
	for (uint32_t i = from; i < fake.dealers && result->count < fake.page; i++) {
		struct dealer_metrics dealer;

		memset(&dealer, 0, sizeof(dealer));
		name_dealer(dealer.casino_id, i);
		dealer.called = true;
		dealer.due = i;
		dealer.parked = 1;
		dealer.overdue_ms = 1000 * i;
		pack_record(&rows, dealer_metrics_fields, &dealer);
		name_dealer(result->last, i);
		result->count++;
		result->more = fake.endless || i + 1 < fake.dealers;
	}
	result->dealers = (struct bytes){rows.data, (uint32_t)rows.len};
	if (fake.damaged && rows.len)
		result->dealers.len--;
	return true;
}

static bool make(void)
{
	return collection_make(&collection, "/proc/none", ask, &fake);
}

START_TEST(all_pages_are_read)
{
	struct dealer_metrics sum;

	fake.dealers = 8;
	fake.empty_first = true;
	ck_assert(make());
	ck_assert(collection.answered);
	ck_assert(!collection.counted);
	ck_assert_uint_eq(fake.calls, 4);
	ck_assert_uint_eq(collection.dealer_count, 8);
	ck_assert_str_eq(collection.ledger.status.version, "9.9");
	ck_assert_ptr_null(collection.ledger.dealers.data);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_uint_eq(collection.dealers[i].due, i);
	collection_sum(&collection, &sum);
	ck_assert_uint_eq(sum.due, 28);
	ck_assert_uint_eq(sum.parked, 8);
	ck_assert_uint_eq(sum.overdue_ms, 7000);
}
END_TEST

START_TEST(a_ledger_that_fails_is_left_out)
{
	fake.dealers = 8;
	fake.fail_at = _i ? 3 : 1;
	ck_assert(make());
	ck_assert(!collection.answered);
	ck_assert_uint_eq(collection.dealer_count, 0);
}
END_TEST

START_TEST(answers_that_cannot_be_are_refused)
{
	if (_i == 0) {
		fake.dealers = 2;
		fake.damaged = true;
	} else if (_i == 1) {
		fake.endless = true;
	} else {
		fake.dealers = DEALERS_MAX + 1;
		fake.page = 256;
	}
	ck_assert(!make());
	ck_assert(!collection.answered);
	ck_assert_uint_eq(collection.dealer_count, 0);
}
END_TEST

/* Returns the text as a string. */
static const char *rendered(void)
{
	buffer_reset(&text);
	ck_assert(exposition_render(&text, &collection));
	ck_assert(buffer_append(&text, "", 1));
	return (const char *)text.data;
}

/* Returns true if the text has this line. */
static bool has(const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	return strstr((const char *)text.data, whole) != NULL;
}
#define ck_has(line) ck_assert_msg(has(line), "no line: %s", line)

START_TEST(counters_are_rendered)
{
	collection.counted = true;
	collection.counters.requests[OPERATION_BETS][REFUSAL_NONE] = 7;
	collection.counters.requests[OPERATION_BETS][REFUSAL_BET_REJECTED] = 2;
	collection.counters.requests[OPERATION_NONE][REFUSAL_NOT_FOUND] = UINT64_MAX;
	histogram_add(&collection.counters.latency_us[OPERATION_BETS], &histogram_durations_us,
		900);
	histogram_add(&collection.counters.latency_us[OPERATION_BETS], &histogram_durations_us,
		2000100);
	histogram_add(&collection.counters.latency_us[OPERATION_BETS], &histogram_durations_us,
		7000000);
	collection.counters.auth_failures[CALLER_DEALER][AUTH_SIGNATURE] = 4;
	collection.counters.refused_notes[NOTE_DROPPED] = 6;
	collection.counters.refused_calls[NOTE_SENT] = 8;
	rendered();
	ck_has("creditbridge_counters_readable 1");
	ck_has("creditbridge_ledger_up 0");
	ck_has("creditbridge_requests_total{operation=\"bets\",code=\"200\",error=\"\"} 7");
	ck_has("creditbridge_requests_total{operation=\"bets\",code=\"409\",error=\"bet_rejected\"} 2");
	ck_has("creditbridge_requests_total{operation=\"none\",code=\"404\",error=\"not_found\"} "
	       "18446744073709551615");
	ck_has("creditbridge_requests_total{operation=\"results\",code=\"200\",error=\"\"} 0");
	ck_assert(
		!has("creditbridge_requests_total{operation=\"none\",code=\"200\",error=\"\"} 0"));
	ck_has("creditbridge_request_duration_seconds_bucket{operation=\"bets\",le=\"0.0005\"} 0");
	ck_has("creditbridge_request_duration_seconds_bucket{operation=\"bets\",le=\"0.001\"} 1");
	ck_has("creditbridge_request_duration_seconds_bucket{operation=\"bets\",le=\"1\"} 1");
	ck_has("creditbridge_request_duration_seconds_bucket{operation=\"bets\",le=\"2.5\"} 2");
	ck_has("creditbridge_request_duration_seconds_bucket{operation=\"bets\",le=\"5\"} 2");
	ck_has("creditbridge_request_duration_seconds_bucket{operation=\"bets\",le=\"+Inf\"} 3");
	ck_has("creditbridge_request_duration_seconds_sum{operation=\"bets\"} 9.001");
	ck_has("creditbridge_request_duration_seconds_count{operation=\"bets\"} 3");
	ck_has("creditbridge_auth_failures_total{caller=\"dealer\",reason=\"signature\"} 4");
	ck_has("creditbridge_auth_failures_total{caller=\"client\",reason=\"headers\"} 0");
	ck_has("creditbridge_refused_notes_total{outcome=\"dropped\"} 6");
	ck_has("creditbridge_refused_calls_total{outcome=\"sent\"} 8");
	ck_has("creditbridge_refused_calls_total{outcome=\"dropped\"} 0");
	/* Values of the ledger are unknown, so they must not appear as 0. */
	ck_assert_ptr_null(strstr((const char *)text.data, "creditbridge_callbacks{"));
	ck_assert_ptr_null(strstr((const char *)text.data, "creditbridge_storage_low"));
}
END_TEST

START_TEST(the_ledger_is_rendered)
{
	struct dealer_metrics *dealer;

	fake.dealers = 2;
	ck_assert(make());
	collection.ledger.status.uptime_ms = 61002;
	collection.ledger.status.swept_ms = 1700000000500;
	collection.ledger.status.log_bytes = 4096;
	collection.ledger.status.store[0] = (struct store_figure){"trip", FIGURE_US, 2500};
	collection.ledger.status.store[1] = (struct store_figure){"lag", FIGURE_BYTES, 77};
	collection.ledger.status.refused_bytes = 8192;
	collection.ledger.status.refused_left_out = 77;
	histogram_add(&collection.ledger.batches, &histogram_sizes, 3);
	histogram_add(&collection.ledger.commits, &histogram_durations_us, 20);
	dealer = &collection.dealers[1];
	dealer->breaker = BREAKER_HALF_OPEN;
	dealer->inflight = 5;
	dealer->bets_without_balance = 2;
	dealer->known_to_dealer = 3;
	collection.ledger.status.refused_oldest_ms = 1700000000250;
	*dealer_attempts(dealer, CALLBACK_BETTING_REFUND, CALLBACK_NOT_SENT) = 6;
	rendered();
	ck_has("creditbridge_refused_calls_bytes 8192");
	ck_has("creditbridge_refused_calls_left_out_total 77");
	ck_has("creditbridge_refused_calls_oldest_timestamp_seconds 1700000000.250");
	ck_has("creditbridge_dealer_ended_by_error_total{dealer=\"d0001\",error=\"known\"} 3");
	ck_assert_ptr_null(strstr((const char *)text.data, "error=\"unknown\"}"));
	ck_has("creditbridge_ledger_up 1");
	ck_has("creditbridge_counters_readable 0");
	ck_has("creditbridge_ledger_halted 0");
	ck_has("creditbridge_log_bytes 4096");
	ck_has("creditbridge_store_trip_seconds 0.0025");
	ck_has("creditbridge_store_lag_bytes 77");
	/* A store does not have this one. */
	ck_assert_ptr_null(strstr((const char *)text.data, "creditbridge_store_quorum"));
	ck_has("creditbridge_engine_uptime_seconds 61.002");
	ck_has("creditbridge_last_sweep_timestamp_seconds 1700000000.500");
	ck_has("creditbridge_batch_commands_bucket{le=\"2\"} 0");
	ck_has("creditbridge_batch_commands_bucket{le=\"4\"} 1");
	ck_has("creditbridge_batch_commands_sum 3");
	ck_has("creditbridge_batch_commands_count 1");
	ck_has("creditbridge_commit_duration_seconds_sum 0.00002");
	ck_has("creditbridge_callbacks{state=\"due\"} 1");
	ck_has("creditbridge_callbacks{state=\"parked\"} 2");
	ck_has("creditbridge_callback_overdue_seconds 1");
	ck_has("creditbridge_dealer_callbacks{dealer=\"d0001\",state=\"due\"} 1");
	ck_has("creditbridge_dealer_callback_overdue_seconds{dealer=\"d0000\"} 0");
	ck_has("creditbridge_dealer_breaker{dealer=\"d0001\"} 2");
	ck_has("creditbridge_dealer_inflight{dealer=\"d0001\"} 5");
	ck_has("creditbridge_dealer_bets_accepted_total{dealer=\"d0001\",balance=\"no\"} 2");
	ck_has("creditbridge_dealer_bets_accepted_total{dealer=\"d0001\",balance=\"yes\"} 0");
	ck_assert_ptr_null(strstr((const char *)text.data, "accepted_total{dealer=\"d0000\""));
	ck_has("creditbridge_callback_attempts_total{dealer=\"d0001\",kind=\"betting-refund\","
	       "outcome=\"not_sent\"} 6");
	ck_assert_ptr_null(strstr((const char *)text.data, "creditbridge_requests_total"));
}
END_TEST

/* A dealer without callbacks has its sums only. */
START_TEST(money_is_rendered)
{
	fake.dealers = 3;
	ck_assert(make());
	for (uint32_t i = 0; i < 3; i++) {
		text_copy(collection.dealers[i].currency, CURRENCY_SIZE, "thb");
		collection.dealers[i].mode = i ? WALLET_SEAMLESS : WALLET_TRANSFER;
	}
	collection.dealers[0].called = false;
	collection.dealers[0].transferred_in = (sum_t)INT64_MAX * 2;
	collection.dealers[0].transferred_out = 105000;
	collection.dealers[0].adjusted = -2500;
	collection.dealers[0].cancelled = 30000;
	collection.dealers[2].staked = 10000;
	collection.dealers[1].seamless_refunded = 25000;
	collection.dealers[1].owed_refunds = 5000;
	/* A correction took more than the rest. */
	collection.dealers[2].owed_payouts = -20000;
	rendered();
#define CREDIT(number, sum)                                                                        \
	"creditbridge_dealer_credit{dealer=\"d000" #number "\",currency=\"thb\",wallet="           \
	"\"transfer\",sum=\"" sum "\"} "
	ck_has(CREDIT(0, "in") "1844674407370955.1614");
	ck_has(CREDIT(0, "out") "10.5");
	ck_has(CREDIT(0, "adjusted") "-0.25");
	ck_has(CREDIT(0, "paid") "0");
	ck_has(CREDIT(0, "refunded") "3");
	/* The mode was changed after this. */
	ck_has(CREDIT(2, "staked") "1");
	ck_assert(!has(CREDIT(1, "staked") "0"));
#undef CREDIT
	ck_has("creditbridge_dealer_credit{dealer=\"d0001\",currency=\"thb\",wallet=\"seamless\","
	       "sum=\"refunded\"} 2.5");
	ck_has("creditbridge_dealer_owed{dealer=\"d0001\",currency=\"thb\",of=\"refunds\"} 0.5");
	ck_has("creditbridge_dealer_owed{dealer=\"d0001\",currency=\"thb\",of=\"payouts\"} 0");
	ck_has("creditbridge_dealer_owed{dealer=\"d0002\",currency=\"thb\",of=\"payouts\"} -2");
	ck_assert_ptr_null(strstr((const char *)text.data, "dealer_owed{dealer=\"d0000\""));
	ck_assert_ptr_null(strstr((const char *)text.data, "dealer_callbacks{dealer=\"d0000\""));
	ck_assert_ptr_null(strstr((const char *)text.data, "dealer_breaker{dealer=\"d0000\""));
	ck_has("creditbridge_dealer_breaker{dealer=\"d0001\"} 0");
}
END_TEST

START_TEST(requests_by_dealer_are_rendered)
{
	struct dealer_counts counts[2] = {{.casino_id = "demo"}, {.casino_id = "other"}};

	counts[0].requests[counted_code_find(200)] = 3;
	counts[0].requests[counted_code_find(409)] = 2;
	collection.counted = true;
	collection.counters.other_dealers[counted_code_find(503)] = 5;
	collection.by_dealer = counts;
	collection.by_dealer_count = 2;
	rendered();
	collection.by_dealer = NULL;
	ck_has("creditbridge_dealer_requests_total{dealer=\"demo\",code=\"200\"} 3");
	ck_has("creditbridge_dealer_requests_total{dealer=\"demo\",code=\"409\"} 2");
	ck_has("creditbridge_dealer_requests_total{dealer=\"+others\",code=\"503\"} 5");
	ck_assert_ptr_null(strstr((const char *)text.data, "dealer=\"other\""));
}
END_TEST

START_TEST(a_halted_ledger_tells_nothing_of_callbacks)
{
	fake.halted = true;
	ck_assert(make());
	rendered();
	ck_has("creditbridge_ledger_halted 1");
	ck_assert_ptr_null(strstr((const char *)text.data, "creditbridge_callbacks"));
}
END_TEST

static sum_t longest_sum(void)
{
	sum_t sum = 0;

	ck_assert(sum_from_text("-999999999999999999999999999999.9999", &sum));
	return sum;
}

/* The largest possible number of values. */
START_TEST(the_longest_text_fits)
{
	collection.counted = collection.answered = true;
	memset(&collection.counters, 0xff, sizeof(collection.counters));
	collection.dealers = calloc(DEALERS_MAX, sizeof(*collection.dealers));
	ck_assert_ptr_nonnull(collection.dealers);
	collection.dealer_count = DEALERS_MAX;
	memset(collection.dealers, 0xff, DEALERS_MAX * sizeof(*collection.dealers));
	for (uint32_t i = 0; i < DEALERS_MAX; i++) {
		struct dealer_metrics *dealer = &collection.dealers[i];

		memset(dealer->casino_id, 'a', CASINO_ID_SIZE - 1);
		dealer->casino_id[CASINO_ID_SIZE - 1] = '\0';
		memset(dealer->currency, 'c', CURRENCY_SIZE - 1);
		dealer->currency[CURRENCY_SIZE - 1] = '\0';
		dealer->mode = i % WALLET_MODE_COUNT;
		dealer->called = true;
		dealer->breaker = BREAKER_OPEN;
		/* Sums of 38 digits, of both kinds of wallet. */
		dealer->corrected = dealer->cancelled = dealer->shortfall = dealer->transferred_in =
			dealer->transferred_out = dealer->adjusted = dealer->staked = dealer->paid =
				dealer->balance = dealer->seamless_staked = dealer->seamless_paid =
					dealer->seamless_refunded = dealer->owed_payouts =
						dealer->owed_refunds = longest_sum();
	}
	collection.by_dealer = calloc(COUNTED_DEALERS, sizeof(*collection.by_dealer));
	ck_assert_ptr_nonnull(collection.by_dealer);
	collection.by_dealer_count = COUNTED_DEALERS;
	memset(collection.by_dealer, 0xff, COUNTED_DEALERS * sizeof(*collection.by_dealer));
	for (uint32_t i = 0; i < COUNTED_DEALERS; i++) {
		memset(collection.by_dealer[i].casino_id, 'a', CASINO_ID_SIZE - 1);
		collection.by_dealer[i].casino_id[CASINO_ID_SIZE - 1] = '\0';
	}
	ck_assert(exposition_render(&text, &collection));
	printf("# the longest text has %zu bytes\n", text.len);
}
END_TEST

Suite *exposition_suite(void)
{
	Suite *suite = suite_create("exposition");
	TCase *tc = tcase_create("exposition");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, all_pages_are_read);
	tcase_add_loop_test(tc, a_ledger_that_fails_is_left_out, 0, 2);
	tcase_add_loop_test(tc, answers_that_cannot_be_are_refused, 0, 3);
	tcase_add_test(tc, counters_are_rendered);
	tcase_add_test(tc, the_ledger_is_rendered);
	tcase_add_test(tc, money_is_rendered);
	tcase_add_test(tc, requests_by_dealer_are_rendered);
	tcase_add_test(tc, a_halted_ledger_tells_nothing_of_callbacks);
	tcase_add_test(tc, the_longest_text_fits);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}

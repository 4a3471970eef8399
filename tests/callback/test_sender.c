/*
 * Tests promises of callback/sender.h that tests/callback/test_faults.py cannot observe: bounds,
 * copies, and the fate of attempts when the sender is freed.
 */
#include "suites.h"

#include "base/clock.h"
#include "callback/sender.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct network loopback;
static struct callback_target target;
static int listener;

/* A server whose kernel accepts connections, and that never answers. */
static void prepare(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	ck_assert(network_parse("127.0.0.0/8", &loopback));
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 512), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	memset(&target, 0, sizeof(target));
	snprintf(target.url, sizeof(target.url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
	strcpy(target.path, "/betting");
	target.allow_http = true;
	strcpy(target.signing_key_id, "k1");
	strcpy(target.keys[0].key_id, "k1");
	strcpy(target.keys[0].secret, "s");
}

static void clean(void)
{
	close(listener);
}

static struct sender *sender_of(uint32_t total_timeout_ms)
{
	const struct sender_options options = {.networks = &loopback,
		.network_count = 1,
		.total_timeout_ms = total_timeout_ms};
	struct sender *sender = sender_new(&options);

	ck_assert_ptr_nonnull(sender);
	return sender;
}

static bool refuse(void *closure)
{
	++*(unsigned int *)closure;
	return false;
}

static struct callback_request request_of(void *closure)
{
	return (struct callback_request){.kind = CALLBACK_BETTING,
		.event = 1,
		.target = &target,
		.body = {(const uint8_t *)"{}", 2},
		.closure = closure};
}

START_TEST(attempts_are_bounded)
{
	/* Enough time to send them all. */
	struct sender *sender = sender_of(2000);
	struct callback_outcome outcome;
	unsigned int closures[SENDER_INFLIGHT_MAX] = {0};
	unsigned int taken = 0;
	void *closure;

	for (unsigned int i = 0; i < SENDER_INFLIGHT_MAX; i++) {
		struct callback_request request = request_of(&closures[i]);

		ck_assert(sender_add(sender, &request));
	}
	{
		struct callback_request request = request_of(NULL);

		ck_assert(!sender_add(sender, &request));
	}
	ck_assert_uint_eq(sender_count(sender), SENDER_INFLIGHT_MAX);
	while (sender_count(sender)) {
		sender_run(sender, 1000);
		while (sender_take(sender, &outcome, &closure)) {
			ck_assert_int_eq(outcome.class, CALLBACK_UNKNOWN);
			++*(unsigned int *)closure;
			taken++;
		}
	}
	ck_assert_uint_eq(taken, SENDER_INFLIGHT_MAX);
	for (unsigned int i = 0; i < SENDER_INFLIGHT_MAX; i++)
		ck_assert_uint_eq(closures[i], 1);
	ck_assert(!sender_take(sender, &outcome, &closure));
	sender_free(sender);
}
END_TEST

START_TEST(a_sender_may_go_at_any_time)
{
	struct sender *sender = sender_of(3000);
	struct callback_target broken = target;
	struct callback_request request = request_of(NULL), refused = request_of(NULL);

	sender_free(NULL);
	for (int i = 0; i < 5; i++)
		ck_assert(sender_add(sender, &request));
	sender_run(sender, 50);
	/* Five are being sent; one is refused and not accepted. */
	broken.url[0] = '\0';
	refused.target = &broken;
	ck_assert(sender_add(sender, &refused));
	ck_assert_uint_eq(sender_count(sender), 6);
	sender_free(sender);
}
END_TEST

/* Outcomes of other attempts that end during a call are kept for sender_take(). */
START_TEST(a_call_among_others)
{
	struct sender *sender = sender_of(1000);
	struct callback_request request = request_of(&target);
	struct callback_outcome outcome;
	int64_t begin_ms = clock_boot_ms();
	void *closure;

	for (int i = 0; i < 3; i++)
		ck_assert(sender_add(sender, &request));
	sender_run(sender, 100);
	ck_assert(!sender_take(sender, &outcome, &closure));
	callback_send(sender, &request, &outcome);
	ck_assert_int_eq(outcome.class, CALLBACK_UNKNOWN);
	ck_assert_uint_ge(outcome.ms, 990);
	/* The call's own timeout, not the default. */
	ck_assert_int_lt(clock_boot_ms() - begin_ms, 3000);
	ck_assert_uint_eq(sender_count(sender), 3);
	for (int i = 0; i < 3; i++) {
		ck_assert(sender_take(sender, &outcome, &closure));
		ck_assert_int_eq(outcome.class, CALLBACK_UNKNOWN);
		ck_assert_ptr_eq(closure, &target);
	}
	ck_assert_uint_eq(sender_count(sender), 0);
	sender_free(sender);
}
END_TEST

START_TEST(the_fence_is_asked_once)
{
	struct sender *sender = sender_of(0);
	unsigned int asked = 0;
	struct callback_request request = request_of(&asked);
	struct callback_outcome outcome;

	request.fence = refuse;
	for (unsigned int i = 1; i <= 3; i++) {
		callback_send(sender, &request, &outcome);
		ck_assert_int_eq(outcome.class, CALLBACK_NOT_SENT);
		ck_assert_str_eq(outcome.note, "fence");
		ck_assert_uint_eq(asked, i);
	}
	sender_free(sender);
}
END_TEST

/* A missing key is reported, and nothing is signed with another key. */
START_TEST(no_signing_key_no_callback)
{
	struct sender *sender = sender_of(0);
	struct callback_request request = request_of(NULL);
	struct callback_outcome outcome;

	strcpy(target.signing_key_id, "k2");
	callback_send(sender, &request, &outcome);
	ck_assert_int_eq(outcome.class, CALLBACK_NOT_SENT);
	ck_assert_str_eq(outcome.note,
		"the dealer has no signing key: `creditbridgectl dealer key-add`, then key-use");
	/* An unused slot is not a key. */
	target.signing_key_id[0] = target.keys[0].key_id[0] = '\0';
	callback_send(sender, &request, &outcome);
	ck_assert_str_eq(outcome.note,
		"the dealer has no signing key: `creditbridgectl dealer key-add`, then key-use");
	sender_free(sender);
}
END_TEST

START_TEST(nothing_to_do_is_no_wait)
{
	struct sender *sender = sender_of(0);
	int64_t begin_ms = clock_boot_ms();

	sender_run(sender, 60000);
	ck_assert_int_lt(clock_boot_ms() - begin_ms, 1000);
	sender_free(sender);
}
END_TEST

Suite *sender_suite(void)
{
	const TTest *const tests[] = {attempts_are_bounded, a_sender_may_go_at_any_time,
		a_call_among_others, the_fence_is_asked_once, no_signing_key_no_callback,
		nothing_to_do_is_no_wait, NULL};
	Suite *suite = suite_create("sender");
	TCase *tcase = tcase_create("sender");

	tcase_set_timeout(tcase, 20);
	tcase_add_checked_fixture(tcase, prepare, clean);
	for (size_t i = 0; tests[i]; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

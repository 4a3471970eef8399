/*
 * Tests what is said of a call that is kept without its body (explain/answers.c), which side owes
 * what after it (explain/standing.h), and ids that are near (domain/near_id.h).
 */
#include "domain/near_id.h"
#include "explain/explain.h"
#include "explain/standing.h"

#include <stdio.h>
#include <string.h>
#include <tap.h>

#define NOW_MS INT64_C(1700000000000)

Suite *standing_suite(void);

static struct refused_call call;
static struct explain_case explain;
static struct explanation explanation;
static struct standing_key key;
static struct standing standing;

static void setup(void)
{
	memset(&call, 0, sizeof(call));
	memset(&explain, 0, sizeof(explain));
	memset(&key, 0, sizeof(key));
	strcpy(call.operation, "transfer-in");
	strcpy(call.path, "/wallet-service/credit/transfer-in");
	strcpy(call.caller, "demo");
	strcpy(call.user_id, "bob");
	strcpy(call.request_transaction_id, "r1");
	strcpy(call.amount, "10.25");
	call.time_ms = NOW_MS;
	call.caller_count = call.signature_count = 1;
	explain.call = &call;
	explain.from_disk = true;
	explain.window_ms = 300000;
}

/* Asserts that calls that are counted have the cause that was found, unless it cannot be known by what is kept of them. */
static void counted(void)
{
	const struct refused_cause kept = {.refusal = call.refusal,
		.why = call.why,
		.form = refused_call_form(&call)};
	const bool body = call.why == REFUSED_WHY_SIGNATURE || call.refusal == REFUSAL_BAD_REQUEST;
	const bool each = call.why == REFUSED_WHY_CALLER || call.refusal == REFUSAL_USER_NOT_FOUND;
	enum explain_cause cause;
	enum explain_known known = explain_counted(&kept, &cause);

	ck_assert_int_eq(known,
		body           ? EXPLAIN_NEEDS_BODY
			: each ? EXPLAIN_NEEDS_CALL
			       : EXPLAIN_KNOWN);
	if (known == EXPLAIN_KNOWN)
		ck_assert_str_eq(explain_causes[cause].id,
			explain_causes[explanation.findings[0].cause].id);
	if (kept.form != REFUSED_FORM_NONE)
		ck_assert_str_eq(refused_form_names[kept.form], explain_causes[cause].id);
}

/* Asserts that the first finding is @cause. */
static void explained(enum refusal refusal, enum refused_why why, enum explain_cause cause)
{
	call.refusal = explain.request.refusal = refusal;
	call.why = why;
	explain.request.time_ms = call.time_ms;
	explain.request.caller_count = call.caller_count;
	explain.request.signature_count = call.signature_count;
	explain.request.caller =
		(struct bytes){(const uint8_t *)call.caller, (uint32_t)strlen(call.caller)};
	explain_request(&explain, &explanation);
	ck_assert_uint_ge(explanation.count, 1);
	ck_assert_msg(explanation.findings[0].cause == cause, "%s: %s", refusal_info(refusal)->id,
		explain_causes[explanation.findings[0].cause].id);
	counted();
}

START_TEST(calls_without_bodies)
{
	explained(REFUSAL_INSUFFICIENT_BALANCE, REFUSED_WHY_NONE, CAUSE_BALANCE_LOW);
	ck_assert(strstr(explanation.findings[0].found, "of 10.25 with the reference 'r1'"));
	explained(REFUSAL_TRANSACTION_CONFLICT, REFUSED_WHY_NONE, CAUSE_REFERENCE_REUSED);
	explained(REFUSAL_TRANSACTION_SEALED, REFUSED_WHY_NONE, CAUSE_REFERENCE_CLOSED);
	explained(REFUSAL_DEALER_SUSPENDED, REFUSED_WHY_NONE, CAUSE_CALL_SUSPENDED);
	explained(REFUSAL_PAYLOAD_TOO_LARGE, REFUSED_WHY_NONE, CAUSE_BODY_TOO_LARGE);
	explained(REFUSAL_RATE_LIMITED, REFUSED_WHY_NONE, CAUSE_RATE_EXCEEDED);
	explained(REFUSAL_RATE_LIMITED, REFUSED_WHY_FLOOD, CAUSE_SIGNATURE_FLOOD);
	explained(REFUSAL_NOT_FOUND, REFUSED_WHY_NONE, CAUSE_PATH_UNKNOWN);
	ck_assert(strstr(explanation.findings[0].found, "/wallet-service/credit/transfer-in"));
	explained(REFUSAL_METHOD_NOT_ALLOWED, REFUSED_WHY_NONE, CAUSE_METHOD_WRONG);
	explained(REFUSAL_BET_REJECTED, REFUSED_WHY_NONE, CAUSE_DEALER_SAID_NO);
	explained(REFUSAL_GAME_NOT_FOUND, REFUSED_WHY_NONE, CAUSE_REQUEST_REFUSED);
	explained(REFUSAL_BAD_REQUEST, REFUSED_WHY_NONE, CAUSE_REQUEST_REFUSED);
}
END_TEST

START_TEST(signatures_without_bodies)
{
	explained(REFUSAL_INVALID_SIGNATURE, REFUSED_WHY_SIGNATURE, CAUSE_SIGNATURE_WRONG);
	explained(REFUSAL_INVALID_SIGNATURE, REFUSED_WHY_CALLER, CAUSE_CALLER_UNKNOWN);
	explained(REFUSAL_INVALID_SIGNATURE, REFUSED_WHY_HEADERS, CAUSE_SIGNATURE_NOT_SINGLE);
	call.signature_count = 0;
	explained(REFUSAL_INVALID_SIGNATURE, REFUSED_WHY_HEADERS, CAUSE_SIGNATURE_MISSING);
	call.signature_count = 2;
	explained(REFUSAL_INVALID_SIGNATURE, REFUSED_WHY_HEADERS, CAUSE_SIGNATURE_NOT_SINGLE);
	call.caller_count = 0;
	explained(REFUSAL_INVALID_SIGNATURE, REFUSED_WHY_HEADERS, CAUSE_ID_MISSING);
	call.request_timestamp = NOW_MS / 1000;
	explained(REFUSAL_STALE_REQUEST, REFUSED_WHY_CLOCK, CAUSE_CLOCK_UNIT);
	call.request_timestamp = NOW_MS - 400000;
	explained(REFUSAL_STALE_REQUEST, REFUSED_WHY_CLOCK, CAUSE_CLOCK_BEHIND);
	call.request_timestamp = NOW_MS + 7 * 3600 * 1000;
	explained(REFUSAL_STALE_REQUEST, REFUSED_WHY_CLOCK, CAUSE_CLOCK_ZONE);
	call.request_timestamp = NOW_MS + 400000;
	explained(REFUSAL_STALE_REQUEST, REFUSED_WHY_CLOCK, CAUSE_CLOCK_AHEAD);
	call.request_timestamp = NOW_MS * 1000;
	explained(REFUSAL_STALE_REQUEST, REFUSED_WHY_CLOCK, CAUSE_CLOCK_UNIT);
	ck_assert_int_eq(refused_clock(INT64_MAX, NOW_MS), REFUSED_FORM_CLOCK_AHEAD);
	ck_assert_int_eq(refused_clock(INT64_MIN, NOW_MS), REFUSED_FORM_CLOCK_BEHIND);
}
END_TEST

START_TEST(players_without_bodies)
{
	strcpy(explain.player.sent, "bbo");
	explained(REFUSAL_USER_NOT_FOUND, REFUSED_WHY_NONE, CAUSE_USER_UNKNOWN);
	strcpy(explain.player.near_id, "bob");
	explained(REFUSAL_USER_NOT_FOUND, REFUSED_WHY_NONE, CAUSE_USER_MISSPELT);
	ck_assert(strstr(explanation.findings[0].found, "there is a player 'bob'"));
	ck_assert(strstr(explanation.findings[0].found, "the order of two characters"));
}
END_TEST

static void stands(const char *owed, const char *next)
{
	standing_of(&call, &key, 2, &standing);
	ck_assert_msg(strstr(standing.owed, owed), "'%s' in '%s'", owed, standing.owed);
	ck_assert_msg(strstr(standing.next, next), "'%s' in '%s'", next, standing.next);
}

START_TEST(which_side_owes)
{
	call.refusal = REFUSAL_INVALID_SIGNATURE;
	stands("the platform owes nothing. If the dealer took 10.25 from bob",
		"again with the same request_transaction_id");
	/* The refusal is recorded: the same reference can never succeed. */
	key.known = true;
	key.request.outcome = REFUSAL_TRANSACTION_SEALED;
	stands("the dealer owes bob that amount", "a new request_transaction_id");
	/* Another call moved the credit. */
	key.request = (struct request){.entry_seq = 1,
		.transaction_id = 4242,
		.amount = 102500,
		.kind = ENTRY_TRANSFER_IN};
	stands("moved 10.25, as transaction 4242. For this reference, no side owes anything",
		"--transaction 4242");
	strcpy(call.operation, "transfer-out");
	key.request.kind = ENTRY_TRANSFER_OUT;
	stands("out of the platform, as transaction 4242. The platform owes nothing",
		"--transaction 4242");
	key.known = false;
	stands("the credit of bob is still on the platform", "pays the player after a 200");
	strcpy(call.operation, "bets");
	stands("took no stake", "bet list");
	call.refusal = REFUSAL_BET_REJECTED;
	stands("The dealer refused the bet", "bet list");
	strcpy(call.operation, "results");
	stands("changed nothing", "round show");
	strcpy(call.operation, "balance");
	stands("moves no credit", "again");
	strcpy(call.operation, "none");
	stands("No operation has this path, so no credit moved", "corrects the URL");
	/* The longest names fit. */
	strcpy(call.operation, "transfer-in");
	memset(call.user_id, 'u', sizeof(call.user_id) - 1);
	memset(call.amount, '9', sizeof(call.amount) - 1);
	stands("that amount.", "again");
}
END_TEST

START_TEST(one_edit)
{
	static const struct {
		const char *one, *other;
		bool near;
	} pairs[] = {
		{"bob", "bob", false},
		{"bob", "boba", true},
		{"bob", "xbob", true},
		{"bob", "bxob", true},
		{"bob", "bab", true},
		{"bob", "obb", true},
		{"bob", "bbo", true},
		{"bob", "bo", false}, /* too short */
		{"bobby", "boby", true},
		{"bobby", "boybb", false},
		{"bobby", "byobb", false},
		{"alice", "alcie", true},
		{"alice", "alcei", false},
		{"alice", "alicexx", false},
		{"", "a", false},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		ck_assert_msg(!near_id_edit(pairs[i].one, pairs[i].other) == !pairs[i].near,
			"%s %s", pairs[i].one, pairs[i].other);
		ck_assert_msg(!near_id_edit(pairs[i].other, pairs[i].one) == !pairs[i].near,
			"%s %s", pairs[i].other, pairs[i].one);
	}
}
END_TEST

Suite *standing_suite(void)
{
	Suite *suite = suite_create("standing");
	TCase *tc = tcase_create("standing");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, calls_without_bodies);
	tcase_add_test(tc, signatures_without_bodies);
	tcase_add_test(tc, players_without_bodies);
	tcase_add_test(tc, which_side_owes);
	tcase_add_test(tc, one_edit);
	suite_add_tcase(suite, tc);
	return suite;
}

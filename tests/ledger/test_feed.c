/*
 * Tests the feed, the history, and a dealer's own callbacks: pages, bounds, refusals. A failing run of
 * the pages prints its seed; CB_SEED=N repeats it.
 */
#include "case_wagers.h"

#include "base/pack.h"
#include "ledger/rows/recent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY    700 /* transactions: several times what a command looks at */
#define ROUNDS  24  /* with a megabyte of objects together */
#define OBJECTS 20000

static struct buffer answer;

/* Runs the command, and makes its answer, which read() fills. */
static struct slot *ask(enum command command, const void *cmd)
{
	struct slot *slot = case_run(command, cmd);

	buffer_init(&answer, FRAME_MAX);
	ledger_answer(&case_ledger, slot, 1, &answer);
	ck_assert(!answer.failed);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	buffer_free(&answer);
	return slot;
}

static struct feed_result feed(const char *casino_id, const char *user_id, uint64_t after,
	uint32_t limit)
{
	struct feed_cmd cmd = {.after = after, .limit = limit};

	strcpy(cmd.casino_id, casino_id);
	strcpy(cmd.user_id, user_id);
	return ask(COMMAND_FEED, &cmd)->result.feed;
}

/* The ids of all transactions of a dealer, or of all dealers. */
struct all {
	const char *casino_id;
	uint64_t ids[4 * MANY];
	uint32_t count;
};

static void add_id(void *context, const void *row)
{
	const struct transaction *entry = row;
	struct all *all = context;

	if (!all->casino_id[0] || strcmp(all->casino_id, entry->casino_id) == 0)
		all->ids[all->count++] = entry->transaction_id;
}

static void all_ids(struct all *all, const char *casino_id)
{
	all->casino_id = casino_id;
	all->count = 0;
	case_list(RECORD_TRANSACTION, false, 0, add_id, all);
}

/* Reads all pages after @after and compares them with @all, backwards for a history. */
static unsigned int assert_pages(const struct all *all, const char *user_id, uint64_t after,
	uint32_t limit)
{
	const bool back = user_id[0] != '\0';
	uint32_t at = back ? all->count : 0;
	unsigned int pages = 0;
	struct feed_result page;
	struct feed_item item;

	while (!back && at < all->count && all->ids[at] <= after)
		at++;
	while (back && after && at > 0 && all->ids[at - 1] >= after)
		at--;
	do {
		page = feed(all->casino_id, user_id, after, limit);
		ck_assert_int_eq(page.verdict.refusal, REFUSAL_NONE);
		ck_assert(!limit || page.count <= limit);
		for (uint32_t i = 0; i < page.count; i++) {
			ck_assert(unpack_record(&page.items, feed_item_fields, &item));
			ck_assert(back ? at > 0 : at < all->count);
			ck_assert_uint_eq(item.transaction_id, all->ids[back ? --at : at++]);
		}
		ck_assert_uint_eq(page.items.len, 0);
		ck_assert(back ? page.next < after || !after || page.complete : page.next >= after);
		after = page.next;
		ck_assert_uint_lt(pages++, 4 * MANY);
	} while (!page.complete);
	ck_assert_uint_eq(at, back ? 0 : all->count);
	return pages;
}

static void transfer_to(const char *casino_id, unsigned int number)
{
	struct transfer_cmd cmd = case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "", CREDIT);

	strcpy(cmd.casino_id, casino_id);
	sprintf(cmd.request_transaction_id, "t%u", number);
	ck_assert_int_eq(case_run(COMMAND_TRANSFER, &cmd)->result.verdict.refusal, REFUSAL_NONE);
}

/* Transfers of two dealers, one in eight of dealer other. */
static void make_many(void)
{
	case_open(CASE_MEMORY);
	case_add_dealer("other", WALLET_TRANSFER);
	for (unsigned int i = 0; i < MANY; i++)
		transfer_to(i % 8 ? "demo" : "other", i);
}

START_TEST(pages_are_the_transactions)
{
	const char *text = getenv("CB_SEED");
	unsigned int seed = text ? (unsigned int)strtoul(text, NULL, 10) : (unsigned int)rand();
	static const char *const dealers[] = {"demo", "other", ""};
	static struct all all;

	printf("# CB_SEED=%u\n", seed);
	srand(seed);
	make_many();
	for (unsigned int i = 0; i < 30; i++) {
		all_ids(&all, dealers[i % 3]);
		/* Then nothing is in memory, as after a start, and later some. */
		if (i == 10)
			recent_begin(&case_ledger.derived.recent,
				case_ledger.derived.transaction_id);
		for (unsigned int j = 0; i == 20 && j < MANY / 8; j++)
			transfer_to("other", MANY + j);
		all_ids(&all, dealers[i % 3]);
		assert_pages(&all, "", i % 2 ? all.ids[(uint32_t)rand() % all.count] : 0,
			(uint32_t)rand() % 300);
	}
	case_close();
}
END_TEST

/* A history below an id that is none of the player's: nothing above it, however much is there. */
START_TEST(a_history_stays_below_after)
{
	static struct all others, own;
	const uint32_t limits[] = {0, 1, 7};
	uint64_t after;

	make_many();
	all_ids(&others, "other");
	all_ids(&own, "demo");
	ck_assert_uint_gt(own.count, 2 * FEED_ROWS_MAX);
	for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		/* Of another dealer, of no transaction, own, below all and above all. */
		after = others.ids[others.count / 8];
		assert_pages(&own, "alice", after, limits[i]);
		assert_pages(&own, "alice", after + 1, limits[i]);
		assert_pages(&own, "alice", own.ids[own.count / 4], limits[i]);
		assert_pages(&own, "alice", 1, limits[i]);
		assert_pages(&own, "alice", own.ids[own.count - 1] + 1000, limits[i]);
		assert_pages(&others, "alice", own.ids[own.count - 1], limits[i]);
	}
	/* A player without movements. */
	case_add_dealer("idle", WALLET_TRANSFER);
	all_ids(&own, "idle");
	assert_pages(&own, "alice", after, 0);
	case_close();
}
END_TEST

START_TEST(a_command_looks_at_a_bounded_number)
{
	struct feed_result page;
	static struct all all;

	make_many();
	all_ids(&all, "");
	recent_begin(&case_ledger.derived.recent, UINT64_MAX);
	page = feed("other", "", 0, 0);
	ck_assert(!page.complete);
	ck_assert_uint_eq(page.next, all.ids[FEED_ROWS_MAX - 1]);
	/* A dealer without transactions goes on as well. */
	case_add_dealer("idle", WALLET_TRANSFER);
	page = feed("idle", "", 0, 0);
	ck_assert_uint_eq(page.count, 0);
	ck_assert(!page.complete);
	ck_assert_uint_eq(page.next, all.ids[FEED_ROWS_MAX - 1]);
	case_close();
}
END_TEST

START_TEST(memory_has_the_newest)
{
	struct recent *recent = &case_ledger.derived.recent;
	struct transaction entry = {.casino_id = "demo"};
	uint64_t ids[4];
	struct recent_found found;

	case_open(CASE_MEMORY);
	recent_begin(recent, 100);
	for (uint64_t id = 101; id <= 100 + RECENT_MAX + 5; id++) {
		entry.transaction_id = id;
		recent_add(recent, &entry);
	}
	/* 101 to 105 were dropped. */
	ck_assert(!recent_find(recent, "demo", 104, ids, 4, &found));
	ck_assert(recent_find(recent, "demo", 105, ids, 4, &found));
	ck_assert_uint_eq(found.count, 4);
	ck_assert_uint_eq(ids[0], 106);
	ck_assert_uint_eq(found.last, 109);
	ck_assert(found.more);
	ck_assert(recent_find(recent, "other", 105, ids, 4, &found));
	ck_assert_uint_eq(found.count, 0);
	ck_assert_uint_eq(found.last, 100 + RECENT_MAX + 5);
	ck_assert(!found.more);
	case_close();
}
END_TEST

/* Rounds of a seamless player with large objects: an answer ends before it is too large. */
START_TEST(large_rounds_end_a_page)
{
	static char object[OBJECTS];
	struct bet_place_result placed;
	struct round_settle_cmd cmd;
	struct round_settle_result settled;
	char id[16], game[16];
	static struct all all;

	memset(object, 'x', sizeof(object));
	memcpy(object, "{\"x\":\"", 6);
	memcpy(object + sizeof(object) - 2, "\"}", 2);
	case_open_mode(_i, WALLET_SEAMLESS);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		sprintf(id, "b%u", i);
		sprintf(game, "g%u", i);
		placed = case_bet(id, game, CREDIT);
		case_end(&placed.send, CALLBACK_SUCCESS);
		sprintf(id, "r%u", i);
		cmd = case_settle_cmd(id, game, RESULT_WIN, CREDIT);
		cmd.game_result = cmd.user_bet_result =
			(struct bytes){(const uint8_t *)object, sizeof(object)};
		settled = case_run(COMMAND_ROUND_SETTLE, &cmd)->result.round_settle;
		ck_assert_int_eq(settled.verdict.refusal, REFUSAL_NONE);
		case_end(&settled.send, CALLBACK_SUCCESS);
	}
	all_ids(&all, "demo");
	ck_assert_uint_eq(all.count, 2 * ROUNDS);
	ck_assert_uint_gt(assert_pages(&all, "", 0, 0), 1);
	ck_assert_uint_gt(assert_pages(&all, "alice", 0, 0), 1);
	case_close();
}
END_TEST

/* Each item has the state of now, which its transaction does not have. */
START_TEST(items_have_the_state_of_now)
{
	static const struct {
		enum entry_kind kind;
		const char *state;
		money_t amount;
		money_t bet_amount;
	} wanted[] = {
		{ENTRY_TRANSFER_IN, "done", 10 * CREDIT, 0},
		{ENTRY_BET, "settled", -2 * CREDIT, 2 * CREDIT},
		{ENTRY_BET, "refunded", -CREDIT, CREDIT},
		{ENTRY_BET_CANCEL, "refunded", CREDIT, CREDIT},
		{ENTRY_PAYOUT, "done", 3 * CREDIT, 2 * CREDIT},
	};
	struct bet_cancel_cmd cancel;
	struct feed_result page;
	struct feed_item item;

	case_open_mode(_i, WALLET_TRANSFER);
	case_in("alice", "in", 10 * CREDIT);
	ck_assert_int_eq(case_bet("b1", "g1", 2 * CREDIT).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_bet("b2", "g1", CREDIT).verdict.refusal, REFUSAL_NONE);
	cancel = case_cancel_cmd("c1", "b2", "g1");
	ck_assert_int_eq(case_run(COMMAND_BET_CANCEL, &cancel)->result.verdict.refusal,
		REFUSAL_NONE);
	ck_assert_int_eq(case_settle("r1", "g1", RESULT_WIN, 3 * CREDIT).verdict.refusal,
		REFUSAL_NONE);
	for (unsigned int back = 0; back < 2; back++) {
		page = feed("demo", back ? "alice" : "", 0, 0);
		ck_assert_uint_eq(page.count, 5);
		for (unsigned int i = 0; i < 5; i++) {
			const unsigned int at = back ? 4 - i : i;

			ck_assert(unpack_record(&page.items, feed_item_fields, &item));
			ck_assert_int_eq(item.kind, wanted[at].kind);
			ck_assert_str_eq(item.state, wanted[at].state);
			ck_assert(item.moved);
			ck_assert_int_eq(item.amount, wanted[at].amount);
			ck_assert_int_eq(item.bet_amount, wanted[at].bet_amount);
			ck_assert_str_eq(item.game_id, at ? "g1" : "");
		}
	}
	case_close();
}
END_TEST

START_TEST(a_history_is_the_chain)
{
	static struct all all;
	struct feed_result page;

	case_open(_i);
	ck_assert_int_eq(case_player_add("demo", "bob").verdict.refusal, REFUSAL_NONE);
	for (unsigned int i = 0; i < 20; i++)
		transfer_to("demo", i);
	all_ids(&all, "demo");
	case_in("bob", "bob-1", CREDIT);
	for (uint32_t limit = 1; limit < 25; limit += 4)
		assert_pages(&all, "alice", 0, limit);
	/* After another one's transaction: the older ones of the player. */
	assert_pages(&all, "alice", all.ids[all.count - 1] + 1000, 3);
	page = feed("demo", "bob", all.ids[0], 0);
	ck_assert_uint_eq(page.count, 0);
	ck_assert(page.complete);
	page = feed("demo", "carol", 0, 0);
	ck_assert_int_eq(page.verdict.refusal, REFUSAL_USER_NOT_FOUND);
	page = feed("nobody", "", 0, 0);
	ck_assert_int_eq(page.verdict.refusal, REFUSAL_INVALID_SIGNATURE);
	case_close();
}
END_TEST

START_TEST(the_rate_limit_counts_calls)
{
	struct feed_cmd cmd = {.casino_id = "demo"};
	struct dealer values = {.rate_limit = 2};

	case_open(CASE_MEMORY);
	case_dealer_set(DEALER_RATE_LIMIT, &values);
	for (unsigned int i = 0; i < 3; i++) {
		cmd.goes_on = false;
		ck_assert_int_eq(ask(COMMAND_FEED, &cmd)->result.verdict.refusal,
			i < 2 ? REFUSAL_NONE : REFUSAL_RATE_LIMITED);
		cmd.goes_on = true;
		ck_assert_int_eq(ask(COMMAND_FEED, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	}
	case_close();
}
END_TEST

/* A further page of the same call is free, one that the dealer asks for by @after is a call. */
START_TEST(the_rate_limit_counts_calls_for_callbacks)
{
	struct callback_page_cmd cmd = {.casino_id = "demo", .state = CALLBACK_PARKED};
	struct dealer values = {.rate_limit = 2};

	case_open(CASE_MEMORY);
	case_dealer_set(DEALER_RATE_LIMIT, &values);
	for (unsigned int i = 0; i < 3; i++) {
		cmd.goes_on = false;
		cmd.after = i;
		ck_assert_int_eq(ask(COMMAND_CALLBACK_PAGE, &cmd)->result.verdict.refusal,
			i < 2 ? REFUSAL_NONE : REFUSAL_RATE_LIMITED);
		cmd.goes_on = true;
		ck_assert_int_eq(ask(COMMAND_CALLBACK_PAGE, &cmd)->result.verdict.refusal,
			REFUSAL_NONE);
	}
	case_close();
}
END_TEST

/* Parks the result of a new round. Returns its event. */
static uint64_t park(unsigned int number)
{
	const uint64_t event = case_refused_result(number, CREDIT);

	case_park(event);
	return event;
}

static struct callback_page_result own(const char *casino_id, enum callback_state state,
	uint64_t after, uint32_t limit)
{
	struct callback_page_cmd cmd = {.state = state, .after = after, .limit = limit};

	strcpy(cmd.casino_id, casino_id);
	return ask(COMMAND_CALLBACK_PAGE, &cmd)->result.callback_page;
}

static struct callback_resend_result resend(uint64_t event, const char *operation_id)
{
	struct callback_resend_cmd cmd = {.casino_id = "demo",
		.event = event,
		.kind = CALLBACK_BETTING_RESULT};

	strcpy(cmd.operation_id, operation_id);
	return case_run(COMMAND_CALLBACK_RESEND, &cmd)->result.callback_resend;
}

START_TEST(own_callbacks_are_listed)
{
	struct callback_page_result page;
	uint64_t events[3];

	case_open_mode(_i, WALLET_SEAMLESS);
	case_add_dealer("other", WALLET_SEAMLESS);
	for (unsigned int i = 0; i < 3; i++)
		events[i] = park(i);
	page = own("demo", CALLBACK_PARKED, 0, 2);
	ck_assert_uint_eq(page.count, 2);
	ck_assert_uint_eq(page.next, events[1]);
	ck_assert(!page.complete);
	page = own("demo", CALLBACK_PARKED, page.next, 1);
	ck_assert_uint_eq(page.count, 1);
	ck_assert_uint_eq(page.next, events[0]);
	ck_assert(page.complete);
	page = own("other", CALLBACK_PARKED, 0, 0);
	ck_assert_uint_eq(page.count, 0);
	ck_assert(page.complete);
	resend(events[1], "resend1");
	page = own("demo", CALLBACK_DUE, 0, 0);
	ck_assert_uint_eq(page.count, 1);
	ck_assert(page.complete);
	ck_assert_uint_eq(own("other", CALLBACK_DUE, 0, 0).count, 0);
	ck_assert_uint_eq(own("demo", CALLBACK_DUE, events[1], 0).count, 0);
	ck_assert_int_eq(own("demo", CALLBACK_HELD, 0, 0).verdict.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(own("absent", CALLBACK_DUE, 0, 0).verdict.refusal,
		REFUSAL_INVALID_SIGNATURE);
	case_prove();
	case_close();
}
END_TEST

/* A dealer that asks for ever makes few rows: after some attempts it waits for hours. */
START_TEST(many_resends_are_rare)
{
	struct callback_claim_result claimed;
	struct callback_resend_result result;
	char id[16];
	uint64_t event;

	case_open_mode(_i, WALLET_SEAMLESS);
	event = park(0);
	for (unsigned int i = 3; i < RESEND_OFTEN; i++) {
		sprintf(id, "resend%u", i);
		result = resend(event, id);
		ck_assert(result.resent);
		ck_assert_uint_eq(result.attempts, i);
		claimed = case_claim(event);
		case_end(&claimed.send, CALLBACK_REFUSED);
		case_pass(RESEND_PAUSE_MS);
	}
	result = resend(event, "late1");
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_RATE_LIMITED);
	ck_assert_uint_eq(result.verdict.retry_after_s,
		(RESEND_LATE_PAUSE_MS - RESEND_PAUSE_MS) / 1000);
	case_pass(RESEND_LATE_PAUSE_MS - RESEND_PAUSE_MS);
	ck_assert(resend(event, "late2").resent);
	case_prove();
	case_close();
}
END_TEST

/* A refund has a first time, and is not sent before it. */
START_TEST(an_early_refund_is_not_resent)
{
	struct bet_place_result placed;
	struct callback_resend_result result;
	struct callback_page_result page;
	struct callback_resend_cmd cmd = {.casino_id = "demo", .kind = CALLBACK_BETTING_REFUND};

	case_open_mode(_i, WALLET_SEAMLESS);
	placed = case_bet("b1", "g1", CREDIT);
	case_end(&placed.send, CALLBACK_UNKNOWN);
	page = own("demo", CALLBACK_DUE, 0, 0);
	ck_assert_uint_eq(page.count, 1);
	cmd.event = page.next;
	strcpy(cmd.operation_id, "early1");
	result = case_run(COMMAND_CALLBACK_RESEND, &cmd)->result.callback_resend;
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert(!result.resent);
	ck_assert_int_eq(result.state, CALLBACK_DUE);
	/* It is no resend, so the next one need not wait. */
	case_pass(61000);
	strcpy(cmd.operation_id, "early2");
	result = case_run(COMMAND_CALLBACK_RESEND, &cmd)->result.callback_resend;
	ck_assert(result.resent);
	case_prove();
	case_close();
}
END_TEST

START_TEST(a_resend_waits_five_minutes)
{
	struct callback_claim_result claimed;
	struct callback_resend_result result;
	uint64_t event;

	case_open_mode(_i, WALLET_SEAMLESS);
	event = park(0);
	result = resend(event, "resend1");
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(result.state, CALLBACK_DUE);
	ck_assert(result.resent);
	ck_assert_int_eq(result.state, CALLBACK_DUE);
	/* The answer was lost: the same command again. */
	result = resend(event, "resend1");
	ck_assert(result.resent && result.verdict.replay);
	result = resend(event, "resend2");
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_RATE_LIMITED);
	ck_assert_uint_eq(result.verdict.retry_after_s, 300);
	claimed = case_claim(event);
	ck_assert_int_eq(claimed.verdict.refusal, REFUSAL_NONE);
	ck_assert(!resend(event, "resend3").resent);
	case_end(&claimed.send, CALLBACK_REFUSED);
	case_pass(RESEND_PAUSE_MS - 1);
	ck_assert_int_eq(resend(event, "resend4").verdict.refusal, REFUSAL_RATE_LIMITED);
	/* A clock that was set back makes the wait no longer. */
	case_now_ms -= DAY;
	ck_assert_uint_eq(resend(event, "resend5").verdict.retry_after_s, 300);
	case_now_ms += DAY + 1;
	ck_assert(resend(event, "resend6").resent);
	claimed = case_claim(event);
	case_end(&claimed.send, CALLBACK_SUCCESS);
	result = resend(event, "resend7");
	ck_assert(!result.resent);
	ck_assert_int_eq(result.state, CALLBACK_DELIVERED);
	ck_assert_int_eq(resend(event + 1000, "resend8").verdict.refusal,
		REFUSAL_CALLBACK_NOT_FOUND);
	case_prove();
	case_close();
}
END_TEST

/* Lets the three attempts of a result or correction fail. */
static void park_event(const struct callback_grant *send)
{
	const uint64_t event = send->event;

	case_end(send, CALLBACK_REFUSED);
	for (unsigned int i = 0; i < 2; i++) {
		struct callback_claim_result claimed;

		case_pass(MINUTE);
		claimed = case_claim(event);
		ck_assert_int_eq(claimed.verdict.refusal, REFUSAL_NONE);
		case_end(&claimed.send, CALLBACK_REFUSED);
	}
}

/* Adjusts @user by hand for the callback @event, by @amount. */
static struct verdict adjust_amount(uint64_t event, const char *casino_id, const char *user_id,
	const char *operation_id, money_t amount)
{
	struct adjust_cmd cmd = {.operator= case_operator(), .amount = amount, .event = event};

	strcpy(cmd.casino_id, casino_id);
	strcpy(cmd.user_id, user_id);
	strcpy(cmd.operator.operation_id, operation_id);
	return case_run(COMMAND_ADJUST, &cmd)->result.verdict;
}

/* As adjust_amount(), by what park() leaves owed. */
static struct verdict adjust_for(uint64_t event, const char *casino_id, const char *user_id,
	const char *operation_id)
{
	return adjust_amount(event, casino_id, user_id, operation_id, CREDIT);
}

/* A correction's betting-result owes the increase, and a lost round's nothing. */
START_TEST(an_adjustment_is_what_is_owed)
{
	struct bet_place_result placed;
	struct round_settle_result settled;
	struct round_correct_result corrected;
	struct round_correct_cmd cmd;
	struct dealer values;
	struct verdict refused;

	case_open_mode(_i, WALLET_SEAMLESS);
	refused = adjust_amount(park(0), "demo", "alice", "owed1", 2 * CREDIT);
	ck_assert_int_eq(refused.refusal, REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_ptr_nonnull(strstr(refused.detail, " owes 1.00; "));
	placed = case_bet("b", "g", CREDIT);
	case_end(&placed.send, CALLBACK_SUCCESS);
	settled = case_settle("s", "g", RESULT_LOSS, 0);
	park_event(&settled.send);
	refused = adjust_amount(settled.event, "demo", "alice", "owed2", CREDIT);
	ck_assert_ptr_nonnull(strstr(refused.detail, " owes nothing"));
	ck_assert_int_eq(case_operate(settled.event, CALLBACK_CANCEL), REFUSAL_NONE);
	cmd = case_correct_cmd("c1", "g", 1, RESULT_WIN, 7 * CREDIT);
	corrected = case_run(COMMAND_ROUND_CORRECT, &cmd)->result.round_correct;
	park_event(&corrected.send);
	/* Not the payout of the settlement, which is 0. */
	refused = adjust_amount(corrected.event, "demo", "alice", "owed3", CREDIT);
	ck_assert_ptr_nonnull(strstr(refused.detail, " owes 7.00; "));
	ck_assert_int_eq(adjust_amount(corrected.event, "demo", "alice", "owed4", 7 * CREDIT)
				 .refusal,
		REFUSAL_NONE);
	ck_assert_int_eq(case_operate(corrected.event, CALLBACK_CANCEL), REFUSAL_NONE);
	/* A decrease asks the dealer to take credit, which is not here. */
	memset(&values, 0, sizeof(values));
	strcpy(values.path_betting_correction, "/c");
	case_dealer_set(DEALER_PATH_BETTING_CORRECTION, &values);
	cmd = case_correct_cmd("c2", "g", 2, RESULT_LOSS, 0);
	corrected = case_run(COMMAND_ROUND_CORRECT, &cmd)->result.round_correct;
	ck_assert_int_eq(corrected.verdict.refusal, REFUSAL_NONE);
	park_event(&corrected.send);
	refused = adjust_amount(corrected.event, "demo", "alice", "owed5", -7 * CREDIT);
	ck_assert_int_eq(refused.refusal, REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_ptr_nonnull(strstr(refused.detail, " is no betting-result"));
	ck_assert_int_eq(case_balance("alice").balance, 7 * CREDIT);
	case_prove();
	case_close();
}
END_TEST

START_TEST(an_adjustment_stands_for_a_result)
{
	uint64_t event, other;

	case_open_mode(_i, WALLET_SEAMLESS);
	event = park(0);
	other = park(1);
	ck_assert_int_eq(adjust_for(event, "demo", "alice", "for1").refusal, REFUSAL_NONE);
	ck_assert(adjust_for(event, "demo", "alice", "for1").replay);
	ck_assert_str_eq(adjust_for(other, "demo", "alice", "for1").field, "for");
	ck_assert_str_eq(adjust_for(event + 1000, "demo", "alice", "for1").field, "for");
	ck_assert_int_eq(adjust_for(event, "demo", "alice", "for2").refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	ck_assert(resend(event, "resend1").adjusted_by);
	ck_assert(!resend(event, "resend1").resent);
	ck_assert_int_eq(case_operate(event, CALLBACK_RETRY), REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_int_eq(case_operate(event, CALLBACK_HOLD), REFUSAL_NONE);
	ck_assert_int_eq(case_operate(event, CALLBACK_RELEASE), REFUSAL_NOT_ALLOWED_NOW);
	case_prove();
	ck_assert_int_eq(case_operate(event, CALLBACK_CANCEL), REFUSAL_NONE);
	ck_assert_int_eq(case_operate(event, CALLBACK_RETRY), REFUSAL_NOT_ALLOWED_NOW);
	case_prove();
	case_close();
}
END_TEST

START_TEST(an_adjustment_is_for_a_parked_result)
{
	struct bet_place_result lost;
	struct callback_end_result ended;
	uint64_t event, refund;

	case_open_mode(_i, WALLET_SEAMLESS);
	case_add_dealer("other", WALLET_SEAMLESS);
	ck_assert_int_eq(case_player_add("demo", "bob").verdict.refusal, REFUSAL_NONE);
	event = park(0);
	lost = case_bet("lost", "lost", CREDIT);
	ended = case_end(&lost.send, CALLBACK_UNKNOWN);
	ck_assert_int_eq(ended.bet.state, BET_REFUNDING);
	refund = lost.send.event + 1;
	ck_assert_int_eq(adjust_for(refund, "demo", "alice", "no1").refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_int_eq(adjust_for(event + 1000, "demo", "alice", "no2").refusal,
		REFUSAL_CALLBACK_NOT_FOUND);
	ck_assert_int_eq(adjust_for(event, "other", "alice", "no3").refusal,
		REFUSAL_CALLBACK_NOT_FOUND);
	ck_assert_int_eq(adjust_for(event, "demo", "bob", "no4").refusal, REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_int_eq(adjust_for(event, "demo", "carol", "no5").refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_int_eq(adjust_for(0, "demo", "alice", "no6").refusal, REFUSAL_WRONG_WALLET_MODE);
	ck_assert_int_eq(case_operate(event, CALLBACK_RETRY), REFUSAL_NONE);
	ck_assert_int_eq(adjust_for(event, "demo", "alice", "no7").refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	case_prove();
	case_close();
}
END_TEST

Suite *feed_suite(void)
{
	Suite *suite = suite_create("feed");
	TCase *tests = tcase_create("feed");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, pages_are_the_transactions);
	tcase_add_test(tests, a_history_stays_below_after);
	tcase_add_test(tests, a_command_looks_at_a_bounded_number);
	tcase_add_test(tests, memory_has_the_newest);
	tcase_add_loop_test(tests, large_rounds_end_a_page, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, items_have_the_state_of_now, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_history_is_the_chain, 0, CASE_STORE_COUNT);
	tcase_add_test(tests, the_rate_limit_counts_calls);
	tcase_add_test(tests, the_rate_limit_counts_calls_for_callbacks);
	tcase_add_loop_test(tests, own_callbacks_are_listed, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, many_resends_are_rare, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, an_early_refund_is_not_resent, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, a_resend_waits_five_minutes, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, an_adjustment_stands_for_a_result, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, an_adjustment_is_for_a_parked_result, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tests, an_adjustment_is_what_is_owed, 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tests);
	return suite;
}

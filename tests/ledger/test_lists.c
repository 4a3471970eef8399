/*
 * Tests LIST with keys, rows of many keys in one command, and LIST of the callbacks that are parked or held.
 */
#include "case_wagers.h"

#include "base/pack.h"

#include <stdio.h>
#include <string.h>

union listed_row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

static struct buffer keys, answer;

static void begin_mode(int kind, enum wallet_mode mode)
{
	case_open_mode(kind, mode);
	buffer_init(&keys, FRAME_MAX);
	buffer_init(&answer, FRAME_MAX);
}

static void begin(int kind)
{
	begin_mode(kind, WALLET_TRANSFER);
}

static void end(void)
{
	buffer_free(&keys);
	buffer_free(&answer);
	case_close();
}

static void add_key(enum record record, const void *row)
{
	pack_key(&keys, record_infos[record].fields, record_infos[record].key_count, row);
	ck_assert(!keys.failed);
}

static void add_player(const char *user)
{
	struct player player;

	memset(&player, 0, sizeof(player));
	strcpy(player.casino_id, "demo");
	strcpy(player.user_id, user);
	add_key(RECORD_PLAYER, &player);
}

static struct list_result ask(struct list_cmd cmd)
{
	struct slot *slot;

	cmd.keys = (struct bytes){keys.data, (uint32_t)keys.len};
	slot = case_run(COMMAND_LIST, &cmd);
	buffer_reset(&answer);
	ledger_answer(&case_ledger, slot, 1, &answer);
	ck_assert(!answer.failed);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	return slot->result.list;
}

static void take(struct list_result *result, enum record record, union listed_row *row)
{
	memset(row, 0, sizeof(*row));
	ck_assert(unpack_record(&result->rows, record_infos[record].fields, row));
}

START_TEST(rows_come_in_the_order_of_their_keys)
{
	const struct list_cmd cmd = {.record = RECORD_PLAYER};
	struct list_result result;
	union listed_row row;

	begin(_i);
	case_player_add("demo", "bob");
	case_player_add("demo", "zoe");
	add_player("zoe");
	add_player("nix");
	add_player("alice");
	add_player("zoe");
	result = ask(cmd);
	ck_assert_uint_eq(result.count, 3);
	ck_assert(!result.more);
	take(&result, RECORD_PLAYER, &row);
	ck_assert_str_eq(row.player.user_id, "zoe");
	take(&result, RECORD_PLAYER, &row);
	ck_assert_str_eq(row.player.user_id, "alice");
	take(&result, RECORD_PLAYER, &row);
	ck_assert_uint_eq(result.rows.len, 0);
	end();
}
END_TEST

START_TEST(a_limit_holds_for_keys)
{
	const struct list_cmd cmd = {.record = RECORD_PLAYER, .limit = 2};
	struct list_result result;

	begin(_i);
	case_player_add("demo", "bob");
	add_player("alice");
	add_player("bob");
	result = ask(cmd);
	ck_assert_uint_eq(result.count, 2);
	ck_assert(!result.more);
	add_player("alice");
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	end();
}
END_TEST

/* More rows than a frame takes: the page says that there are more, and the next one goes on. */
START_TEST(a_page_ends_by_its_bytes)
{
	const struct list_cmd cmd = {.record = RECORD_DEALER};
	struct dealer_put_cmd dealer = case_dealer_cmd("large");
	struct list_result result;
	uint32_t first;

	begin(_i);
	dealer.operator= case_operator();
	memset(dealer.dealer.url, 'x', sizeof(dealer.dealer.url) - 1);
	memcpy(dealer.dealer.url, "https://", 8);
	ck_assert_int_eq(case_run(COMMAND_DEALER_PUT, &dealer)->result.verdict.refusal,
		REFUSAL_NONE);
	for (unsigned int i = 0; i < LIST_ROWS_MAX; i++)
		add_key(RECORD_DEALER, &dealer.dealer);
	result = ask(cmd);
	ck_assert(result.more);
	ck_assert_uint_gt(result.count, 0);
	ck_assert_uint_lt(result.count, LIST_ROWS_MAX);
	ck_assert_uint_eq(result.cursor.len, keys.len / LIST_ROWS_MAX);
	first = result.count;
	buffer_consume(&keys, first * (keys.len / LIST_ROWS_MAX));
	result = ask(cmd);
	ck_assert_uint_gt(result.count, 0);
	ck_assert_uint_le(first + result.count, LIST_ROWS_MAX);
	end();
}
END_TEST

START_TEST(other_keys_are_refused)
{
	struct list_cmd cmd = {.record = RECORD_PLAYER};

	begin(_i);
	for (unsigned int i = 0; i < LIST_ROWS_MAX; i++)
		add_player("nix");
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_NONE);
	add_player("nix");
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	buffer_reset(&keys);
	buffer_append_str(&keys, "no end");
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	buffer_reset(&keys);
	add_player("alice");
	cmd.prefix = (struct bytes){(const uint8_t *)"demo", 5};
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	cmd.cursor = cmd.prefix;
	cmd.prefix.len = 0;
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	end();
}
END_TEST

START_TEST(secrets_are_blanked)
{
	const struct list_cmd cmd = {.record = RECORD_DEALER};
	struct dealer dealer;
	struct list_result result;
	union listed_row row;

	begin(_i);
	memset(&dealer, 0, sizeof(dealer));
	strcpy(dealer.casino_id, "demo");
	add_key(RECORD_DEALER, &dealer);
	result = ask(cmd);
	ck_assert_uint_eq(result.count, 1);
	take(&result, RECORD_DEALER, &row);
	ck_assert_str_eq(row.dealer.keys[0].secret, "");
	ck_assert_str_eq(row.dealer.currency, "thb");
	end();
}
END_TEST

static void keep_bet(void *context, const void *row)
{
	const struct bet *bet = row;

	ck_assert_uint_gt(bet->user_bet.len, 0);
	*(struct bet *)context = *bet;
}

START_TEST(json_is_left_out)
{
	const struct list_cmd cmd = {.record = RECORD_BET};
	struct list_result result;
	union listed_row row;
	struct bet bet;

	begin(_i);
	case_in("alice", "in", 100 * CREDIT);
	case_bet("b1", "game", 10 * CREDIT);
	ck_assert_uint_eq(case_list(RECORD_BET, false, 0, keep_bet, &bet), 1);
	add_key(RECORD_BET, &bet);
	result = ask(cmd);
	ck_assert_uint_eq(result.count, 1);
	take(&result, RECORD_BET, &row);
	ck_assert_uint_eq(row.bet.user_bet.len, 0);
	ck_assert_int_eq(row.bet.bet_amount, bet.bet_amount);
	end();
}
END_TEST

static struct list_result ask_aside(const char *casino_id, bool reverse, uint32_t limit,
	const struct list_result *before)
{
	struct list_cmd cmd = {.record = RECORD_CALLBACK, .reverse = reverse, .limit = limit};

	strcpy(cmd.aside_of, casino_id);
	if (before)
		cmd.cursor = before->cursor;
	return ask(cmd);
}

static void ends_with(struct list_result *result, uint64_t event)
{
	union listed_row row;

	ck_assert_uint_eq(result->count, 1);
	take(result, RECORD_CALLBACK, &row);
	ck_assert_uint_eq(row.callback.event, event);
}

/* Of four results two are parked, one is held, and one is due. */
START_TEST(parked_and_held_ones_are_listed)
{
	struct list_result page;
	union listed_row row;
	uint64_t events[4];

	begin_mode(_i, WALLET_SEAMLESS);
	for (unsigned int i = 0; i < 4; i++) {
		events[i] = case_refused_result(i, CREDIT);
		if (i % 2 == 0)
			case_park(events[i]);
	}
	ck_assert_int_eq(case_operate(events[3], CALLBACK_HOLD), REFUSAL_NONE);
	page = ask_aside("demo", false, 0, NULL);
	ck_assert_uint_eq(page.count, 3);
	ck_assert(!page.more);
	take(&page, RECORD_CALLBACK, &row);
	ck_assert_uint_eq(row.callback.event, events[0]);
	ck_assert_int_eq(row.callback.state, CALLBACK_PARKED);
	/* In pages, from the newest on. */
	page = ask_aside("demo", true, 1, NULL);
	ck_assert(page.more);
	ends_with(&page, events[3]);
	page = ask_aside("demo", true, 1, &page);
	ck_assert(page.more);
	ends_with(&page, events[2]);
	page = ask_aside("demo", true, 1, &page);
	ck_assert(!page.more);
	ends_with(&page, events[0]);
	ck_assert_uint_eq(ask_aside("demon", true, 0, NULL).count, 0);
	/* Each way out of the list, and one within it. */
	ck_assert_int_eq(case_operate(events[0], CALLBACK_RETRY), REFUSAL_NONE);
	ck_assert_int_eq(case_operate(events[2], CALLBACK_HOLD), REFUSAL_NONE);
	ck_assert_int_eq(case_operate(events[3], CALLBACK_CANCEL), REFUSAL_NONE);
	page = ask_aside("demo", false, 0, NULL);
	ends_with(&page, events[2]);
	case_prove();
	ck_assert_int_eq(case_operate(events[2], CALLBACK_RELEASE), REFUSAL_NONE);
	case_prove();
	end();
}
END_TEST

/* More than are loaded together. */
START_TEST(a_long_list_goes_on)
{
	struct list_result page;
	union listed_row row;
	uint64_t events[70], last = 0;

	begin_mode(_i, WALLET_SEAMLESS);
	for (unsigned int i = 0; i < 70; i++) {
		events[i] = case_refused_result(i, CREDIT);
		ck_assert_int_eq(case_operate(events[i], CALLBACK_HOLD), REFUSAL_NONE);
	}
	page = ask_aside("demo", false, 0, NULL);
	ck_assert_uint_eq(page.count, 70);
	ck_assert(!page.more);
	for (unsigned int i = 0; i < 70; i++) {
		take(&page, RECORD_CALLBACK, &row);
		ck_assert_uint_eq(row.callback.event, events[i]);
	}
	page = ask_aside("demo", true, 64, NULL);
	ck_assert_uint_eq(page.count, 64);
	ck_assert(page.more);
	page = ask_aside("demo", true, 64, &page);
	ck_assert_uint_eq(page.count, 6);
	ck_assert(!page.more);
	for (unsigned int i = 0; i < 6; i++) {
		take(&page, RECORD_CALLBACK, &row);
		last = row.callback.event;
	}
	ck_assert_uint_eq(last, events[0]);
	end();
}
END_TEST

/* Begins the last attempt of a result. */
static struct callback_grant last_attempt(unsigned int number)
{
	const uint64_t event = case_refused_result(number, CREDIT);
	struct callback_claim_result claimed;

	case_pass(MINUTE);
	case_refuse(event);
	case_pass(MINUTE);
	claimed = case_claim(event);
	ck_assert_int_eq(claimed.verdict.refusal, REFUSAL_NONE);
	return claimed.send;
}

/* The end that parks a callback, and what an operator does with it, are in one batch. */
START_TEST(parked_and_changed_in_one_batch)
{
	static const enum callback_action actions[] = {CALLBACK_RETRY, CALLBACK_HOLD,
		CALLBACK_CANCEL};
	static struct slot slots[2];
	struct callback_grant grant;
	struct callback_operate_cmd *operate = &slots[1].cmd.callback_operate;

	begin_mode(_i, WALLET_SEAMLESS);
	for (unsigned int i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		grant = last_attempt(i);
		memset(slots, 0, sizeof(slots));
		slots[0].command = COMMAND_CALLBACK_END;
		slots[0].cmd.callback_end = case_end_cmd(&grant, CALLBACK_REFUSED);
		slots[1].command = COMMAND_CALLBACK_OPERATE;
		operate->operator= case_operator();
		operate->event = grant.event;
		operate->action = actions[i];
		case_run_batch(slots, 2);
		ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_NONE);
		ck_assert_int_eq(slots[1].result.verdict.refusal, REFUSAL_NONE);
		ck_assert_uint_eq(ask_aside("demo", false, 0, NULL).count, i > 0);
		case_prove();
	}
	end();
}
END_TEST

/* A row that should not be there keeps no attempt from its end. */
START_TEST(a_row_too_many_is_replaced)
{
	struct callback_grant grant;
	struct aside aside;

	begin_mode(CASE_DISK, WALLET_SEAMLESS);
	grant = last_attempt(0);
	memset(&aside, 0, sizeof(aside));
	strcpy(aside.casino_id, "demo");
	aside.event = grant.event;
	add_key(RECORD_ASIDE, &aside);
	case_reopen_with_row(RECORD_ASIDE, (struct bytes){keys.data, (uint32_t)keys.len},
		(struct bytes){(const uint8_t *)"\1\1", 2});
	buffer_reset(&keys);
	case_end(&grant, CALLBACK_REFUSED);
	ck_assert_uint_eq(ask_aside("demo", false, 0, NULL).count, 1);
	case_prove();
	end();
}
END_TEST

static struct list_result ask_dealer(const char *casino_id, uint32_t limit,
	const struct list_result *before)
{
	struct list_cmd cmd = {.record = RECORD_TRANSACTION, .reverse = true, .limit = limit};

	strcpy(cmd.casino_id, casino_id);
	if (before)
		cmd.cursor = before->cursor;
	return ask(cmd);
}

/* One transaction of another dealer, then 300 of demo. */
START_TEST(rows_of_one_dealer)
{
	struct transfer_cmd transfer =
		case_transfer_cmd(ENTRY_TRANSFER_IN, "alice", "first", CREDIT);
	struct list_result page;
	union listed_row row;
	char id[16];

	begin(_i);
	case_add_dealer("other", WALLET_TRANSFER);
	strcpy(transfer.casino_id, "other");
	ck_assert_int_eq(case_run(COMMAND_TRANSFER, &transfer)->result.verdict.refusal,
		REFUSAL_NONE);
	for (unsigned int i = 0; i < 300; i++) {
		sprintf(id, "in%u", i);
		case_in("alice", id, CREDIT);
	}
	page = ask_dealer("demo", 50, NULL);
	ck_assert_uint_eq(page.count, 50);
	ck_assert_uint_eq(page.looked, 50);
	ck_assert(page.more);
	/* The newest 256 are of demo: a page without a row, which is not the last. */
	page = ask_dealer("other", 50, NULL);
	ck_assert_uint_eq(page.count, 0);
	ck_assert_uint_eq(page.looked, LIST_DEALER_LOOK_MAX);
	ck_assert(page.more);
	page = ask_dealer("other", 50, &page);
	ck_assert_uint_eq(page.count, 1);
	ck_assert_uint_eq(page.looked, 301 - LIST_DEALER_LOOK_MAX);
	ck_assert(!page.more);
	take(&page, RECORD_TRANSACTION, &row);
	ck_assert_str_eq(row.transaction.casino_id, "other");
	ck_assert_uint_eq(ask_dealer("othe", 0, NULL).count, 0);
	end();
}
END_TEST

/* Rows of the audit name no dealer. */
START_TEST(only_rows_that_name_a_dealer_are_listed_so)
{
	struct list_cmd cmd = {.record = RECORD_AUDIT, .casino_id = "demo"};

	begin(_i);
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	end();
}
END_TEST

START_TEST(only_callbacks_are_listed_so)
{
	struct list_cmd cmd = {.record = RECORD_DUE, .aside_of = "demo"};

	begin(_i);
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	cmd.record = RECORD_CALLBACK;
	cmd.cursor = (struct bytes){(const uint8_t *)"123", 3};
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	cmd.prefix = (struct bytes){(const uint8_t *)"12345678", 8};
	cmd.cursor = cmd.keys;
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	end();
}
END_TEST

/* Asks for the chain that begins with the transaction @first. */
static struct list_result ask_chain(uint64_t first, uint32_t limit)
{
	const struct list_cmd cmd = {.record = RECORD_TRANSACTION, .chain = true, .limit = limit};
	const struct transaction key = {.transaction_id = first};

	buffer_reset(&keys);
	add_key(RECORD_TRANSACTION, &key);
	return ask(cmd);
}

/* Takes rows of alice with falling numbers down to @last. Returns the id of the one before the last of them. */
static uint64_t take_chain(struct list_result *page, uint64_t seq, uint64_t last)
{
	union listed_row row;

	for (; seq >= last; seq--) {
		take(page, RECORD_TRANSACTION, &row);
		ck_assert_str_eq(row.transaction.casino_id, "demo");
		ck_assert_uint_eq(row.transaction.entry_seq, seq);
		ck_assert_int_eq(row.transaction.current_balance, (money_t)seq * CREDIT);
	}
	ck_assert_uint_eq(page->rows.len, 0);
	return row.transaction.previous;
}

/* Transactions of alice and bob in turn. */
START_TEST(a_chain_has_one_player)
{
	struct list_result page;
	uint64_t newest = 0;
	char id[16];

	begin(_i);
	case_player_add("demo", "bob");
	for (unsigned int i = 0; i < 5; i++) {
		sprintf(id, "alice%u", i);
		newest = case_in("alice", id, CREDIT).transaction_id;
		sprintf(id, "bob%u", i);
		case_in("bob", id, CREDIT);
	}
	page = ask_chain(newest, 0);
	ck_assert_uint_eq(page.count, 5);
	ck_assert(!page.more);
	ck_assert_uint_eq(take_chain(&page, 5, 1), 0);
	page = ask_chain(newest, 3);
	ck_assert_uint_eq(page.count, 3);
	ck_assert(page.more);
	page = ask_chain(take_chain(&page, 5, 3), 3);
	ck_assert_uint_eq(page.count, 2);
	ck_assert(!page.more);
	ck_assert_uint_eq(take_chain(&page, 2, 1), 0);
	ck_assert_uint_eq(ask_chain(newest + 1000, 0).count, 0);
	end();
}
END_TEST

START_TEST(only_one_transaction_begins_a_chain)
{
	struct list_cmd cmd = {.record = RECORD_TRANSACTION, .chain = true};
	const struct transaction key = {.transaction_id = 1};

	begin(_i);
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	add_key(RECORD_TRANSACTION, &key);
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_NONE);
	add_key(RECORD_TRANSACTION, &key);
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	buffer_reset(&keys);
	add_player("alice");
	cmd.record = RECORD_PLAYER;
	ck_assert_int_eq(ask(cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	end();
}
END_TEST

Suite *lists_suite(void)
{
	const TTest *const tests[] = {rows_come_in_the_order_of_their_keys, a_limit_holds_for_keys,
		a_page_ends_by_its_bytes, other_keys_are_refused, secrets_are_blanked,
		json_is_left_out, parked_and_held_ones_are_listed, only_callbacks_are_listed_so,
		a_long_list_goes_on, rows_of_one_dealer, only_rows_that_name_a_dealer_are_listed_so,
		parked_and_changed_in_one_batch, a_chain_has_one_player,
		only_one_transaction_begins_a_chain};
	Suite *suite = suite_create("lists");
	TCase *tcase = tcase_create("keys");

	for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_loop_test(tcase, tests[i], 0, CASE_STORE_COUNT);
	if (case_can_damage())
		tcase_add_test(tcase, a_row_too_many_is_replaced);
	suite_add_tcase(suite, tcase);
	return suite;
}

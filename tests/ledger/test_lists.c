/*
 * Tests LIST with keys: rows of many keys in one command.
 */
#include "case_wagers.h"

#include "base/pack.h"

#include <string.h>

union listed_row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

static struct buffer keys, answer;

static void begin(int kind)
{
	case_open_mode(kind, WALLET_TRANSFER);
	buffer_init(&keys, FRAME_MAX);
	buffer_init(&answer, FRAME_MAX);
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

Suite *lists_suite(void)
{
	const TTest *const tests[] = {rows_come_in_the_order_of_their_keys, a_limit_holds_for_keys,
		a_page_ends_by_its_bytes, other_keys_are_refused, secrets_are_blanked,
		json_is_left_out};
	Suite *suite = suite_create("lists");
	TCase *tcase = tcase_create("keys");

	for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_loop_test(tcase, tests[i], 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tcase);
	return suite;
}

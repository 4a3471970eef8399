#include "suites.h"

#include "domain/movement.h"

#include <string.h>

static struct dealer dealer;
static struct player player;
static struct total total;

static void prepare(void)
{
	memset(&dealer, 0, sizeof(dealer));
	memset(&player, 0, sizeof(player));
	memset(&total, 0, sizeof(total));
	dealer.mode = WALLET_TRANSFER;
	dealer.decimals = 2;
	strcpy(player.player_id, "aaaaaaaaaaaaaaaaaaaa");
	player.balance = 1000000;
	player.entry_seq = 4;
	total.players = 1;
	total.balance = 1000000;
	total.transferred_in = 1500000;
	total.transferred_out = 500000;
}

START_TEST(decides_in_order)
{
	/* Each fault hides the later ones (contract, "Order of checks"). */
	player.balance = 0;
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_OUT, 100),
		REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(transfer_decide(&dealer, NULL, ENTRY_TRANSFER_OUT, 100),
		REFUSAL_USER_NOT_FOUND);
	ck_assert_int_eq(transfer_decide(&dealer, NULL, ENTRY_TRANSFER_OUT, 101),
		REFUSAL_INVALID_AMOUNT);
	dealer.mode = WALLET_SEAMLESS;
	ck_assert_int_eq(transfer_decide(&dealer, NULL, ENTRY_TRANSFER_OUT, 101),
		REFUSAL_WRONG_WALLET_MODE);
	player.suspended = true;
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_OUT, 101),
		REFUSAL_USER_SUSPENDED);
	dealer.suspended = true;
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_OUT, 101),
		REFUSAL_DEALER_SUSPENDED);
}
END_TEST

START_TEST(decides_by_credit)
{
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_IN, 100), REFUSAL_NONE);
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_OUT, 1000000),
		REFUSAL_NONE);
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_OUT, 1000100),
		REFUSAL_INSUFFICIENT_BALANCE);
	dealer.decimals = 4;
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_IN, MONEY_MAX - 1000000),
		REFUSAL_NONE);
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_IN, MONEY_MAX - 999999),
		REFUSAL_BALANCE_LIMIT);
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_IN, 0),
		REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_IN, MONEY_MAX + 1),
		REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(transfer_decide(&dealer, &player, ENTRY_TRANSFER_OUT, MONEY_MAX + 1),
		REFUSAL_INVALID_AMOUNT);
}
END_TEST

START_TEST(adjusts_what_is_suspended)
{
	dealer.suspended = true;
	player.suspended = true;
	ck_assert_int_eq(adjust_decide(&dealer, &player, 100, false), REFUSAL_NONE);
	ck_assert_int_eq(adjust_decide(&dealer, &player, -1000000, false), REFUSAL_NONE);
	ck_assert_int_eq(adjust_decide(&dealer, &player, -1000100, false),
		REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(adjust_decide(&dealer, &player, 1, false), REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(adjust_decide(&dealer, &player, 0, false), REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(adjust_decide(&dealer, NULL, 100, false), REFUSAL_USER_NOT_FOUND);
	dealer.mode = WALLET_SEAMLESS;
	ck_assert_int_eq(adjust_decide(&dealer, &player, 100, false), REFUSAL_WRONG_WALLET_MODE);
	/* Credit held for a result can be taken back, as far as it is there. */
	ck_assert_int_eq(adjust_decide(&dealer, &player, -1000000, false), REFUSAL_NONE);
	ck_assert_int_eq(adjust_decide(&dealer, &player, -1000100, false),
		REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(adjust_decide(&dealer, &player, 100, true), REFUSAL_NONE);
}
END_TEST

static struct movement movement_of(enum entry_kind kind, money_t gain)
{
	return (struct movement){
		.kind = kind,
		.amount = gain,
		.transaction_id = 9,
		.time_ms = 1234,
		.scope = SCOPE_DEALER,
		.request_transaction_id = "tx-1",
	};
}

START_TEST(moves)
{
	static const struct {
		enum entry_kind kind;
		money_t gain, in, out, adjusted;
	} cases[] = {
		{ENTRY_TRANSFER_IN, 300, 1500300, 500000, 0},
		{ENTRY_TRANSFER_OUT, -300, 1500000, 500300, 0},
		{ENTRY_ADJUST, 300, 1500000, 500000, 300},
		{ENTRY_ADJUST, -300, 1500000, 500000, -300},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct movement movement = movement_of(cases[i].kind, cases[i].gain);
		struct transaction entry;

		prepare();
		memset(&entry, 0xff, sizeof(entry));
		ck_assert_int_eq(movement_apply(&movement, &player, &total, &entry), REFUSAL_NONE);
		ck_assert_int_eq(player.balance, 1000000 + cases[i].gain);
		ck_assert_uint_eq(player.entry_seq, 5);
		ck_assert(total.balance == player.balance);
		ck_assert(total.transferred_in == cases[i].in);
		ck_assert(total.transferred_out == cases[i].out);
		ck_assert(total.adjusted == cases[i].adjusted);
		ck_assert(total.balance ==
			total.transferred_in - total.transferred_out + total.adjusted);
		ck_assert_str_eq(entry.casino_id, player.casino_id);
		ck_assert_str_eq(entry.player_id, player.player_id);
		ck_assert(!entry.game_id[0] && !entry.bet_number && !entry.client_id[0]);
		ck_assert_uint_eq(entry.entry_seq, 5);
		ck_assert_int_eq(entry.kind, cases[i].kind);
		ck_assert_int_eq(entry.amount, cases[i].gain);
		ck_assert_int_eq(entry.before_balance, 1000000);
		ck_assert_int_eq(entry.current_balance, player.balance);
		ck_assert_uint_eq(entry.transaction_id, 9);
		ck_assert_int_eq(entry.time_ms, 1234);
		ck_assert_int_eq(entry.scope, SCOPE_DEALER);
		ck_assert_str_eq(entry.request_transaction_id, "tx-1");
	}
}
END_TEST

START_TEST(a_bet_names_its_game_and_its_client)
{
	struct movement movement = movement_of(ENTRY_BET, -300);
	struct transaction entry;

	movement.scope = SCOPE_CLIENT;
	movement.client_id = "slots";
	movement.game_id = "g1";
	movement.bet_number = 2;
	ck_assert_int_eq(movement_apply(&movement, &player, &total, &entry), REFUSAL_NONE);
	ck_assert_str_eq(entry.game_id, "g1");
	ck_assert_uint_eq(entry.bet_number, 2);
	ck_assert_str_eq(entry.client_id, "slots");
	ck_assert_str_eq(entry_owner(&entry), "slots");
}
END_TEST

/* Applies the transaction, and checks that a refusal changed nothing. */
static enum refusal apply(enum entry_kind kind, money_t gain)
{
	const struct movement movement = movement_of(kind, gain);
	struct player player_before = player;
	struct total total_before = total;
	struct transaction entry;
	enum refusal refusal = movement_apply(&movement, &player, &total, &entry);

	if (refusal != REFUSAL_NONE) {
		ck_assert_mem_eq(&player, &player_before, sizeof(player));
		ck_assert_mem_eq(&total, &total_before, sizeof(total));
	}
	return refusal;
}

START_TEST(a_refusal_changes_nothing)
{
	ck_assert_int_eq(apply(ENTRY_TRANSFER_OUT, -1000001), REFUSAL_INSUFFICIENT_BALANCE);
	ck_assert_int_eq(apply(ENTRY_TRANSFER_IN, MONEY_MAX), REFUSAL_BALANCE_LIMIT);
}
END_TEST

/* For each kind: its sum and the dealer's balance may exceed 64 bits. */
START_TEST(no_sum_is_full)
{
	static const struct {
		enum entry_kind kind;
		money_t gain;
		sum_t *sum;
	} cases[] = {
		{ENTRY_TRANSFER_IN, 11, &total.transferred_in},
		{ENTRY_TRANSFER_OUT, -11, &total.transferred_out},
		{ENTRY_ADJUST, 11, &total.adjusted},
		{ENTRY_BET, -11, &total.staked},
		{ENTRY_PAYOUT, 11, &total.paid},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		prepare();
		total.balance = INT64_MAX - 10;
		*cases[i].sum = INT64_MAX - 10;
		ck_assert_int_eq(apply(cases[i].kind, cases[i].gain), REFUSAL_NONE);
		ck_assert(*cases[i].sum == (sum_t)INT64_MAX + 1);
		ck_assert(total.balance == (sum_t)INT64_MAX - 10 + cases[i].gain);
	}
	ck_assert_int_eq(apply(ENTRY_KIND_COUNT, 1), REFUSAL_INTERNAL_ERROR);
	ck_assert_int_eq(apply(ENTRY_KIND_COUNT + 1, 1), REFUSAL_INTERNAL_ERROR);
	player.balance = INT64_MAX - 10;
	ck_assert_int_eq(apply(ENTRY_TRANSFER_IN, 11), REFUSAL_BALANCE_LIMIT);
}
END_TEST

START_TEST(tells_a_conflict)
{
	struct request stored;

	memset(&stored, 0, sizeof(stored));
	stored.kind = ENTRY_TRANSFER_IN;
	stored.amount = 100;
	strcpy(stored.player_id, player.player_id);
	ck_assert_ptr_null(request_difference(&stored, ENTRY_TRANSFER_IN, &player, 100));
	ck_assert_str_eq(request_difference(&stored, ENTRY_TRANSFER_IN, &player, 101), "amount");
	ck_assert_str_eq(request_difference(&stored, ENTRY_TRANSFER_IN, NULL, 100), "user_id");
	ck_assert_str_eq(request_difference(&stored, ENTRY_TRANSFER_OUT, NULL, 1), "direction");
	player.player_id[3] = 'b';
	ck_assert_str_eq(request_difference(&stored, ENTRY_TRANSFER_IN, &player, 1), "user_id");
}
END_TEST

Suite *movement_suite(void)
{
	const TTest *const tests[] = {decides_in_order, decides_by_credit,
		adjusts_what_is_suspended, moves, a_bet_names_its_game_and_its_client,
		a_refusal_changes_nothing, no_sum_is_full, tells_a_conflict, NULL};
	Suite *suite = suite_create("movement");
	TCase *tcase = tcase_create("movement");

	tcase_add_checked_fixture(tcase, prepare, NULL);
	for (size_t i = 0; tests[i]; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

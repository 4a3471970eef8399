/*
 * Runs random commands in random batches and compares them with a model of nine lines: balances
 * and used ids. A failing run prints its seed; CB_SEED=N repeats it.
 */
#include "case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREDIT MONEY_UNITS_PER_CREDIT
#define USERS  5
#define IDS    400
#define ROUNDS 60

static uint64_t state;

static uint32_t chance(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

/* The model's record of an id. */
struct used {
	bool used;
	struct transfer_cmd cmd;
	enum refusal outcome;
	money_t current_balance;
};

static money_t balances[USERS];
static struct used ids[IDS];
static struct slot slots[LEDGER_BATCH_MAX];

static struct transfer_cmd random_cmd(void)
{
	char user[8], id[16];

	snprintf(user, sizeof(user), "u%u", chance(USERS));
	snprintf(id, sizeof(id), "%u", chance(IDS));
	return case_transfer_cmd(chance(2) ? ENTRY_TRANSFER_IN : ENTRY_TRANSFER_OUT, user, id,
		(1 + chance(50)) * CREDIT);
}

/* Applies the command to the model and compares the ledger's result. */
static void compare(const struct transfer_cmd *cmd, const struct transfer_result *result,
	uint64_t seed)
{
	struct used *used = &ids[atoi(cmd->request_transaction_id)];
	money_t *balance = &balances[atoi(cmd->user_id + 1)];
	money_t gain = cmd->kind == ENTRY_TRANSFER_IN ? cmd->amount : -cmd->amount;

	if (used->used && memcmp(&used->cmd, cmd, sizeof(*cmd)) != 0) {
		ck_assert_msg(result->verdict.refusal == REFUSAL_TRANSACTION_CONFLICT,
			"CB_SEED=%" PRIu64 ": conflict", seed);
		return;
	}
	ck_assert_msg(result->verdict.replay == used->used, "CB_SEED=%" PRIu64 ": replay", seed);
	if (!used->used) {
		used->used = true;
		used->cmd = *cmd;
		used->outcome = *balance + gain < 0 ? REFUSAL_INSUFFICIENT_BALANCE : REFUSAL_NONE;
		if (used->outcome == REFUSAL_NONE)
			*balance += gain;
		used->current_balance = *balance;
	}
	ck_assert_msg(result->verdict.refusal == used->outcome, "CB_SEED=%" PRIu64 ": outcome",
		seed);
	ck_assert_msg((used->outcome == REFUSAL_NONE
				      ? result->current_balance
				      : result->verdict.current_balance) == used->current_balance,
		"CB_SEED=%" PRIu64 ": balance", seed);
}

static void run_rounds(uint64_t seed, int kind)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		unsigned int count = 1 + chance(round % 7 ? 8 : LEDGER_BATCH_MAX);

		for (unsigned int i = 0; i < count; i++) {
			slots[i].command = COMMAND_TRANSFER;
			slots[i].cmd.transfer = random_cmd();
		}
		case_run_batch(slots, count);
		for (unsigned int i = 0; i < count; i++)
			compare(&slots[i].cmd.transfer, &slots[i].result.transfer, seed);
		if (kind == CASE_DISK && chance(20) == 0)
			case_reopen();
	}
}

START_TEST(random_batches_agree_with_the_model)
{
	const char *given = getenv("CB_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)_i + 1;
	/* Every fourth run uses Berkeley DB on disk. */
	int kind = _i % 4 ? CASE_MEMORY : CASE_DISK;
	char user[8];

	state = seed * UINT64_C(0x9e3779b97f4a7c15);
	memset(balances, 0, sizeof(balances));
	memset(ids, 0, sizeof(ids));
	case_open(kind);
	for (unsigned int i = 0; i < USERS; i++) {
		snprintf(user, sizeof(user), "u%u", i);
		case_player_add("demo", user);
	}
	run_rounds(seed, kind);
	for (unsigned int i = 0; i < USERS; i++) {
		snprintf(user, sizeof(user), "u%u", i);
		ck_assert_int_eq(case_balance(user).balance, balances[i]);
	}
	case_prove();
	case_close();
}
END_TEST

Suite *random_suite(void)
{
	Suite *suite = suite_create("random");
	TCase *tc = tcase_create("random");
	const char *fewer = getenv("CB_FEWER_ROUNDS");

	tcase_add_loop_test(tc, random_batches_agree_with_the_model, 0, fewer ? 4 : 40);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}

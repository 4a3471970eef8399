/*
 * Tests what others see of a move of a dealer: workers with their keys, game servers with theirs, and the operator.
 */
#include "case_moves.h"

#include "web/request/fresh_keyring.h"

#include <string.h>

/* Workers use keys for a while without asking. So both ledgers keep the dealer before the first one forgets it. */
START_TEST(both_ledgers_know_the_dealer_for_a_while)
{
	struct move fresh;

	move_open(&fresh, &sessions[0], &sessions[1], mover);
	ck_assert_int_gt(fresh.settle_ms, KEYRING_FRESH_MS);
	move_close(&fresh);
	make_world(CASE_MEMORY, WALLET_TRANSFER);
	settle_ms = 50;
	move_all();
	settle_ms = 0;
	ck_assert_int_ge(step_ms[MOVE_REMOVE] - step_ms[MOVE_OPEN], 50);
	ck_assert_int_ge(step_ms[MOVE_FINISH] - drop_ms, 50);
	close_world();
}
END_TEST

/* Runs a command on the keys of a game server. Returns its refusal. */
static enum refusal change_key(bool there, enum key_action action, const char *key_id,
	const char *secret)
{
	struct client_key_cmd cmd = {.operator= case_operator(),
		.client_id = "demo",
		.action = action};

	strcpy(cmd.key_id, key_id);
	case_secret(secret, cmd.secret);
	return there ? run_there(COMMAND_CLIENT_KEY, &cmd)->result.verdict.refusal
		     : case_run(COMMAND_CLIENT_KEY, &cmd)->result.verdict.refusal;
}

/*
 * A game server has the same key in both ledgers, with another id in each. It may even have the name of the dealer. Its
 * keys do not move, nor does what is known of those that were retired.
 */
START_TEST(a_client_keeps_its_key_ids)
{
	struct client_put_cmd client = {.operator= case_operator(), .client_id = "demo"};

	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	case_secret("old", client.secret);
	ck_assert_int_eq(case_run(COMMAND_CLIENT_PUT, &client)->result.verdict.refusal, 0);
	ck_assert_int_eq(change_key(false, KEY_ADD, "", "same"), 0);
	ck_assert_int_eq(change_key(false, KEY_RETIRE, "k1", ""), 0);
	client.operator= case_operator();
	case_secret("same", client.secret);
	ck_assert_int_eq(run_there(COMMAND_CLIENT_PUT, &client)->result.verdict.refusal, 0);
	move_all();
	ck_assert_int_eq(change_key(true, KEY_RETIRE, "k2", ""), REFUSAL_KEY_NOT_FOUND);
	/* Retired in the first ledger only. */
	ck_assert_int_eq(change_key(true, KEY_ADD, "", "old"), 0);
	ck_assert_int_eq(change_key(true, KEY_RETIRE, "k1", ""), 0);
	goes_on_there(WALLET_SEAMLESS);
	case_close();
}
END_TEST

static struct move_estimate estimate;
static struct move_progress shown;
static unsigned int passes;

/* What is read only grows, and in the end all is read. */
static void check_progress(void *closure, const struct move_progress *now)
{
	(void)closure;
	ck_assert_uint_le(now->bytes, now->bytes_all);
	if (!shown.what || strcmp(shown.what, now->what) != 0) {
		if (passes++)
			ck_assert_uint_eq(shown.bytes, shown.bytes_all);
	} else {
		ck_assert_uint_ge(now->bytes, shown.bytes);
		ck_assert_uint_ge(now->looked, shown.looked);
		ck_assert_uint_ge(now->count, shown.count);
	}
	shown = *now;
}

static enum outcome estimate_and_move(struct move *move)
{
	ck_assert_int_eq(move_estimate(move, &estimate), OUTCOME_DONE);
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		move->from.table_bytes[record] = 1000000 * (record + 1);
		move->to.table_bytes[record] = 1000000;
	}
	return move_dealer(move);
}

START_TEST(a_move_shows_how_far_it_is)
{
	make_world(CASE_MEMORY, WALLET_SEAMLESS);
	watch_progress = check_progress;
	calls_left = -1;
	ck_assert_int_eq(run_move(estimate_and_move), OUTCOME_DONE);
	ck_assert(estimate.has_dealer && !estimate.at_least);
	ck_assert_uint_eq(estimate.players, 1);
	ck_assert_uint_ge(estimate.movements, 1);
	ck_assert_uint_ge(estimate.bets, 3);
	ck_assert_uint_ge(estimate.callbacks, estimate.bets);
	/* Copied, compared, deleted. */
	ck_assert_uint_eq(passes, 3);
	ck_assert_uint_eq(shown.bytes, shown.bytes_all);
	ck_assert_uint_gt(shown.looked, shown.count / 2);
	watch_progress = NULL;
	/* What has moved is looked at no more. */
	ck_assert_int_eq(run_move(estimate_and_move), OUTCOME_DONE);
	ck_assert(!estimate.has_dealer);
	close_world();
}
END_TEST

Suite *moves_seen_suite(void)
{
	Suite *suite = suite_create("moves_seen");
	TCase *tests = tcase_create("moves_seen");

	tcase_add_test(tests, both_ledgers_know_the_dealer_for_a_while);
	tcase_add_test(tests, a_client_keeps_its_key_ids);
	tcase_add_test(tests, a_move_shows_how_far_it_is);
	suite_add_tcase(suite, tests);
	return suite;
}

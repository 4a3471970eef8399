/*
 * Tests the actions of an operator: dealers, keys, players, adjustments, lists, and their audit.
 */
#include "case.h"

#include "base/pack.h"
#include "ledger/rows/counters.h"
#include "store/recount.h"

#include <stdio.h>
#include <string.h>

#define CREDIT MONEY_UNITS_PER_CREDIT

static struct dealer_key_result key_do(enum key_action action, const char *key_id,
	const char *operation_id)
{
	struct dealer_key_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	if (operation_id)
		strcpy(cmd.operator.operation_id, operation_id);
	strcpy(cmd.casino_id, "demo");
	cmd.action = action;
	strcpy(cmd.key_id, key_id);
	case_secret(cmd.operator.operation_id, cmd.secret);
	return case_run(COMMAND_DEALER_KEY, &cmd)->result.dealer_key;
}

START_TEST(dealer_is_added_once)
{
	struct dealer_put_cmd cmd = case_dealer_cmd("d1");
	struct slot *slot;

	case_open_empty(_i);
	slot = case_run(COMMAND_DEALER_PUT, &cmd);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_NONE);
	ck_assert_str_eq(slot->result.dealer_put.dealer.keys[0].key_id, "k1");
	ck_assert_str_eq(slot->result.dealer_put.dealer.signing_key_id, "k1");
	/* The same command again (its answer was lost) acts once and returns the same result. */
	slot = case_run(COMMAND_DEALER_PUT, &cmd);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_NONE);
	ck_assert(slot->result.verdict.replay);
	cmd.operator= case_operator();
	slot = case_run(COMMAND_DEALER_PUT, &cmd);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_ALREADY_EXISTS);
	ck_assert_uint_eq(case_ledger.derived.dealers, 1);
	case_close();
}
END_TEST

static void put_audit_counter(uint64_t value)
{
	struct counter counter = {.value = value, .name = "audit"};
	struct ws ws;

	ws_init(&ws);
	counter_want(&ws, counter.name);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	ws_put(&ws, RECORD_COUNTER, &counter);
	ck_assert_int_eq(case_db->save(case_db, &ws), SAVE_OK);
	ws_free(&ws);
}

/* An import may bring a counter that is near its end. */
START_TEST(the_last_audit_number_is_2_to_53_less_1)
{
	struct dealer_key_result last, beyond;

	case_open(_i);
	put_audit_counter(TRANSACTION_ID_MAX - 1);
	last = key_do(KEY_ADD, "", "last");
	ck_assert_int_eq(last.verdict.refusal, REFUSAL_NONE);
	beyond = key_do(KEY_RETIRE, "k2", "beyond");
	ck_assert_int_eq(beyond.verdict.refusal, REFUSAL_SERVICE_UNAVAILABLE);
	ck_assert_str_eq(beyond.verdict.detail, "the audit has no numbers left below 2^53");
	/* The last one is still answered when it is sent again. */
	ck_assert(key_do(KEY_ADD, "", "last").verdict.replay);
	case_close();
}
END_TEST

START_TEST(bad_dealers_are_refused)
{
	struct dealer_put_cmd cmd;
	enum refusal refusal;

	case_open_empty(CASE_MEMORY);
	for (int i = 0; i < 9; i++) {
		cmd = case_dealer_cmd("d1");
		if (i == 0)
			strcpy(cmd.dealer.casino_id, "a b");
		else if (i == 1)
			strcpy(cmd.dealer.currency, "THB");
		else if (i == 2)
			cmd.dealer.decimals = 5;
		else if (i == 3)
			cmd.dealer.utc_offset_min = 841;
		else if (i == 4)
			strcpy(cmd.dealer.keys[0].secret, "short");
		else if (i == 5)
			strcpy(cmd.dealer.url, "http://dealer.example");
		else if (i == 6)
			cmd.dealer.max_inflight = 0;
		else if (i == 7)
			cmd.dealer.refund_delay_s = 86401;
		else
			cmd.operator.operation_id[0] = '\0';
		refusal = case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal;
		ck_assert_msg(refusal == REFUSAL_BAD_REQUEST, "case %d: %d", i, (int)refusal);
	}
	cmd = case_dealer_cmd("d1");
	strcpy(cmd.dealer.url, "http://dealer.example");
	cmd.dealer.allow_http = true;
	ck_assert_int_eq(case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	case_close();
}
END_TEST

/* contract, "What an operator may change". */
START_TEST(settings_change_only_when_they_may)
{
	struct dealer values = {.mode = WALLET_SEAMLESS, .currency = "usd", .decimals = 4};
	struct dealer lower = {.decimals = 1}, thb = {.currency = "thb"};

	case_open(_i);
	ck_assert_int_eq(case_dealer_set(DEALER_CURRENCY, &values).verdict.refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	ck_assert_int_eq(case_dealer_set(DEALER_CURRENCY, &thb).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_dealer_set(DEALER_DECIMALS, &values).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_dealer_set(DEALER_DECIMALS, &lower).verdict.refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	case_in("alice", "r1", 1);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &values).verdict.refusal,
		REFUSAL_NOT_ALLOWED_NOW);
	case_out("alice", "r2", 1);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &values).verdict.refusal, REFUSAL_NONE);
	ck_assert_str_eq(case_balance("alice").currency, "thb");
	case_close();
}
END_TEST

START_TEST(keys_rotate)
{
	uint64_t generation;

	case_open(_i);
	generation = case_ledger.derived.generation;
	ck_assert_int_eq(key_do(KEY_RETIRE, "k1", NULL).verdict.refusal, REFUSAL_KEY_IN_USE);
	ck_assert_uint_eq(case_ledger.derived.generation, generation);
	ck_assert_str_eq(key_do(KEY_ADD, "", "rotate1").key_id, "k2");
	ck_assert_uint_gt(case_ledger.derived.generation, generation);
	ck_assert_str_eq(key_do(KEY_ADD, "", "rotate1").key_id, "k2");
	ck_assert_int_eq(key_do(KEY_ADD, "", NULL).verdict.refusal, REFUSAL_TOO_MANY_KEYS);
	ck_assert_int_eq(key_do(KEY_USE, "k9", NULL).verdict.refusal, REFUSAL_KEY_NOT_FOUND);
	ck_assert_int_eq(key_do(KEY_USE, "k2", NULL).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(key_do(KEY_RETIRE, "k2", NULL).verdict.refusal, REFUSAL_KEY_IN_USE);
	ck_assert_int_eq(key_do(KEY_RETIRE, "k1", "retire1").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(key_do(KEY_RETIRE, "k1", "retire1").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(key_do(KEY_RETIRE, "k1", NULL).verdict.refusal, REFUSAL_KEY_NOT_FOUND);
	/* A key id is never assigned twice. */
	ck_assert_str_eq(key_do(KEY_ADD, "", NULL).key_id, "k3");
	/* A late repetition names its own key, or none. */
	ck_assert_int_eq(key_do(KEY_RETIRE, "k3", NULL).verdict.refusal, REFUSAL_NONE);
	ck_assert_str_eq(key_do(KEY_ADD, "", "rotate1").key_id, "k2");
	/* An operation id can be used for only one action. */
	ck_assert_str_eq(key_do(KEY_USE, "k2", "rotate1").verdict.field, "operation_id");
	ck_assert_str_eq(key_do(KEY_RETIRE, "k9", "retire1").verdict.field, "operation_id");
	case_close();
}
END_TEST

START_TEST(player_is_registered_once)
{
	struct player_put_result first, again;

	case_open(_i);
	first = case_player_add("demo", "bob");
	ck_assert(first.created);
	again = case_player_add("demo", "bob");
	ck_assert(!again.created);
	ck_assert_str_eq(first.player_id, again.player_id);
	ck_assert_int_eq(case_player_add("nowhere", "bob").verdict.refusal,
		REFUSAL_DEALER_NOT_FOUND);
	case_suspend_dealer(true);
	ck_assert_int_eq(case_player_add("demo", "carol").verdict.refusal,
		REFUSAL_DEALER_SUSPENDED);
	ck_assert_int_eq(case_player_add("demo", "bob").verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_player_add("demo", "").verdict.refusal, REFUSAL_BAD_REQUEST);
	case_close();
}
END_TEST

static struct player_put_result suspend(bool suspended, const char *operation_id)
{
	struct player_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	strcpy(cmd.operator.operation_id, operation_id);
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, "alice");
	cmd.change_suspended = true;
	cmd.suspended = suspended;
	return case_run(COMMAND_PLAYER_PUT, &cmd)->result.player_put;
}

/* A late repetition of a command that changed nothing must not undo later changes. */
START_TEST(late_repeats_change_nothing)
{
	case_open(_i);
	ck_assert(!suspend(false, "resume-1").suspended);
	ck_assert(suspend(true, "suspend-1").suspended);
	ck_assert(suspend(false, "resume-1").suspended);
	ck_assert_str_eq(suspend(false, "suspend-1").verdict.field, "operation_id");
	ck_assert(suspend(true, "suspend-1").suspended);
	case_close();
}
END_TEST

START_TEST(adjustments)
{
	struct player_put_cmd suspend;
	struct adjust_cmd elsewhere;
	struct adjust_result first, again;

	case_open(_i);
	first = case_adjust("alice", 5 * CREDIT, "op-1");
	ck_assert_int_eq(first.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(first.current_balance, 5 * CREDIT);
	again = case_adjust("alice", 5 * CREDIT, "op-1");
	ck_assert(again.verdict.replay);
	again.verdict = first.verdict;
	ck_assert_mem_eq(&first, &again, sizeof(first));
	ck_assert_str_eq(case_adjust("alice", 6 * CREDIT, "op-1").verdict.field, "amount");
	ck_assert_int_eq(case_adjust("alice", -6 * CREDIT, NULL).verdict.refusal,
		REFUSAL_INSUFFICIENT_BALANCE);
	/* An operator's refusal consumes no key, unlike a dealer's. */
	ck_assert_int_eq(case_adjust("alice", 0, NULL).verdict.refusal, REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(case_adjust("alice", 1, NULL).verdict.refusal, REFUSAL_INVALID_AMOUNT);
	ck_assert_int_eq(case_adjust("bob", CREDIT, NULL).verdict.refusal, REFUSAL_USER_NOT_FOUND);
	case_suspend_player("alice", true);
	ck_assert_int_eq(case_adjust("alice", -5 * CREDIT, NULL).verdict.refusal, REFUSAL_NONE);
	case_player_add("demo", "bob");
	/* The operation id belongs to an adjustment of alice. */
	ck_assert_int_eq(case_adjust("bob", 5 * CREDIT, "op-1").verdict.refusal,
		REFUSAL_TRANSACTION_CONFLICT);
	/* ... and here to another action. */
	memset(&suspend, 0, sizeof(suspend));
	suspend.operator= case_operator();
	strcpy(suspend.casino_id, "demo");
	strcpy(suspend.user_id, "bob");
	suspend.change_suspended = true;
	suspend.suspended = true;
	ck_assert_int_eq(case_run(COMMAND_PLAYER_PUT, &suspend)->result.verdict.refusal,
		REFUSAL_NONE);
	ck_assert_int_eq(case_adjust("bob", CREDIT, suspend.operator.operation_id).verdict.refusal,
		REFUSAL_TRANSACTION_CONFLICT);
	memset(&elsewhere, 0, sizeof(elsewhere));
	elsewhere.operator= case_operator();
	strcpy(elsewhere.casino_id, "nowhere");
	strcpy(elsewhere.user_id, "alice");
	elsewhere.amount = CREDIT;
	ck_assert_int_eq(case_run(COMMAND_ADJUST, &elsewhere)->result.verdict.refusal,
		REFUSAL_DEALER_NOT_FOUND);
	case_prove();
	case_close();
}
END_TEST

static void last_audit(void *context, const void *row)
{
	*(struct audit *)context = *(const struct audit *)row;
}

START_TEST(actions_leave_a_trail)
{
	struct audit audit;
	unsigned int before;

	case_open(_i);
	before = case_list(RECORD_AUDIT, false, 0, last_audit, &audit);
	case_adjust("alice", 5 * CREDIT, "op-1");
	case_adjust("alice", 5 * CREDIT, "op-1");
	case_adjust("alice", -9 * CREDIT, NULL);
	ck_assert_uint_eq(case_list(RECORD_AUDIT, false, 0, last_audit, &audit), before + 1);
	ck_assert_str_eq(audit.action, "player adjust");
	ck_assert_str_eq(audit.object, "player demo/alice");
	ck_assert_str_eq(audit.detail, "amount=5.00 transaction_id=1");
	ck_assert_str_eq(audit.reason, "because");
	ck_assert_str_eq(audit.sudo_user, "carol");
	ck_assert_uint_eq(audit.uid, 1000);
	ck_assert_uint_eq(audit.login_uid, 1001);
	ck_assert_int_eq(audit.time_ms, case_now_ms);
	case_suspend_dealer(true);
	case_list(RECORD_AUDIT, false, 0, last_audit, &audit);
	ck_assert_str_eq(audit.action, "dealer suspend");
	ck_assert_str_eq(audit.object, "dealer demo");
	ck_assert_str_eq(audit.detail, "suspended=1");
	key_do(KEY_ADD, "", NULL);
	case_list(RECORD_AUDIT, false, 0, last_audit, &audit);
	ck_assert_str_eq(audit.action, "dealer key-add");
	ck_assert_str_eq(audit.detail, "key_id=k2");
	case_close();
}
END_TEST

START_TEST(notes_are_taken_once)
{
	struct note_cmd cmd = {.operator= case_operator(), .action = NOTE_DEALER_TEST};
	struct audit audit;
	unsigned int before;
	struct slot *slot;

	case_open(_i);
	before = case_list(RECORD_AUDIT, false, 0, last_audit, &audit);
	strcpy(cmd.object, "player demo/alice");
	strcpy(cmd.detail, "cases=3");
	ck_assert_int_eq(case_run(COMMAND_NOTE, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	ck_assert(case_run(COMMAND_NOTE, &cmd)->result.verdict.replay);
	ck_assert_uint_eq(case_list(RECORD_AUDIT, false, 0, last_audit, &audit), before + 1);
	ck_assert_str_eq(audit.action, "dealer test");
	ck_assert_str_eq(audit.object, "player demo/alice");
	ck_assert_str_eq(audit.detail, "cases=3");
	strcpy(cmd.object, "player demo/bob");
	slot = case_run(COMMAND_NOTE, &cmd);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_TRANSACTION_CONFLICT);
	cmd.operator.operation_id[0] = '\0';
	slot = case_run(COMMAND_NOTE, &cmd);
	ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_BAD_REQUEST);
	/* What the console notes has the name of its operator. */
	for (unsigned int action = NOTE_RECON; action < NOTE_ACTION_COUNT; action++) {
		cmd.operator= case_operator();
		cmd.action = (enum note_action)action;
		slot = case_run(COMMAND_NOTE, &cmd);
		ck_assert_int_eq(slot->result.verdict.refusal, REFUSAL_BAD_REQUEST);
	}
	ck_assert_uint_eq(case_list(RECORD_AUDIT, false, 0, last_audit, &audit), before + 1);
	case_close();
}
END_TEST

static void no_secret(void *context, const void *row)
{
	const struct dealer *dealer = row;

	(void)context;
	ck_assert_str_eq(dealer->keys[0].key_id, "k1");
	ck_assert_str_eq(dealer->keys[0].secret, "");
}

/*
 * More dealers than one page: lists and keyrings continue where they stopped, in both directions.
 */
START_TEST(many_dealers_are_paged)
{
	struct dealer_put_cmd cmd;
	struct keyring_cmd ask;
	struct keyring_entry entry;
	struct keyring_result *keyring;
	struct buffer out;
	struct slot *slot;
	char name[32], last[CASINO_ID_SIZE] = "";
	unsigned int count = 0;

	case_open_empty(_i);
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d%03u", i);
		cmd = case_dealer_cmd(name);
		case_run(COMMAND_DEALER_PUT, &cmd);
	}
	ck_assert_uint_eq(case_list(RECORD_DEALER, false, 0, no_secret, NULL), 300);
	ck_assert_uint_eq(case_list(RECORD_DEALER, true, 7, no_secret, NULL), 300);
	buffer_init(&out, FRAME_MAX);
	memset(&ask, 0, sizeof(ask));
	do {
		strcpy(ask.after, last);
		slot = case_run(COMMAND_KEYRING, &ask);
		buffer_reset(&out);
		ledger_answer(&case_ledger, slot, 1, &out);
		ck_assert(!out.failed);
		keyring = &slot->result.keyring;
		ck_assert_uint_eq(keyring->generation, case_ledger.derived.generation);
		for (uint32_t i = 0; i < keyring->count; i++) {
			ck_assert(unpack_record(&keyring->entries, keyring_entry_fields, &entry));
			snprintf(name, sizeof(name), "d%03u", count++);
			ck_assert_str_eq(entry.caller_id, name);
			ck_assert_str_eq(entry.keys[0].secret,
				case_dealer_cmd(name).dealer.keys[0].secret);
			strcpy(last, name);
		}
	} while (keyring->more);
	ck_assert_uint_eq(count, 300);
	ask.generation = case_ledger.derived.generation;
	slot = case_run(COMMAND_KEYRING, &ask);
	buffer_reset(&out);
	ledger_answer(&case_ledger, slot, 1, &out);
	ck_assert(slot->result.keyring.unchanged);
	ck_assert_uint_eq(slot->result.keyring.count, 0);
	buffer_free(&out);
	case_close();
}
END_TEST

START_TEST(dealers_have_a_limit)
{
	struct dealer_put_cmd cmd;
	char name[32];

	case_open_empty(CASE_MEMORY);
	for (unsigned int i = 0; i <= DEALERS_MAX; i++) {
		enum refusal refusal;

		snprintf(name, sizeof(name), "d%u", i);
		cmd = case_dealer_cmd(name);
		refusal = case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal;
		ck_assert_int_eq(refusal,
			i < DEALERS_MAX ? REFUSAL_NONE : REFUSAL_TOO_MANY_DEALERS);
	}
	case_close();
}
END_TEST

/* Adds a key to @owner, a dealer or a game server. */
static struct verdict add_key(enum keyring_of of, const char *owner, const char *secret)
{
	struct dealer_key_cmd dealer;
	struct client_key_cmd client;

	memset(&dealer, 0, sizeof(dealer));
	memset(&client, 0, sizeof(client));
	dealer.operator= client.operator= case_operator();
	dealer.action = client.action = KEY_ADD;
	strcpy(dealer.casino_id, owner);
	strcpy(client.client_id, owner);
	strcpy(dealer.secret, secret);
	strcpy(client.secret, secret);
	return of == KEYRING_DEALERS ? case_run(COMMAND_DEALER_KEY, &dealer)->result.verdict
				     : case_run(COMMAND_CLIENT_KEY, &client)->result.verdict;
}

static struct verdict put_client(const char *client_id, bool remove, const char *secret)
{
	struct client_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	cmd.remove = remove;
	strcpy(cmd.client_id, client_id);
	strcpy(cmd.secret, secret);
	return case_run(COMMAND_CLIENT_PUT, &cmd)->result.verdict;
}

static void known(struct verdict verdict, const char *owner)
{
	ck_assert_int_eq(verdict.refusal, REFUSAL_KEY_KNOWN);
	ck_assert_msg(strstr(verdict.detail, owner) != NULL, "%s", verdict.detail);
	ck_assert(!strstr(verdict.detail, CASE_SECRET));
}

/* By every command, also after the owner retired it, and after a restart of the ledger. */
START_TEST(a_key_is_issued_once)
{
	struct dealer_put_cmd other = case_dealer_cmd("other");
	char second[KEY_SECRET_SIZE], third[KEY_SECRET_SIZE], slots[KEY_SECRET_SIZE];

	case_open(_i);
	case_secret("second", second);
	case_secret("third", third);
	case_secret("slots", slots);
	strcpy(other.dealer.keys[0].secret, CASE_SECRET);
	known(case_run(COMMAND_DEALER_PUT, &other)->result.verdict, "dealer demo");
	known(add_key(KEYRING_DEALERS, "demo", CASE_SECRET), "dealer demo");
	known(put_client("slots", false, CASE_SECRET), "dealer demo");
	ck_assert_int_eq(put_client("slots", false, slots).refusal, REFUSAL_NONE);
	known(add_key(KEYRING_CLIENTS, "slots", slots), "client slots");
	known(add_key(KEYRING_CLIENTS, "slots", CASE_SECRET), "dealer demo");
	known(add_key(KEYRING_DEALERS, "demo", slots), "client slots");
	known(put_client("more", false, slots), "client slots");
	/* A command that is refused for another reason issues no key. */
	ck_assert_int_eq(add_key(KEYRING_DEALERS, "demo", second).refusal, REFUSAL_NONE);
	ck_assert_int_eq(add_key(KEYRING_DEALERS, "demo", third).refusal, REFUSAL_TOO_MANY_KEYS);
	ck_assert_int_eq(key_do(KEY_RETIRE, "k2", NULL).verdict.refusal, REFUSAL_NONE);
	known(add_key(KEYRING_DEALERS, "demo", second), "dealer demo");
	ck_assert_int_eq(put_client("slots", true, "").refusal, REFUSAL_NONE);
	known(put_client("slots", false, slots), "client slots");
	if (_i == CASE_DISK) {
		case_reopen();
		known(add_key(KEYRING_DEALERS, "demo", CASE_SECRET), "dealer demo");
		known(add_key(KEYRING_DEALERS, "demo", second), "dealer demo");
		known(put_client("slots", false, slots), "client slots");
	}
	ck_assert_int_eq(put_client("slots", false, third).refusal, REFUSAL_NONE);
	case_close();
}
END_TEST

struct digests {
	struct retired_digest rows[4];
	unsigned int count;
};

static void keep_digest(void *context, const void *row)
{
	struct digests *digests = context;

	ck_assert_uint_lt(digests->count, 4);
	digests->rows[digests->count++] = *(const struct retired_digest *)row;
}

static struct digests list_digests(void)
{
	struct digests digests;

	memset(&digests, 0, sizeof(digests));
	case_list(RECORD_RETIRED_DIGEST, false, 0, keep_digest, &digests);
	return digests;
}

/* Removes the rows, which an older version did not have. */
static void drop_digests(const struct digests *digests)
{
	struct ws ws;

	ws_init(&ws);
	for (unsigned int i = 0; i < digests->count; i++)
		ws_want(&ws, RECORD_RETIRED_DIGEST, &digests->rows[i]);
	ck_assert_int_eq(case_db->load(case_db, &ws), STATUS_OK);
	for (unsigned int i = 0; i < digests->count; i++)
		ws_drop(&ws, RECORD_RETIRED_DIGEST, &digests->rows[i]);
	ck_assert_int_eq(case_db->save(case_db, &ws), SAVE_OK);
	ws_free(&ws);
}

/* An upgrade makes the rows of retired keys from the audit, also if it is repeated. */
START_TEST(an_upgrade_knows_retired_keys)
{
	struct digests before, after;
	char second[KEY_SECRET_SIZE], slots[KEY_SECRET_SIZE], why[200];

	case_open(_i);
	case_secret("second", second);
	case_secret("slots", slots);
	ck_assert_int_eq(add_key(KEYRING_DEALERS, "demo", second).refusal, REFUSAL_NONE);
	ck_assert_int_eq(key_do(KEY_RETIRE, "k2", NULL).verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(put_client("slots", false, slots).refusal, REFUSAL_NONE);
	ck_assert_int_eq(put_client("slots", true, "").refusal, REFUSAL_NONE);
	before = list_digests();
	ck_assert_uint_eq(before.count, 2);
	ck_assert_str_eq(before.rows[0].owner, "demo");
	ck_assert_str_eq(before.rows[1].owner, "slots");
	ck_assert(before.rows[1].of_client && !before.rows[0].of_client);
	drop_digests(&before);
	ck_assert_uint_eq(list_digests().count, 0);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(recount(case_db, 2, why, sizeof(why)), STATUS_OK);
		after = list_digests();
		ck_assert(memcmp(&before, &after, sizeof(before)) == 0);
	}
	if (_i == CASE_DISK) {
		case_reopen();
		known(add_key(KEYRING_DEALERS, "demo", second), "dealer demo");
		known(put_client("slots", false, slots), "client slots");
	}
	case_close();
}
END_TEST

/* Two commands in one batch. */
START_TEST(a_key_is_issued_once_in_a_batch)
{
	static struct slot slots[2];

	case_open(_i);
	for (unsigned int i = 0; i < 2; i++) {
		memset(&slots[i], 0, sizeof(slots[i]));
		slots[i].command = COMMAND_DEALER_PUT;
		slots[i].cmd.dealer_put = case_dealer_cmd(i ? "two" : "one");
		case_secret("same", slots[i].cmd.dealer_put.dealer.keys[0].secret);
	}
	case_run_batch(slots, 2);
	ck_assert_int_eq(slots[0].result.verdict.refusal, REFUSAL_NONE);
	known(slots[1].result.verdict, "dealer one");
	case_close();
}
END_TEST

Suite *operator_suite(void)
{
	Suite *suite = suite_create("operator");
	TCase *tc = tcase_create("operator");

	tcase_add_loop_test(tc, dealer_is_added_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, the_last_audit_number_is_2_to_53_less_1, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, bad_dealers_are_refused);
	tcase_add_loop_test(tc, settings_change_only_when_they_may, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, keys_rotate, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, player_is_registered_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, late_repeats_change_nothing, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, adjustments, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, actions_leave_a_trail, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, notes_are_taken_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, many_dealers_are_paged, 0, CASE_STORE_COUNT);
	tcase_add_test(tc, dealers_have_a_limit);
	tcase_add_loop_test(tc, a_key_is_issued_once, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, an_upgrade_knows_retired_keys, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tc, a_key_is_issued_once_in_a_batch, 0, CASE_STORE_COUNT);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}

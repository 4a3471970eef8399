#include "case.h"

#include "../store/raw_row.h"
#include "base/pack.h"
#include "base/text.h"
#include "memory_store.h"
#include "scratch.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ledger case_ledger;
struct store *case_db;
int64_t case_now_ms = INT64_C(1700000000000);
int64_t case_boot_ms = 1000;
uint64_t case_boot = 1;
struct outbox_options case_outbox;

const struct moment *case_moment(void)
{
	static struct moment now;

	now = (struct moment){case_now_ms, case_boot_ms, case_boot};
	return &now;
}

static char directory[64];
static struct slot slot;
static unsigned int operations;
static unsigned int players;

static void open_on_disk(void)
{
	const struct store_options options = {
		.directory = directory,
		.cache_mib = 8,
		.checkpoint_kib = 8192,
		.checkpoint_interval_ms = 1000,
		.log_keep_mib = 64,
		.create = true,
	};
	char why[256] = "";

	ck_assert_msg(store_open(&options, &case_db, why, sizeof(why)) == STATUS_OK, "%s", why);
}

static void need_nothing(void)
{
}

static const struct case_durable on_berkeley_db = {need_nothing, open_on_disk, need_nothing};
const struct case_durable *case_durable = &on_berkeley_db;
static bool is_durable;

int case_store_count(void)
{
	const char *given = getenv("CB_LEDGER_STORES");

	return given ? atoi(given) : CASE_DISK + 1;
}

void case_open_empty(int kind)
{
	scratch_make(directory);
	outbox_options_defaults(&case_outbox);
	is_durable = kind != CASE_MEMORY;
	if (is_durable) {
		case_durable->make();
		case_durable->open();
	} else {
		case_db = memory_store_new();
	}
	ck_assert_int_eq(ledger_init(&case_ledger, case_db, 1, &case_outbox, case_moment()),
		STATUS_OK);
}

void case_open(int kind)
{
	struct dealer_put_cmd cmd;

	case_open_empty(kind);
	cmd = case_dealer_cmd("demo");
	ck_assert_int_eq(case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_player_add("demo", "alice").verdict.refusal, REFUSAL_NONE);
}

void case_close(void)
{
	ledger_free(&case_ledger);
	case_db->close(case_db);
	if (is_durable)
		case_durable->remove();
	scratch_remove(directory);
}

void case_reopen(void)
{
	ledger_free(&case_ledger);
	case_db->close(case_db);
	case_durable->open();
	ck_assert_int_eq(ledger_init(&case_ledger, case_db, 2, &case_outbox, case_moment()),
		STATUS_OK);
}

bool case_can_damage(void)
{
	return case_durable == &on_berkeley_db;
}

enum status case_reopen_with_garbage(enum record record)
{
	ledger_free(&case_ledger);
	case_db->close(case_db);
	raw_row_put(directory, record, (struct bytes){(const uint8_t *)"garbage", 8},
		(struct bytes){(const uint8_t *)"\xff", 1});
	open_on_disk();
	return ledger_init(&case_ledger, case_db, 2, &case_outbox, case_moment());
}

void case_reopen_with_row(enum record record, struct bytes key, struct bytes value)
{
	ledger_free(&case_ledger);
	case_db->close(case_db);
	raw_row_put(directory, record, key, value);
	open_on_disk();
	ck_assert_int_eq(ledger_init(&case_ledger, case_db, 2, &case_outbox, case_moment()),
		STATUS_OK);
}

struct slot *case_run(enum command command, const void *cmd)
{
	slot.command = command;
	slot.link = 1;
	memcpy(&slot.cmd, cmd, command_infos[command].cmd_size);
	case_run_batch(&slot, 1);
	return &slot;
}

void case_run_batch(struct slot *slots, unsigned int count)
{
	ck_assert_int_eq(ledger_run(&case_ledger, slots, count, case_moment()), STATUS_OK);
}

void case_add_dealer(const char *casino_id, enum wallet_mode mode)
{
	struct dealer_put_cmd cmd = case_dealer_cmd(casino_id);

	cmd.dealer.mode = mode;
	case_secret(casino_id, cmd.dealer.keys[0].secret);
	ck_assert_int_eq(case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(case_player_add(casino_id, "alice").verdict.refusal, REFUSAL_NONE);
}

struct transfer_cmd case_transfer_cmd(enum entry_kind kind, const char *user, const char *id,
	money_t amount)
{
	struct transfer_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.casino_id, "demo");
	text_copy(cmd.user_id, sizeof(cmd.user_id), user);
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	cmd.kind = kind;
	cmd.amount = amount;
	return cmd;
}

struct transfer_result case_transfer(enum entry_kind kind, const char *user, const char *id,
	money_t amount)
{
	struct transfer_cmd cmd = case_transfer_cmd(kind, user, id, amount);

	return case_run(COMMAND_TRANSFER, &cmd)->result.transfer;
}

struct balance_result case_balance(const char *user)
{
	struct balance_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, user);
	return case_run(COMMAND_BALANCE, &cmd)->result.balance;
}

struct operator case_operator(void)
{
	struct operator operator;

	memset(&operator, 0, sizeof(operator));
	operator.uid = 1000;
	operator.login_uid = 1001;
	strcpy(operator.sudo_user, "carol");
	strcpy(operator.reason, "because");
	snprintf(operator.operation_id, sizeof(operator.operation_id), "op%u", ++operations);
	return operator;
}

struct adjust_result case_adjust(const char *user, money_t amount, const char *operation_id)
{
	struct adjust_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	if (operation_id)
		strcpy(cmd.operator.operation_id, operation_id);
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, user);
	cmd.amount = amount;
	return case_run(COMMAND_ADJUST, &cmd)->result.adjust;
}

void case_secret(const char *name, char secret[KEY_SECRET_SIZE])
{
	size_t len = 0;

	memset(secret, '0', KEY_SECRET_SIZE - 1);
	secret[KEY_SECRET_SIZE - 1] = '\0';
	for (; *name && len + 2 < KEY_SECRET_SIZE; name++, len += 2) {
		secret[len] = "0123456789abcdef"[(unsigned char)*name >> 4];
		secret[len + 1] = "0123456789abcdef"[(unsigned char)*name & 15];
	}
}

struct dealer_put_cmd case_dealer_cmd(const char *casino_id)
{
	struct dealer_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	cmd.create = true;
	strcpy(cmd.dealer.casino_id, casino_id);
	strcpy(cmd.dealer.currency, "thb");
	cmd.dealer.decimals = 2;
	cmd.dealer.max_inflight = 20;
	cmd.dealer.refund_delay_s = 60;
	if (strcmp(casino_id, "demo") == 0)
		strcpy(cmd.dealer.keys[0].secret, CASE_SECRET);
	else
		case_secret(casino_id, cmd.dealer.keys[0].secret);
	return cmd;
}

struct dealer_put_result case_dealer_set(uint32_t member, const struct dealer *values)
{
	struct dealer_put_cmd cmd = case_dealer_cmd("demo");

	cmd.create = false;
	cmd.mask = 1u << member;
	cmd.dealer = *values;
	strcpy(cmd.dealer.casino_id, "demo");
	return case_run(COMMAND_DEALER_PUT, &cmd)->result.dealer_put;
}

void case_suspend_dealer(bool suspended)
{
	struct dealer values = {.suspended = suspended};

	ck_assert_int_eq(case_dealer_set(DEALER_SUSPENDED, &values).verdict.refusal, REFUSAL_NONE);
}

static struct player_put_cmd player_cmd(const char *casino_id, const char *user)
{
	struct player_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	strcpy(cmd.casino_id, casino_id);
	strcpy(cmd.user_id, user);
	memset(cmd.player_id, 'a', PLAYER_ID_SIZE - 1);
	players++;
	for (unsigned int i = 0, n = players; i < 8; i++, n /= 26)
		cmd.player_id[i] = (char)('a' + n % 26);
	return cmd;
}

struct player_put_result case_player_add(const char *casino_id, const char *user)
{
	struct player_put_cmd cmd = player_cmd(casino_id, user);

	return case_run(COMMAND_PLAYER_PUT, &cmd)->result.player_put;
}

void case_suspend_player(const char *user, bool suspended)
{
	struct player_put_cmd cmd = player_cmd("demo", user);

	cmd.change_suspended = true;
	cmd.suspended = suspended;
	ck_assert_int_eq(case_run(COMMAND_PLAYER_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
}

unsigned int case_list(enum record record, bool reverse, uint32_t limit,
	void (*visit)(void *context, const void *row), void *context)
{
	union {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
	} row;
	struct list_cmd cmd = {.record = record, .reverse = reverse, .limit = limit};
	struct list_result list;
	uint8_t cursor[LIST_KEY_MAX];
	unsigned int count = 0;
	struct buffer out;

	buffer_init(&out, FRAME_MAX);
	do {
		case_run(COMMAND_LIST, &cmd);
		buffer_reset(&out);
		ledger_answer(&case_ledger, &slot, 1, &out);
		ck_assert(!out.failed);
		ck_assert_int_eq(slot.outcome, FRAME_DONE);
		list = slot.result.list;
		ck_assert_int_eq(list.verdict.refusal, REFUSAL_NONE);
		for (uint32_t i = 0; i < list.count; i++) {
			/* A text fills a part of its member: the rest is zero, so that rows can be compared. */
			memset(&row, 0, sizeof(row));
			ck_assert(unpack_record(&list.rows, record_infos[record].fields, &row));
			visit(context, &row);
			count++;
		}
		ck_assert_uint_eq(list.rows.len, 0);
		if (list.cursor.len)
			memcpy(cursor, list.cursor.data, list.cursor.len);
		cmd.cursor = (struct bytes){cursor, list.cursor.len};
	} while (list.more);
	buffer_free(&out);
	return count;
}

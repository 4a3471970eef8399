/*
 * import_play - commands on rows that an import accepted.
 */
#include "import_target.h"

#include "base/pack.h"
#include "base/text.h"
#include "domain/delivery.h"
#include "fuzz.h"
#include "ledger/ledger.h"

#include <inttypes.h>

#define HOUR_MS       (INT64_C(60) * 60 * 1000)
#define SWEEPS        60
#define INQUIRIES_MAX 100000
#define UNIT          INT64_C(10000) /* one credit: every dealer's decimals have it */

static struct ledger ledger;
static struct store *rows;
static struct slot slot;
static struct buffer answer;
static unsigned int numbers;
static bool reconciled;

static enum refusal run(enum command command, const void *cmd)
{
	const struct moment now = {import_wall_ms, import_boot_ms, 7};

	memset(&slot, 0, sizeof(slot));
	slot.command = command;
	slot.link = 1;
	memcpy(&slot.cmd, cmd, command_infos[command].cmd_size);
	must(ledger_run(&ledger, &slot, 1, &now) == STATUS_OK);
	buffer_reset(&answer);
	ledger_answer(&ledger, &slot, 1, &answer);
	must(!answer.failed);
	if (slot.outcome != FRAME_DONE)
		fprintf(stderr, "%s ended with outcome %d\n", command_infos[command].name,
			(int)slot.outcome);
	must(slot.outcome == FRAME_DONE);
	return slot.result.verdict.refusal;
}

/* Dies if @refusal is neither REFUSAL_NONE nor @other. */
static void allow(const char *what, enum refusal refusal, enum refusal other)
{
	if (refusal != REFUSAL_NONE && refusal != other)
		fprintf(stderr, "%s: %s\n", what, refusal_info(refusal)->id);
	must(refusal == REFUSAL_NONE || refusal == other);
}

static struct operator operator(void)
{
	struct operator operator;

	memset(&operator, 0, sizeof(operator));
	snprintf(operator.operation_id, sizeof(operator.operation_id), "fuzz-%u", ++numbers);
	strcpy(operator.reason, "fuzz");
	return operator;
}

static void new_id(char id[EXTERNAL_ID_SIZE])
{
	snprintf(id, EXTERNAL_ID_SIZE, "fuzz of commands %u", ++numbers);
}

/* ---- rows, copied before commands change them */

struct copies {
	union import_row *rows;
	size_t count;
	enum record record;
};

static bool copy_row(void *context, struct bytes key, const void *row)
{
	struct copies *copies = context;

	(void)key;
	copies->rows = reallocarray(copies->rows, copies->count + 1, sizeof(*copies->rows));
	must(copies->rows);
	memcpy(&copies->rows[copies->count++], row, record_infos[copies->record].size);
	return true;
}

/* Calls @each for every row of @record. What its members of bytes point to is gone. */
static void each_row(enum record record, void (*each)(const union import_row *row))
{
	const struct store_range range = {.record = record};
	struct copies copies = {.record = record};

	must(rows->scan(rows, &range, copy_row, &copies) == STATUS_OK);
	for (size_t i = 0; i < copies.count; i++)
		each(&copies.rows[i]);
	free(copies.rows);
}

/* ---- what the operator does first */

static void open_dealer(const union import_row *row)
{
	struct dealer_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= operator();
	cmd.mask = UINT32_C(1) << DEALER_SUSPENDED | UINT32_C(1) << DEALER_RATE_LIMIT |
		UINT32_C(1) << DEALER_URL | UINT32_C(1) << DEALER_ALLOW_HTTP |
		UINT32_C(1) << DEALER_MAX_INFLIGHT | UINT32_C(1) << DEALER_CALLBACKS_HELD;
	if (reconciled)
		cmd.mask |= UINT32_C(1) << DEALER_RECONCILED;
	else
		cmd.unreconciled = true;
	text_copy(cmd.dealer.casino_id, sizeof(cmd.dealer.casino_id), row->dealer.casino_id);
	strcpy(cmd.dealer.url, "http://127.0.0.1:1/");
	cmd.dealer.allow_http = true;
	cmd.dealer.max_inflight = 20;
	allow("a dealer is released", run(COMMAND_DEALER_PUT, &cmd), REFUSAL_NONE);
}

static void open_player(const union import_row *row)
{
	struct player_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= operator();
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), row->player.casino_id);
	text_copy(cmd.user_id, sizeof(cmd.user_id), row->player.user_id);
	memset(cmd.player_id, 'z', PLAYER_ID_SIZE - 1);
	cmd.change_suspended = true;
	allow("a player is resumed", run(COMMAND_PLAYER_PUT, &cmd), REFUSAL_NONE);
}

/* ---- what the dealer asks */

static enum refusal transfer(const struct player *player, enum entry_kind kind)
{
	struct transfer_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), player->casino_id);
	text_copy(cmd.user_id, sizeof(cmd.user_id), player->user_id);
	new_id(cmd.request_transaction_id);
	cmd.kind = kind;
	cmd.amount = UNIT;
	return run(COMMAND_TRANSFER, &cmd);
}

static void move_credit(const union import_row *row)
{
	const struct player *player = &row->player;
	struct user_stat_cmd stat;
	struct balance_cmd balance;
	enum refusal refusal;

	memset(&balance, 0, sizeof(balance));
	text_copy(balance.casino_id, sizeof(balance.casino_id), player->casino_id);
	text_copy(balance.user_id, sizeof(balance.user_id), player->user_id);
	allow("a balance", run(COMMAND_BALANCE, &balance), REFUSAL_NONE);
	must(slot.result.balance.balance == player->balance);
	memset(&stat, 0, sizeof(stat));
	text_copy(stat.casino_id, sizeof(stat.casino_id), player->casino_id);
	text_copy(stat.user_id, sizeof(stat.user_id), player->user_id);
	stat.bet_summary = true;
	allow("statistics", run(COMMAND_USER_STAT, &stat), REFUSAL_NONE);
	refusal = transfer(player, ENTRY_TRANSFER_IN);
	if (refusal == REFUSAL_WRONG_WALLET_MODE)
		return;
	allow("a transfer in", refusal, REFUSAL_BALANCE_LIMIT);
	if (refusal == REFUSAL_NONE)
		allow("a transfer out", transfer(player, ENTRY_TRANSFER_OUT), REFUSAL_NONE);
}

/* ---- how what was staked ends */

static void send(uint64_t event)
{
	const struct callback_claim_cmd claim = {.event = event, .sender = ++numbers};
	struct callback_grant grant;
	struct callback_end_cmd end;

	if (run(COMMAND_CALLBACK_CLAIM, &claim) != REFUSAL_NONE)
		return;
	grant = slot.result.callback_claim.send;
	if (!grant.event)
		return;
	memset(&end, 0, sizeof(end));
	end.event = grant.event;
	end.kind = grant.kind;
	end.attempt = grant.attempt;
	memcpy(end.casino_id, slot.result.callback_claim.casino_id, sizeof(end.casino_id));
	end.outcome.class = CALLBACK_SUCCESS;
	end.outcome.http_status = 200;
	allow("the end of a callback", run(COMMAND_CALLBACK_END, &end), REFUSAL_NONE);
}

/* Sends all that is due, as a sweeper does for a few days. */
static void sweep(void)
{
	static struct due_entry entries[CALLBACK_FIND_MAX];
	const struct callback_find_cmd find = {.sweeping = true};
	struct bytes found;
	uint32_t count;

	for (int i = 0; i < SWEEPS; i++) {
		import_wall_ms += HOUR_MS;
		import_boot_ms += HOUR_MS;
		allow("a sweep", run(COMMAND_CALLBACK_FIND, &find), REFUSAL_NONE);
		if (!slot.result.callback_find.waiting)
			return;
		found = slot.result.callback_find.entries;
		count = slot.result.callback_find.count;
		must(count <= CALLBACK_FIND_MAX);
		for (uint32_t at = 0; at < count; at++)
			must(unpack_record(&found, due_entry_fields, &entries[at]));
		for (uint32_t at = 0; at < count; at++)
			send(entries[at].event);
	}
}

static void settle(const union import_row *row)
{
	const struct round *round = &row->round;
	struct round_settle_cmd cmd;
	enum refusal refusal;

	memset(&cmd, 0, sizeof(cmd));
	memcpy(cmd.client_id, round->client_id, sizeof(cmd.client_id));
	memcpy(cmd.player.player_id, round->player_id, sizeof(cmd.player.player_id));
	memcpy(cmd.game_id, round->game_id, sizeof(cmd.game_id));
	new_id(cmd.request_transaction_id);
	cmd.result = numbers % 2 ? RESULT_LOSS : RESULT_REFUND;
	cmd.sender = ++numbers;
	if (cmd.result == RESULT_REFUND)
		cmd.payout_amount = round->staked;
	refusal = run(COMMAND_ROUND_SETTLE, &cmd);
	if (round->state == ROUND_SETTLED)
		must(refusal == REFUSAL_ALREADY_SETTLED);
	else
		allow("a result", refusal, REFUSAL_BET_NOT_FOUND);
}

static void inquire(const union import_row *row)
{
	const struct round *round = &row->round;
	struct result_inquire_cmd cmd;
	unsigned int pages = 0;
	uint32_t before;

	memset(&cmd, 0, sizeof(cmd));
	memcpy(cmd.casino_id, round->casino_id, sizeof(cmd.casino_id));
	memcpy(cmd.user_id, round->user_id, sizeof(cmd.user_id));
	memcpy(cmd.game_id, round->game_id, sizeof(cmd.game_id));
	do {
		before = cmd.after_bet;
		allow("an inquiry", run(COMMAND_RESULT_INQUIRE, &cmd), REFUSAL_GAME_NOT_FOUND);
		cmd.after_bet = slot.result.result_inquire.last_bet;
		must(!slot.result.result_inquire.more || cmd.after_bet > before);
		must(++pages < INQUIRIES_MAX);
	} while (slot.result.verdict.refusal == REFUSAL_NONE && slot.result.result_inquire.more);
}

static void operate(const union import_row *row)
{
	struct callback_operate_cmd cmd = {.event = row->callback.event};

	if (row->callback.state != CALLBACK_PARKED && row->callback.state != CALLBACK_HELD)
		return;
	cmd.operator= operator();
	cmd.action = row->callback.state == CALLBACK_HELD ? CALLBACK_RELEASE : CALLBACK_RETRY;
	allow("retry or release of a callback", run(COMMAND_CALLBACK_OPERATE, &cmd), REFUSAL_NONE);
}

static void must_have_ended(const union import_row *row)
{
	const enum callback_state state = row->callback.state;

	if (state != CALLBACK_DELIVERED && state != CALLBACK_CANCELLED && state != CALLBACK_FAILED)
		fprintf(stderr, "event %" PRIu64 " is %s\n", row->callback.event,
			callback_state_names[state]);
	must(state == CALLBACK_DELIVERED || state == CALLBACK_CANCELLED ||
		state == CALLBACK_FAILED);
}

static void must_be_over(const union import_row *row)
{
	const enum bet_state state = row->bet.state;

	if (state != BET_REJECTED && state != BET_REFUNDED && state != BET_SETTLED)
		fprintf(stderr, "bet %" PRIu64 " is %s\n", row->bet.transaction_id,
			bet_state_names[state]);
	must(state == BET_REJECTED || state == BET_REFUNDED || state == BET_SETTLED);
}

static void must_owe_nothing(const union import_row *row)
{
	must(!row->total.open_bets && !row->total.parked && !row->total.held);
}

void import_play(struct store *store, bool compared)
{
	const struct moment now = {import_wall_ms, import_boot_ms, 7};

	rows = store;
	reconciled = compared;
	numbers = 0;
	buffer_init(&answer, 2 * FRAME_MAX);
	must(ledger_init(&ledger, rows, 1, NULL, &now) == STATUS_OK);
	each_row(RECORD_DEALER, open_dealer);
	each_row(RECORD_PLAYER, open_player);
	each_row(RECORD_PLAYER, move_credit);
	each_row(RECORD_ROUND, inquire);
	sweep();
	each_row(RECORD_CALLBACK, operate);
	sweep();
	each_row(RECORD_ROUND, settle);
	sweep();
	/* Those that were held and had no attempt left are parked now. */
	each_row(RECORD_CALLBACK, operate);
	sweep();
	each_row(RECORD_ROUND, inquire);
	each_row(RECORD_CALLBACK, must_have_ended);
	each_row(RECORD_BET, must_be_over);
	each_row(RECORD_TOTAL, must_owe_nothing);
	ledger_free(&ledger);
	buffer_free(&answer);
}

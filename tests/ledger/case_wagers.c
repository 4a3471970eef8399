#include "case_wagers.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define SWEEPER 7 /* the sweeper's link */

static uint64_t senders;

void case_open_mode(int kind, enum wallet_mode mode)
{
	struct dealer values = {.mode = mode};

	case_open(kind);
	ck_assert_int_eq(case_dealer_set(DEALER_MODE, &values).verdict.refusal, REFUSAL_NONE);
}

void case_pass(int64_t ms)
{
	case_now_ms += ms;
	case_boot_ms += ms;
}

static struct bytes json(const char *text)
{
	return (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)};
}

struct bet_place_cmd case_bet_cmd(const char *id, const char *game, money_t amount)
{
	struct bet_place_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.client_id, "slots");
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), game);
	cmd.bet_amount = amount;
	strcpy(cmd.remark, "a remark");
	cmd.user_bet = json("{\"line\":1}");
	cmd.sender = ++senders;
	return cmd;
}

struct bet_place_result case_bet(const char *id, const char *game, money_t amount)
{
	struct bet_place_cmd cmd = case_bet_cmd(id, game, amount);

	return case_run(COMMAND_BET_PLACE, &cmd)->result.bet_place;
}

struct bet_cancel_cmd case_cancel_cmd(const char *id, const char *bet, const char *game)
{
	struct bet_cancel_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.client_id, "slots");
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), game);
	text_copy(cmd.bet_request_transaction_id, sizeof(cmd.bet_request_transaction_id), bet);
	strcpy(cmd.reason, "the table was closed");
	cmd.sender = ++senders;
	return cmd;
}

struct round_correct_cmd case_correct_cmd(const char *id, const char *game, uint32_t revision,
	enum round_result result, money_t payout)
{
	struct round_correct_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.client_id, "slots");
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), game);
	cmd.revision = revision;
	cmd.result = result;
	cmd.payout_amount = payout;
	strcpy(cmd.reason, "the card was misread");
	cmd.game_result = json("{\"reels\":[1,2,3]}");
	cmd.sender = ++senders;
	return cmd;
}

struct round_settle_cmd case_settle_cmd(const char *id, const char *game, enum round_result result,
	money_t payout)
{
	struct round_settle_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.client_id, "slots");
	strcpy(cmd.player.casino_id, "demo");
	strcpy(cmd.player.user_id, "alice");
	text_copy(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), id);
	text_copy(cmd.game_id, sizeof(cmd.game_id), game);
	cmd.result = result;
	cmd.payout_amount = payout;
	cmd.user_bet = json("{\"lines\":3}");
	cmd.game_result = json("{\"reels\":[7,7,7]}");
	cmd.user_bet_result = json("{\"line\":1}");
	cmd.sender = ++senders;
	return cmd;
}

struct round_settle_result case_settle(const char *id, const char *game, enum round_result result,
	money_t payout)
{
	struct round_settle_cmd cmd = case_settle_cmd(id, game, result, payout);

	return case_run(COMMAND_ROUND_SETTLE, &cmd)->result.round_settle;
}

struct callback_end_cmd case_end_cmd(const struct callback_grant *grant, enum callback_class class)
{
	struct callback_end_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.event = grant->event;
	cmd.kind = grant->kind;
	cmd.attempt = grant->attempt;
	strcpy(cmd.casino_id, "demo");
	cmd.outcome.class = class;
	/* A dealer's server that fails has a page of its own. */
	if (class == CALLBACK_UNKNOWN) {
		cmd.outcome.answer_length = 6;
		strcpy(cmd.outcome.answer_type, "text/html");
		strcpy(cmd.outcome.answer, "<busy>");
	}
	return cmd;
}

struct callback_end_result case_end(const struct callback_grant *grant, enum callback_class class)
{
	struct callback_end_cmd cmd = case_end_cmd(grant, class);

	return case_run(COMMAND_CALLBACK_END, &cmd)->result.callback_end;
}

struct callback_claim_result case_claim(uint64_t event)
{
	static struct slot slot;

	memset(&slot, 0, sizeof(slot));
	slot.command = COMMAND_CALLBACK_CLAIM;
	slot.link = SWEEPER;
	slot.cmd.callback_claim.event = event;
	slot.cmd.callback_claim.sender = ++senders;
	case_run_batch(&slot, 1);
	return slot.result.callback_claim;
}

enum refusal case_operate(uint64_t event, enum callback_action action)
{
	struct callback_operate_cmd cmd = {.operator= case_operator(),
		.event = event,
		.action = action};

	return case_run(COMMAND_CALLBACK_OPERATE, &cmd)->result.verdict.refusal;
}

uint64_t case_refused_result(unsigned int number, money_t payout)
{
	struct bet_place_result placed;
	struct round_settle_result settled;
	char id[16], game[16];

	sprintf(id, "pb%u", number);
	sprintf(game, "pg%u", number);
	placed = case_bet(id, game, CREDIT);
	case_end(&placed.send, CALLBACK_SUCCESS);
	sprintf(id, "pr%u", number);
	settled = case_settle(id, game, RESULT_WIN, payout);
	case_end(&settled.send, CALLBACK_REFUSED);
	return settled.event;
}

void case_refuse(uint64_t event)
{
	const struct callback_claim_result claimed = case_claim(event);

	ck_assert_int_eq(claimed.verdict.refusal, REFUSAL_NONE);
	case_end(&claimed.send, CALLBACK_REFUSED);
}

void case_park(uint64_t event)
{
	for (unsigned int i = 0; i < 2; i++) {
		case_pass(MINUTE);
		case_refuse(event);
	}
}

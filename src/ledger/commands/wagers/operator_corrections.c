/*
 * operator_corrections - an operator corrects a settled round (contract, "Corrections").
 *
 * The rules are those of a game server's correction (corrections.c). Its key is the operation id,
 * the audit has it, and it may be of a round of any game server.
 */
#include "base/text.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/wagers/corrections.h"
#include "ledger/rows/audit.h"

#include <inttypes.h>
#include <stdio.h>

#define CORRECT_ACTION "round correct"

static void as_correction(const struct operator_correct_cmd *cmd, struct round_correct_cmd *call)
{
	memset(call, 0, sizeof(*call));
	text_copy(call->request_transaction_id, sizeof(call->request_transaction_id),
		cmd->operator.operation_id);
	text_copy(call->player.casino_id, sizeof(call->player.casino_id), cmd->casino_id);
	text_copy(call->player.user_id, sizeof(call->player.user_id), cmd->user_id);
	text_copy(call->game_id, sizeof(call->game_id), cmd->game_id);
	call->revision = cmd->revision;
	call->result = cmd->result;
	call->payout_amount = cmd->payout_amount;
	call->allow_shortfall = cmd->allow_shortfall;
	text_copy(call->reason, sizeof(call->reason), cmd->operator.reason);
}

void operator_correct_keys(const void *arg, struct ws *ws)
{
	const struct operator_correct_cmd *cmd = arg;
	struct round_correct_cmd call;

	as_correction(cmd, &call);
	audit_keys(ws, &cmd->operator);
	round_correct_keys(&call, ws);
}

static void audit_correction(const struct operator_correct_cmd *cmd,
	const struct apply_context *context, struct ws *ws, const char *object,
	const struct operator_correct_result *result)
{
	char detail[DETAIL_SIZE], delta[MONEY_TEXT_MAX], payout[MONEY_TEXT_MAX];
	char shortfall[MONEY_TEXT_MAX];

	money_format(result->delta, 0, delta);
	money_format(result->payout_amount, 0, payout);
	money_format(result->shortfall, 0, shortfall);
	snprintf(detail, sizeof(detail),
		"game_id=%s revision=%" PRIu32 " result=%s payout_amount=%s delta=%s shortfall=%s "
		"transaction_id=%" PRIu64,
		cmd->game_id, result->revision, round_result_names[cmd->result], payout, delta,
		shortfall, result->transaction_id);
	audit_write(ws, context, &cmd->operator, CORRECT_ACTION, object, detail);
}

void operator_correct_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct operator_correct_cmd *cmd = arg;
	struct operator_correct_result *result = out;
	struct round_correct_result made;
	struct round_correct_cmd call;
	char object[OBJECT_SIZE];
	enum audit_state state;

	snprintf(object, sizeof(object), "player %s/%s", cmd->casino_id, cmd->user_id);
	state = audit_state(ws, &cmd->operator, CORRECT_ACTION, object, &result->verdict);
	if (state == AUDIT_OTHER)
		return;
	memset(&made, 0, sizeof(made));
	as_correction(cmd, &call);
	correction_apply(&call, cmd->preview, context, ws, &made);
	result->verdict = made.verdict;
	result->transaction_id = made.transaction_id;
	result->revision = made.revision;
	result->previous_result = made.previous_result;
	result->delta = made.delta;
	result->shortfall = made.shortfall;
	result->payout_amount = made.payout_amount;
	result->event = made.event;
	result->callback_state = made.callback_state;
	result->callback_attempts = made.callback_attempts;
	if (state == AUDIT_NEW && !cmd->preview && made.verdict.refusal == REFUSAL_NONE &&
		!made.verdict.replay)
		audit_correction(cmd, context, ws, object, result);
}

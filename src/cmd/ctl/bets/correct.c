/*
 * correct - implements `round correct`: shows what the correction of a settled round would do, asks,
 * and makes it (contract, "Corrections").
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "domain/callback.h"

#include <inttypes.h>
#include <string.h>

/* The correction as it is shown. */
struct shown_correction {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	enum wallet_mode mode;
	enum round_result previous_result;
	money_t previous_payout_amount;
	enum round_result result;
	money_t payout_amount;
	uint32_t revision;
	money_t delta;
	money_t shortfall;
	uint64_t transaction_id;                 /* 0: it is not made */
	char webhook_id[CALLBACK_EVENT_ID_SIZE]; /* "": nothing is sent */
	char effect[80];
};

static const struct field shown_fields[] = {
	FIELD(FIELD_STR, shown_correction, casino_id),
	FIELD(FIELD_STR, shown_correction, user_id),
	FIELD(FIELD_STR, shown_correction, game_id),
	FIELD_NAMED(shown_correction, mode, wallet_mode_names, WALLET_MODE_COUNT),
	FIELD_NAMED(shown_correction, previous_result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, shown_correction, previous_payout_amount),
	FIELD_NAMED(shown_correction, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, shown_correction, payout_amount),
	FIELD(FIELD_U32, shown_correction, revision),
	FIELD(FIELD_MONEY, shown_correction, delta),
	FIELD(FIELD_MONEY, shown_correction, shortfall),
	FIELD(FIELD_U64, shown_correction, transaction_id),
	FIELD(FIELD_STR, shown_correction, webhook_id),
	FIELD(FIELD_STR, shown_correction, effect),
	FIELD_END,
};

static const struct output_column shown_columns[] = {
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"user id", "user_id", OUTPUT_PLAIN},
	{"game id", "game_id", OUTPUT_PLAIN},
	{"wallet", "mode", OUTPUT_PLAIN},
	{"result in force", "previous_result", OUTPUT_PLAIN},
	{"its payout", "previous_payout_amount", OUTPUT_PLAIN},
	{"new result", "result", OUTPUT_PLAIN},
	{"new payout", "payout_amount", OUTPUT_PLAIN},
	{"revision", "revision", OUTPUT_PLAIN},
	{"difference", "delta", OUTPUT_PLAIN},
	{"not taken", "shortfall", OUTPUT_IF_ANY},
	{"effect", "effect", OUTPUT_PLAIN},
	{"transaction id", "transaction_id", OUTPUT_IF_ANY},
	{"webhook-id", "webhook_id", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Reads RESULT and PAYOUT. */
static enum outcome read_result(struct ctl *ctl, struct operator_correct_cmd *cmd)
{
	const char *payout = ctl->arg_count > 3 ? ctl->args[3] : NULL;

	for (unsigned int i = 0; i < ROUND_RESULT_COUNT; i++) {
		if (i != RESULT_NONE && strcmp(ctl->args[2], round_result_names[i]) == 0)
			cmd->result = (enum round_result)i;
	}
	if (cmd->result == RESULT_NONE)
		return ctl_usage(ctl, "'%s' is no result: win, loss or refund", ctl->args[2]);
	if ((cmd->result == RESULT_WIN) != (payout != NULL))
		return ctl_usage(ctl, "PAYOUT must be given with a win, and only with a win");
	if (payout && (!money_from_text(payout, &cmd->payout_amount) || cmd->payout_amount < 0))
		return ctl_usage(ctl,
			"'%s' is not an amount: digits[.digits], at most 11 digits and 4 decimals",
			payout);
	return OUTCOME_DONE;
}

/* Fetches the round, and takes the next revision unless --revision names one. */
static enum outcome find_round(struct ctl *ctl, struct operator_correct_cmd *cmd,
	struct round *round)
{
	const char *text = ctl->options[OPTION_REVISION];
	struct player player;
	uint64_t revision;
	bool found = false;
	enum outcome code =
		names_read_external_id(&ctl->session, "a game id", ctl->args[1], cmd->game_id);

	if (code == OUTCOME_DONE)
		code = names_player_word(&ctl->session, ctl->args[0], &player);
	if (code != OUTCOME_DONE)
		return code;
	memcpy(cmd->casino_id, player.casino_id, sizeof(cmd->casino_id));
	memcpy(cmd->user_id, player.user_id, sizeof(cmd->user_id));
	memset(round, 0, sizeof(*round));
	memcpy(round->player_id, player.player_id, sizeof(round->player_id));
	memcpy(round->game_id, cmd->game_id, sizeof(round->game_id));
	code = list_fetch(&ctl->session, RECORD_ROUND, round, &found, NULL);
	if (code == OUTCOME_DONE && !found)
		return ctl_fail(ctl, OUTCOME_FAILED, "game_not_found",
			"the player has no game '%s'; see `creditbridgectl bet list`",
			cmd->game_id);
	cmd->revision = round->revision + 1;
	if (!text)
		return code;
	if (!text_unsigned(text, ROUND_CORRECTIONS_MAX, &revision) || !revision)
		return ctl_usage(ctl, "--revision takes 1 to %d", ROUND_CORRECTIONS_MAX);
	cmd->revision = (uint32_t)revision;
	return code;
}

/* Describes what moves. A shortfall that is taken now reduces what moves. */
static void describe_effect(struct shown_correction *shown)
{
	const char *effect = "nothing moves";
	const bool here = shown->mode == WALLET_TRANSFER;

	/* A seamless dealer reports the part that it could not take only in its answer. */
	if (shown->delta > 0 && shown->delta + shown->shortfall)
		effect = here ? "credit is added here" : "the dealer is sent a betting-result";
	else if (shown->delta < 0 && !here)
		effect = "the dealer is sent a betting-correction";
	else if (shown->delta < 0 && shown->delta + shown->shortfall)
		effect = "credit is taken here";
	text_copy(shown->effect, sizeof(shown->effect), effect);
}

static void fill_shown(const struct operator_correct_cmd *cmd, const struct round *round,
	const struct operator_correct_result *result, struct shown_correction *shown)
{
	memset(shown, 0, sizeof(*shown));
	text_copy(shown->casino_id, sizeof(shown->casino_id), cmd->casino_id);
	text_copy(shown->user_id, sizeof(shown->user_id), cmd->user_id);
	text_copy(shown->game_id, sizeof(shown->game_id), cmd->game_id);
	shown->mode = round->mode;
	shown->previous_result = result->previous_result;
	shown->previous_payout_amount = result->payout_amount - result->delta;
	shown->result = cmd->result;
	shown->payout_amount = result->payout_amount;
	shown->revision = result->revision;
	shown->delta = result->delta;
	shown->shortfall = result->shortfall;
	shown->transaction_id = result->transaction_id;
	if (result->event)
		callback_event_id(result->delta > 0 ? CALLBACK_BETTING_RESULT
						    : CALLBACK_BETTING_CORRECTION,
			result->event, shown->webhook_id);
	describe_effect(shown);
}

static enum outcome print_correction(struct ctl *ctl, const struct shown_correction *shown,
	const struct operator_correct_result *result)
{
	const bool made = shown->transaction_id;
	struct output_json json;
	enum outcome code;

	output_title(ctl, made ? "Correction" : "Correction, not made yet");
	code = output_record(ctl, shown_fields, shown_columns, shown);
	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->json && result->verdict.replay)
		fputs("It was made before; nothing moved now.\n", stdout);
	if (!ctl->json && !made)
		return OUTCOME_DONE;
	output_json_open(&json, ctl);
	output_json_bool(&json, "dry_run", !made);
	output_json_fields(&json, shown_fields, shown);
	output_json_string(&json, "operation_id", ctl->session.operator.operation_id);
	output_json_bool(&json, "replay", result->verdict.replay);
	return output_json_close(&json);
}

/* The correction may have been made: only the same operation id can find out. */
static enum outcome correction_unknown(struct ctl *ctl, const struct operator_correct_cmd *cmd)
{
	return ctl_fail(ctl, OUTCOME_UNREACHABLE, "outcome_unknown",
		"the outcome is not known: the ledger did not answer in time. Repeat the command "
		"with --operation-id %s --revision %" PRIu32 "; it is then made once",
		cmd->operator.operation_id, cmd->revision);
}

/* Asks after the preview. Returns false if nothing is to be done, with the outcome in *code. */
static bool confirm_correction(struct ctl *ctl, const struct shown_correction *shown,
	const struct operator_correct_result *preview, enum outcome *code)
{
	if (ctl->options[OPTION_DRY_RUN] || preview->verdict.replay) {
		*code = print_correction(ctl, shown, preview);
		return false;
	}
	if (!ctl->options[OPTION_YES] && ctl_can_ask() && !ctl->json) {
		*code = print_correction(ctl, shown, preview);
		if (*code != OUTCOME_DONE)
			return false;
	}
	return ctl_confirm(ctl, "Correct the round?", code);
}

enum outcome ctl_round_correct(struct ctl *ctl)
{
	struct operator_correct_cmd cmd;
	struct operator_correct_result result;
	struct shown_correction shown;
	struct round round;
	bool unknown = false;
	enum outcome code;

	memset(&cmd, 0, sizeof(cmd));
	code = read_result(ctl, &cmd);
	if (code == OUTCOME_DONE)
		code = ctl_operation(ctl);
	if (code == OUTCOME_DONE)
		code = find_round(ctl, &cmd, &round);
	if (code != OUTCOME_DONE)
		return code;
	cmd.operator= ctl->session.operator;
	cmd.allow_shortfall = ctl->options[OPTION_ALLOW_SHORTFALL];
	cmd.preview = true;
	code = session_do(&ctl->session, COMMAND_OPERATOR_CORRECT, &cmd, &result, NULL);
	if (code != OUTCOME_DONE)
		return code;
	fill_shown(&cmd, &round, &result, &shown);
	if (!confirm_correction(ctl, &shown, &result, &code))
		return code;
	cmd.preview = false;
	code = session_do(&ctl->session, COMMAND_OPERATOR_CORRECT, &cmd, &result, &unknown);
	if (unknown)
		return correction_unknown(ctl, &cmd);
	if (code != OUTCOME_DONE)
		return code;
	fill_shown(&cmd, &round, &result, &shown);
	return print_correction(ctl, &shown, &result);
}

/*
 * player - implements `player add`, `list`, `show`, `suspend`, `resume`, `ledger`, `adjust`.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "domain/callback.h"
#include "cmd/ctl/common/output.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

static const struct output_column player_columns[] = {
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"user id", "user_id", OUTPUT_PLAIN},
	{"player id", "player_id", OUTPUT_PLAIN},
	{"balance", "balance", OUTPUT_PLAIN},
	{"movements", "entry_seq", OUTPUT_PLAIN},
	{"suspended", "suspended", OUTPUT_PLAIN},
	{"created", "created_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column list_columns[] = {
	{"USER", "user_id", OUTPUT_PLAIN},
	{"PLAYER", "player_id", OUTPUT_PLAIN},
	{"BALANCE", "balance", OUTPUT_PLAIN},
	{"MOVEMENTS", "entry_seq", OUTPUT_PLAIN},
	{"SUSPENDED", "suspended", OUTPUT_PLAIN},
	{"CREATED", "created_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

#define LEDGER_TRANSACTION 6 /* its place in ledger_columns */
static const struct output_column ledger_columns[] = {
	{"SEQ", "entry_seq", OUTPUT_PLAIN},
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"KIND", "kind", OUTPUT_PLAIN},
	{"AMOUNT", "amount", OUTPUT_PLAIN},
	{"BEFORE", "before_balance", OUTPUT_PLAIN},
	{"AFTER", "current_balance", OUTPUT_PLAIN},
	{"TRANSACTION", "transaction_id", OUTPUT_PLAIN},
	{"REFERENCE", "request_transaction_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column put_columns[] = {
	{"player id", "player_id", OUTPUT_PLAIN},
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"user id", "user_id", OUTPUT_PLAIN},
	{"currency", "currency", OUTPUT_PLAIN},
	{"created", "created", OUTPUT_PLAIN},
	{"suspended", "suspended", OUTPUT_PLAIN},
	{"balance", "balance", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column adjust_columns[] = {
	{"player id", "player_id", OUTPUT_PLAIN},
	{"amount", "amount", OUTPUT_PLAIN},
	{"before", "before_balance", OUTPUT_PLAIN},
	{"after", "current_balance", OUTPUT_PLAIN},
	{"transaction id", "transaction_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Reads CASINO USER from the arguments. */
static enum outcome read_ids(struct ctl *ctl, char casino_id[CASINO_ID_SIZE],
	char user_id[EXTERNAL_ID_SIZE])
{
	enum outcome code = names_read_casino_id(&ctl->session, ctl->args[0], casino_id);

	if (code == OUTCOME_DONE)
		code = names_read_external_id(&ctl->session, "a user id", ctl->args[1], user_id);
	return code;
}

/* Fetches the player that the arguments name: CASINO USER, PLAYER_ID or CASINO/USER. */
static enum outcome fetch_player_row(struct ctl *ctl, struct player *player)
{
	if (ctl->arg_count == 2)
		return names_player(&ctl->session, ctl->args[0], ctl->args[1], player);
	return names_player_word(&ctl->session, ctl->args[0], player);
}

static enum outcome put_player(struct ctl *ctl, struct player_put_cmd *cmd)
{
	struct player_put_result result;
	struct output_json json;
	enum outcome code = read_ids(ctl, cmd->casino_id, cmd->user_id);

	if (code == OUTCOME_DONE && !signature_random_id(cmd->player_id, sizeof(cmd->player_id)))
		return session_no_random(&ctl->session);
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_PLAYER_PUT, cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = output_record(ctl, output_result(COMMAND_PLAYER_PUT), put_columns, &result);
	if (code != OUTCOME_DONE)
		return code;
	output_json_open(&json, ctl);
	output_json_fields(&json, output_result(COMMAND_PLAYER_PUT), &result);
	return output_json_close(&json);
}

enum outcome ctl_player_add(struct ctl *ctl)
{
	struct player_put_cmd cmd = {.operator= ctl->session.operator};

	return put_player(ctl, &cmd);
}

enum outcome ctl_player_suspend(struct ctl *ctl)
{
	struct player_put_cmd cmd = {.operator= ctl->session.operator,
		.change_suspended = true,
		.suspended = true};

	return put_player(ctl, &cmd);
}

enum outcome ctl_player_resume(struct ctl *ctl)
{
	struct player_put_cmd cmd = {.operator= ctl->session.operator,
		.change_suspended = true,
		.suspended = false};

	return put_player(ctl, &cmd);
}

enum outcome ctl_player_list(struct ctl *ctl)
{
	struct output_list out;
	struct list list;
	struct player row = {.casino_id = ""};
	struct dealer dealer;
	struct total total = {.casino_id = ""};
	uint64_t limit;
	bool found;
	enum outcome code = ctl_list_limit(ctl, 100, &limit);

	if (code == OUTCOME_DONE)
		code = names_dealer(&ctl->session, ctl->args[0], &dealer);
	if (code != OUTCOME_DONE)
		return code;
	memcpy(total.casino_id, dealer.casino_id, sizeof(total.casino_id));
	code = list_fetch(&ctl->session, RECORD_TOTAL, &total, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	memcpy(row.casino_id, dealer.casino_id, sizeof(row.casino_id));
	list_open(&list, &ctl->session, RECORD_PLAYER, false, 1, &row);
	if (ctl->options[OPTION_AFTER]) {
		code = names_read_external_id(&ctl->session, "--after", ctl->options[OPTION_AFTER],
			row.user_id);
		if (code != OUTCOME_DONE)
			return list_end(&list, code);
		list_behind(&list, &row);
	}
	output_list_open(&out, ctl, "players", "players", player_fields, list_columns);
	out.total = total.players;
	for (; limit && list_next(&list, &row); limit--)
		output_list_add(&out, &row);
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

/* For people: the balance of the ledger is not all of the credit of a seamless player. */
static void add_credit_place(struct output_pairs *pairs, const struct player *player,
	enum wallet_mode mode)
{
	if (mode == WALLET_TRANSFER)
		output_pairs_add(pairs, "credit", "on the platform: the balance");
	else
		output_pairs_add(pairs, "credit",
			"at dealer %s, besides the balance; `creditbridgectl dealer ping %s --user "
			"%s` asks for it",
			player->casino_id, player->casino_id, player->user_id);
}

enum outcome ctl_player_show(struct ctl *ctl)
{
	struct player player;
	struct dealer dealer;
	struct output_pairs pairs;
	struct output_json json;
	enum outcome code = fetch_player_row(ctl, &player);

	if (code == OUTCOME_DONE)
		code = names_dealer(&ctl->session, player.casino_id, &dealer);
	if (code != OUTCOME_DONE)
		return code;
	output_pairs_open(&pairs, ctl);
	output_pairs_fields(&pairs, player_fields, player_columns, &player);
	add_credit_place(&pairs, &player, dealer.mode);
	code = output_pairs_close(&pairs);
	if (code != OUTCOME_DONE)
		return code;
	output_json_open(&json, ctl);
	output_json_fields(&json, player_fields, &player);
	output_json_string(&json, "credit_at",
		dealer.mode == WALLET_TRANSFER ? "platform" : "dealer");
	return output_json_close(&json);
}

enum outcome ctl_player_ledger(struct ctl *ctl)
{
	struct output_list out;
	struct movements movements;
	struct player player;
	struct transaction row;
	uint64_t limit, after = 0;
	const char *text = ctl->options[OPTION_AFTER];
	enum outcome code = ctl_list_limit(ctl, 0, &limit);

	if (code == OUTCOME_DONE && text &&
		(!text_unsigned(text, TRANSACTION_ID_MAX, &after) || !after))
		code = ctl_usage(ctl,
			"--after takes the TRANSACTION of the last row of the list before; not '%s'",
			text);
	if (code == OUTCOME_DONE)
		code = fetch_player_row(ctl, &player);
	if (code != OUTCOME_DONE)
		return code;
	movements_open(&movements, &ctl->session, &player);
	if (after)
		code = movements_behind(&movements, after);
	if (code != OUTCOME_DONE)
		return movements_end(&movements, code);
	output_list_open(&out, ctl, "entries", "movements", transaction_fields, ledger_columns);
	out.total = player.entry_seq;
	out.after_column = LEDGER_TRANSACTION;
	for (; limit && movements_next(&movements, &row); limit--)
		output_list_add(&out, &row);
	return output_list_close(&out, movements_end(&movements, OUTCOME_DONE));
}

/* Prints @text quoted, so that a shell reads it as one word. */
static void print_word(FILE *file, const char *text)
{
	fputs(" '", file);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", file);
		else
			fputc(*text, file);
	}
	fputc('\'', file);
}

/*
 * The transaction may have been made. Only a repetition with the same operation id can find out
 * without making it twice.
 */
static enum outcome adjust_unknown(struct ctl *ctl, const char *amount)
{
	ctl_fail(ctl, OUTCOME_UNREACHABLE, "outcome_unknown",
		"the outcome is not known: the ledger did not answer in time. Repeat it with "
		"the same operation id, %s",
		ctl->session.operator.operation_id);
	fputs("This repeats it safely:\n  creditbridgectl", stderr);
	if (ctl->options[OPTION_CONFIG]) {
		fputs(" --config", stderr);
		print_word(stderr, ctl->options[OPTION_CONFIG]);
	}
	fputs(" player adjust", stderr);
	print_word(stderr, ctl->args[0]);
	print_word(stderr, ctl->args[1]);
	fprintf(stderr, " %s", amount);
	if (ctl->options[OPTION_FOR]) {
		fputs(" --for", stderr);
		print_word(stderr, ctl->options[OPTION_FOR]);
	}
	fprintf(stderr, " --operation-id %s --reason", ctl->session.operator.operation_id);
	print_word(stderr, ctl->session.operator.reason);
	fputc('\n', stderr);
	return OUTCOME_UNREACHABLE;
}

/* Reads --for, a betting-result. */
static enum outcome read_event(struct ctl *ctl, uint64_t *event)
{
	const char *text = ctl->options[OPTION_FOR];
	enum callback_kind kind;

	if (!text)
		return OUTCOME_DONE;
	if (callback_event_read(text, event, &kind) &&
		(kind == CALLBACK_BETTING_RESULT || kind == CALLBACK_KIND_COUNT))
		return OUTCOME_DONE;
	return ctl_usage(ctl,
		"--for takes a betting-result: its number, or the webhook-id as in "
		"betting-result-17; not '%s'",
		text);
}

static enum outcome print_adjust(struct ctl *ctl, const struct adjust_result *result)
{
	struct output_json json;
	enum outcome code =
		output_record(ctl, output_result(COMMAND_ADJUST), adjust_columns, result);

	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->json)
		fputs(result->verdict.replay ? "It was made before; nothing moved now.\n" : "",
			stdout);
	output_json_open(&json, ctl);
	output_json_fields(&json, output_result(COMMAND_ADJUST), result);
	output_json_string(&json, "operation_id", ctl->session.operator.operation_id);
	output_json_bool(&json, "replay", result->verdict.replay);
	return output_json_close(&json);
}

enum outcome ctl_player_adjust(struct ctl *ctl)
{
	const char *amount = ctl->negative[0] ? ctl->negative : ctl->args[2];
	struct adjust_cmd cmd;
	struct adjust_result result;
	bool unknown = false;
	enum outcome code;

	memset(&cmd, 0, sizeof(cmd));
	code = ctl_operation(ctl);
	if (code != OUTCOME_DONE)
		return code;
	if (!amount || !money_from_text(amount, &cmd.amount) || cmd.amount == 0)
		return ctl_usage(ctl,
			"'%s' is not an amount: [-]digits[.digits], not 0, at "
			"most 11 digits and 4 decimals",
			amount ? amount : "");
	cmd.operator= ctl->session.operator;
	code = read_event(ctl, &cmd.event);
	if (code == OUTCOME_DONE)
		code = read_ids(ctl, cmd.casino_id, cmd.user_id);
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_ADJUST, &cmd, &result, &unknown);
	if (unknown)
		return adjust_unknown(ctl, amount);
	return code == OUTCOME_DONE ? print_adjust(ctl, &result) : code;
}

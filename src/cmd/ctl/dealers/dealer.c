/*
 * dealer - implements `dealer add`, `list`, `show`, `set`, `suspend`, `resume`.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/secret.h"
#include "cmd/ctl/dealers/dealer_breaker.h"
#include "cmd/ctl/dealers/dealer_settings.h"
#include "domain/callback.h"

#include <stdio.h>
#include <string.h>

static const struct output_column dealer_columns[] = {
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"currency", "currency", OUTPUT_PLAIN},
	{"mode", "mode", OUTPUT_PLAIN},
	{"decimals", "decimals", OUTPUT_PLAIN},
	{"suspended", "suspended", OUTPUT_PLAIN},
	{"utc offset (min)", "utc_offset_min", OUTPUT_PLAIN},
	{"rate limit (1/s)", "rate_limit", OUTPUT_PLAIN},
	{"signature", "signature_algorithm", OUTPUT_PLAIN},
	{"encoding", "signature_encoding", OUTPUT_PLAIN},
	{"url", "url", OUTPUT_PLAIN},
	{"http allowed", "allow_http", OUTPUT_PLAIN},
	{"refund delay (s)", "refund_delay_s", OUTPUT_PLAIN},
	{"max in flight", "max_inflight", OUTPUT_PLAIN},
	{"path of balance-inquire", "path_balance_inquire", OUTPUT_PLAIN},
	{"path of betting", "path_betting", OUTPUT_PLAIN},
	{"path of betting-result", "path_betting_result", OUTPUT_PLAIN},
	{"path of betting-refund", "path_betting_refund", OUTPUT_PLAIN},
	{"path of betting-correction", "path_betting_correction", OUTPUT_IF_ANY},
	{"unknown bet ids", "unknown_bet_ids", OUTPUT_IF_ANY},
	{"duplicate ids", "duplicate_ids", OUTPUT_IF_ANY},
	{"success needs balance", "success_needs_balance", OUTPUT_IF_ANY},
	{"sends currency", "send_currency", OUTPUT_IF_ANY},
	{"signing key", "signing_key_id", OUTPUT_PLAIN},
	{"created", "created_ms", OUTPUT_PLAIN},
	{"last exam", "exam_ms", OUTPUT_IF_ANY},
	{"cases passed in it", "exam_passed", OUTPUT_IF_ANY},
	{"cases failed in it", "exam_failed", OUTPUT_IF_ANY},
	{"cases not judged in it", "exam_not_judged", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column total_columns[] = {
	{"players", "players", OUTPUT_PLAIN},
	{"transferred in", "transferred_in", OUTPUT_PLAIN},
	{"transferred out", "transferred_out", OUTPUT_PLAIN},
	{"adjusted", "adjusted", OUTPUT_PLAIN},
	{"staked", "staked", OUTPUT_PLAIN},
	{"paid", "paid", OUTPUT_PLAIN},
	{"stakes of cancelled bets", "cancelled", OUTPUT_IF_ANY},
	{"corrections of rounds", "corrected", OUTPUT_IF_ANY},
	{"corrections not taken", "shortfall", OUTPUT_IF_ANY},
	{"balance", "balance", OUTPUT_PLAIN},
	{"staked at the dealer", "seamless_staked", OUTPUT_IF_ANY},
	{"paid by the dealer", "seamless_paid", OUTPUT_IF_ANY},
	{"refunded by the dealer", "seamless_refunded", OUTPUT_IF_ANY},
	{"payouts that the dealer owes", "owed_payouts", OUTPUT_IF_ANY},
	{"refunds that the dealer owes", "owed_refunds", OUTPUT_IF_ANY},
	{"open bets and results", "open_bets", OUTPUT_PLAIN},
	{"bets accepted with balance", "bets_with_balance", OUTPUT_IF_ANY},
	{"without balance", "bets_without_balance", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column list_columns[] = {
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"MODE", "mode", OUTPUT_PLAIN},
	{"CURRENCY", "currency", OUTPUT_PLAIN},
	{"DECIMALS", "decimals", OUTPUT_PLAIN},
	{"SUSPENDED", "suspended", OUTPUT_PLAIN},
	{"KEY", "signing_key_id", OUTPUT_PLAIN},
	{"CREATED", "created_ms", OUTPUT_PLAIN},
	{"URL", "url", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column key_columns[] = {
	{"KEY", "key_id", OUTPUT_PLAIN},
	{"CREATED", "created_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

#define WARNING_MAX 320 /* bytes of a warning that contains two casino ids */

/*
 * Writes to @text the reason why @dealer cannot work, and returns @text. Returns NULL if there is
 * none.
 */
static const char *dealer_warning(const struct dealer *dealer, char *text, size_t size)
{
	if (dealer->mode != WALLET_SEAMLESS || dealer->url[0])
		return NULL;
	snprintf(text, size,
		"dealer %s has a seamless wallet and no URL: every bet is refused until "
		"`creditbridgectl dealer set %s --url URL`",
		dealer->casino_id, dealer->casino_id);
	return text;
}

static enum outcome print_keys(struct ctl *ctl, const struct dealer *dealer)
{
	struct output_list list;

	output_list_open(&list, ctl, NULL, NULL, dealer_key_fields, key_columns);
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (dealer->keys[i].key_id[0])
			output_list_add(&list, &dealer->keys[i]);
	}
	return output_list_close(&list, OUTCOME_DONE);
}

/* For people: fills in the default paths of callbacks. */
static struct dealer with_paths(const struct dealer *dealer)
{
	struct dealer shown = *dealer;
	char *const paths[CALLBACK_KIND_COUNT] = {shown.path_balance_inquire, shown.path_betting,
		shown.path_betting_result, shown.path_betting_refund,
		shown.path_betting_correction};

	for (unsigned int kind = 0; kind < CALLBACK_KIND_COUNT; kind++)
		text_copy(paths[kind], CALLBACK_PATH_SIZE, dealer_callback_path(dealer, kind));
	return shown;
}

/* @total, @breaker: NULL if the command does not show them. */
static enum outcome print_dealer(struct ctl *ctl, const struct dealer *dealer,
	const struct total *total, const struct dealer_breaker *breaker)
{
	const struct dealer shown = with_paths(dealer);
	char text[WARNING_MAX];
	const char *warning = dealer_warning(dealer, text, sizeof(text));
	enum outcome code;
	struct output_json json;

	output_title(ctl, "Dealer");
	code = output_record(ctl, dealer_fields, dealer_columns, &shown);
	if (code == OUTCOME_DONE && total) {
		output_title(ctl, "Sums");
		code = output_record(ctl, total_fields, total_columns, total);
	}
	output_title(ctl, "Keys");
	if (code == OUTCOME_DONE)
		code = print_keys(ctl, dealer);
	if (code == OUTCOME_DONE && breaker)
		code = dealer_breaker_print(ctl, dealer->casino_id, breaker);
	if (code != OUTCOME_DONE)
		return code;
	output_json_open(&json, ctl);
	output_json_fields(&json, dealer_fields, dealer);
	if (total)
		output_json_record(&json, "total", total_fields, total);
	if (breaker)
		dealer_breaker_json(&json, breaker);
	if (warning) {
		output_json_string(&json, "warning", warning);
		ctl_tell(NULL, "%s", warning);
	}
	return output_json_close(&json);
}

enum outcome ctl_dealer_show(struct ctl *ctl)
{
	struct dealer dealer;
	struct dealer_breaker breaker;
	struct total total = {0};
	enum outcome code = names_dealer(&ctl->session, ctl->args[0], &dealer);
	bool found = false;

	if (code != OUTCOME_DONE)
		return code;
	memcpy(total.casino_id, dealer.casino_id, sizeof(total.casino_id));
	code = list_fetch(&ctl->session, RECORD_TOTAL, &total, &found, NULL);
	if (code == OUTCOME_DONE)
		code = dealer_breaker_fetch(ctl, dealer.casino_id, &breaker);
	if (code != OUTCOME_DONE)
		return code;
	return print_dealer(ctl, &dealer, found ? &total : NULL, &breaker);
}

enum outcome ctl_dealer_list(struct ctl *ctl)
{
	struct output_list out;
	struct list list;
	struct dealer row;
	char text[WARNING_MAX];

	list_open(&list, &ctl->session, RECORD_DEALER, false, 0, NULL);
	output_list_open(&out, ctl, "dealers", "dealers", dealer_fields, list_columns);
	while (list_next(&list, &row)) {
		/*
		 * In the table the warning replaces the URL. In JSON that member is a URL or
		 * empty.
		 */
		if (!ctl->json && dealer_warning(&row, text, sizeof(text)))
			text_copy(row.url, sizeof(row.url), "none: its bets are refused");
		output_list_add(&out, &row);
	}
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

enum outcome ctl_dealer_add(struct ctl *ctl)
{
	struct dealer_put_cmd cmd = {.operator= ctl->session.operator, .create = true };
	struct dealer_put_result result;
	char text[WARNING_MAX];
	enum outcome code;

	code = names_read_casino_id(&ctl->session, ctl->args[0], cmd.dealer.casino_id);
	if (code == OUTCOME_DONE)
		code = dealer_settings_apply(ctl, true, &cmd.dealer, &cmd.mask);
	if (code == OUTCOME_DONE)
		code = secret_new_key(ctl, cmd.dealer.keys[0].secret);
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_DEALER_PUT, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = secret_print_key(ctl, "dealer", "casino_id", cmd.dealer.casino_id,
			result.dealer.signing_key_id, cmd.dealer.keys[0].secret,
			dealer_warning(&result.dealer, text, sizeof(text)));
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

enum outcome ctl_dealer_set(struct ctl *ctl)
{
	struct dealer_put_cmd cmd = {.operator= ctl->session.operator};
	struct dealer_put_result result;
	/* The ledger validates the URL together with the members that stay unchanged. */
	enum outcome code = names_dealer(&ctl->session, ctl->args[0], &cmd.dealer);

	if (code == OUTCOME_DONE)
		code = dealer_settings_apply(ctl, false, &cmd.dealer, &cmd.mask);
	if (code == OUTCOME_DONE && !cmd.mask)
		return ctl_usage(ctl, "no setting was given, such as --url or --timeout-ms");
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_DEALER_PUT, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = print_dealer(ctl, &result.dealer, NULL, NULL);
	return code;
}

static enum outcome set_suspended(struct ctl *ctl, bool suspended)
{
	struct dealer_put_cmd cmd = {
		.operator= ctl->session.operator,
		.mask = UINT32_C(1) << DEALER_SUSPENDED,
		.dealer = {.suspended = suspended},
	};
	struct dealer_put_result result;
	struct output_json json;
	enum outcome code = names_read_casino_id(&ctl->session, ctl->args[0], cmd.dealer.casino_id);

	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_DEALER_PUT, &cmd, &result, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->json)
		printf("dealer %s is %s\n", result.dealer.casino_id,
			result.dealer.suspended ? "suspended" : "active");
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", result.dealer.casino_id);
	output_json_bool(&json, "suspended", result.dealer.suspended);
	return output_json_close(&json);
}

enum outcome ctl_dealer_suspend(struct ctl *ctl)
{
	return set_suspended(ctl, true);
}

enum outcome ctl_dealer_resume(struct ctl *ctl)
{
	return set_suspended(ctl, false);
}

static enum outcome change_key(struct ctl *ctl, struct dealer_key_cmd *cmd,
	struct dealer_key_result *result)
{
	const bool named = cmd->action == KEY_USE || cmd->action == KEY_RETIRE;
	const char *key_id = named ? ctl->args[1] : NULL;
	enum outcome code = names_read_casino_id(&ctl->session, ctl->args[0], cmd->casino_id);

	if (code != OUTCOME_DONE)
		return code;
	if (key_id && !text_copy(cmd->key_id, sizeof(cmd->key_id), key_id))
		return ctl_fail(ctl, OUTCOME_FAILED, "key_not_found",
			"dealer %s has no key '%.80s'; `creditbridgectl dealer show %s` lists its keys",
			cmd->casino_id, key_id, cmd->casino_id);
	return session_do(&ctl->session, COMMAND_DEALER_KEY, cmd, result, NULL);
}

enum outcome ctl_dealer_key_add(struct ctl *ctl)
{
	struct dealer_key_cmd cmd = {.operator= ctl->session.operator, .action = KEY_ADD };
	struct dealer_key_result result;
	enum outcome code = secret_new_key(ctl, cmd.secret);

	if (code == OUTCOME_DONE)
		code = change_key(ctl, &cmd, &result);
	if (code == OUTCOME_DONE)
		code = secret_print_key(ctl, "dealer", "casino_id", cmd.casino_id, result.key_id,
			cmd.secret, NULL);
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

static enum outcome use_or_retire_dealer_key(struct ctl *ctl, enum key_action action,
	const char *done)
{
	struct dealer_key_cmd cmd = {.operator= ctl->session.operator, .action = action };
	struct dealer_key_result result;
	enum outcome code = change_key(ctl, &cmd, &result);

	if (code == OUTCOME_DONE)
		code = secret_print_done(ctl, "dealer", "casino_id", cmd.casino_id, cmd.key_id,
			done);
	return code;
}

enum outcome ctl_dealer_key_use(struct ctl *ctl)
{
	return use_or_retire_dealer_key(ctl, KEY_USE, "signs callbacks now");
}

enum outcome ctl_dealer_key_retire(struct ctl *ctl)
{
	return use_or_retire_dealer_key(ctl, KEY_RETIRE, "is retired");
}

enum outcome ctl_dealer_key_confirm(struct ctl *ctl)
{
	struct dealer_key_cmd cmd = {.operator= ctl->session.operator, .action = KEY_CONFIRM };
	struct dealer_key_result result;
	enum outcome code = change_key(ctl, &cmd, &result);

	return code == OUTCOME_DONE
		? secret_print_confirmed(ctl, "dealer", "casino_id", cmd.casino_id)
		: code;
}

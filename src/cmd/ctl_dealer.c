/*
 * ctl_dealer - dealer add, list, show, set, suspend, resume.
 */
#include "cmd/ctl.h"

#include "base/text.h"
#include "cmd/ctl_dealer_settings.h"
#include "cmd/ctl_list.h"
#include "cmd/ctl_output.h"
#include "cmd/ctl_secret.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

/* What --json prints of a dealer; the keys follow, without the empty places. */
static const struct field dealer_view[] = {
	FIELD(FIELD_STR, dealer, casino_id),
	FIELD(FIELD_STR, dealer, currency),
	FIELD_NAMED(dealer, mode, wallet_mode_names, WALLET_MODE_COUNT),
	FIELD(FIELD_U8, dealer, decimals),
	FIELD(FIELD_BOOL, dealer, suspended),
	FIELD(FIELD_I32, dealer, utc_offset_min),
	FIELD(FIELD_U32, dealer, rate_limit),
	FIELD_NAMED(dealer, signature_algorithm, signature_algorithm_names,
		SIGNATURE_ALGORITHM_COUNT),
	FIELD_NAMED(dealer, signature_encoding, signature_encoding_names,
		SIGNATURE_ENCODING_COUNT),
	FIELD(FIELD_STR, dealer, url),
	FIELD(FIELD_BOOL, dealer, allow_http),
	FIELD(FIELD_U32, dealer, refund_delay_s),
	FIELD(FIELD_U32, dealer, max_inflight),
	FIELD(FIELD_STR, dealer, signing_key_id),
	FIELD(FIELD_TIME_MS, dealer, created_ms),
	FIELD_END,
};

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
	{"signing key", "signing_key_id", OUTPUT_PLAIN},
	{"created", "created_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column total_columns[] = {
	{"players", "players", OUTPUT_PLAIN},
	{"transferred in", "transferred_in", OUTPUT_PLAIN},
	{"transferred out", "transferred_out", OUTPUT_PLAIN},
	{"adjusted", "adjusted", OUTPUT_PLAIN},
	{"balance", "balance", OUTPUT_PLAIN},
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

static enum ctl_exit fetch_dealer(struct ctl *ctl, const char *casino_id, struct dealer *dealer)
{
	enum ctl_exit code;
	bool found;

	memset(dealer, 0, sizeof(*dealer));
	code = ctl_casino_id(ctl, casino_id, dealer->casino_id);
	if (code == CTL_DONE)
		code = list_fetch(ctl, RECORD_DEALER, dealer, &found, NULL);
	if (code == CTL_DONE && !found)
		return ctl_fail(ctl, CTL_FAILED, "dealer_not_found",
			"there is no dealer '%s'", casino_id);
	return code;
}

static enum ctl_exit print_keys(struct ctl *ctl, const struct dealer *dealer,
	struct output_json *json)
{
	struct output_list list;

	output_json_list_open(json, "keys");
	if (!ctl->json) {
		printf("\n");
		output_list_open(&list, ctl, "keys", "keys", dealer_key_fields, key_columns);
	}
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!dealer->keys[i].key_id[0])
			continue;
		if (!ctl->json)
			output_list_add(&list, &dealer->keys[i]);
		output_json_item(json, dealer_key_fields, &dealer->keys[i]);
	}
	output_json_list_close(json);
	return ctl->json ? CTL_DONE : output_list_close(&list, CTL_DONE);
}

static enum ctl_exit print_dealer(struct ctl *ctl, const struct dealer *dealer,
	const struct total *total)
{
	enum ctl_exit code = output_record(ctl, dealer_view, dealer_columns, dealer);
	struct output_json json;

	if (code == CTL_DONE && total && !ctl->json)
		printf("\n");
	if (code == CTL_DONE && total)
		code = output_record(ctl, total_fields, total_columns, total);
	if (code != CTL_DONE)
		return code;
	output_json_open(&json, ctl);
	output_json_fields(&json, dealer_view, dealer);
	code = print_keys(ctl, dealer, &json);
	if (total)
		output_json_record(&json, "total", total_fields, total);
	if (code != CTL_DONE) {
		buffer_free(&json.text);
		return code;
	}
	return output_json_close(&json);
}

enum ctl_exit ctl_dealer_show(struct ctl *ctl)
{
	struct dealer dealer;
	struct total total = {0};
	enum ctl_exit code = fetch_dealer(ctl, ctl->args[0], &dealer);
	bool found = false;

	if (code != CTL_DONE)
		return code;
	memcpy(total.casino_id, dealer.casino_id, sizeof(total.casino_id));
	code = list_fetch(ctl, RECORD_TOTAL, &total, &found, NULL);
	if (code != CTL_DONE)
		return code;
	return print_dealer(ctl, &dealer, found ? &total : NULL);
}

enum ctl_exit ctl_dealer_list(struct ctl *ctl)
{
	struct output_list out;
	struct list list;
	struct dealer row;
	enum ctl_exit code;

	list_open(&list, ctl, RECORD_DEALER, false, 0, NULL);
	output_list_open(&out, ctl, "dealers", "dealers", dealer_view, list_columns);
	while (list_next(&list, &row))
		output_list_add(&out, &row);
	code = list.code;
	list_close(&list);
	return output_list_close(&out, code);
}

/* Tells a new key, once. Without --json one that the caller brought is not shown. */
static enum ctl_exit print_key(struct ctl *ctl, const char *casino_id, const char *key_id,
	const char *secret)
{
	struct output_json json;

	if (!ctl->json && ctl->options[OPTION_KEY_FILE])
		printf("key %s of dealer %s was taken from %s\n", key_id, casino_id,
			ctl->options[OPTION_KEY_FILE]);
	else if (!ctl->json)
		printf("key %s of dealer %s, shown this once:\n%s\n", key_id, casino_id, secret);
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", casino_id);
	output_json_string(&json, "key_id", key_id);
	output_json_string(&json, "key", secret);
	return output_json_close(&json);
}

/* A new key: made here, or from --key-file. */
static enum ctl_exit get_secret(struct ctl *ctl, char secret[KEY_SECRET_SIZE])
{
	if (ctl->options[OPTION_KEY_FILE])
		return secret_read_key(ctl, ctl->options[OPTION_KEY_FILE], secret);
	if (!signature_new_secret(secret))
		return ctl_fail(ctl, CTL_FAILED, "failed", "no random numbers");
	return CTL_DONE;
}

enum ctl_exit ctl_dealer_add(struct ctl *ctl)
{
	struct dealer_put_cmd cmd = {.operator = ctl->operator, .create = true};
	struct dealer_put_result result;
	enum ctl_exit code;

	code = ctl_casino_id(ctl, ctl->args[0], cmd.dealer.casino_id);
	if (code == CTL_DONE)
		code = dealer_settings_apply(ctl, true, &cmd.dealer, &cmd.mask);
	if (code == CTL_DONE)
		code = get_secret(ctl, cmd.dealer.keys[0].secret);
	if (code == CTL_DONE)
		code = ctl_do(ctl, COMMAND_DEALER_PUT, &cmd, &result, NULL);
	if (code == CTL_DONE)
		code = print_key(ctl, cmd.dealer.casino_id, result.dealer.signing_key_id,
			cmd.dealer.keys[0].secret);
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

enum ctl_exit ctl_dealer_set(struct ctl *ctl)
{
	struct dealer_put_cmd cmd = {.operator = ctl->operator};
	struct dealer_put_result result;
	/* The URL is judged together with what stays as it is. */
	enum ctl_exit code = fetch_dealer(ctl, ctl->args[0], &cmd.dealer);

	if (code == CTL_DONE)
		code = dealer_settings_apply(ctl, false, &cmd.dealer, &cmd.mask);
	if (code == CTL_DONE && !cmd.mask)
		return ctl_usage(ctl, "nothing to set was given");
	if (code == CTL_DONE)
		code = ctl_do(ctl, COMMAND_DEALER_PUT, &cmd, &result, NULL);
	if (code == CTL_DONE)
		code = print_dealer(ctl, &result.dealer, NULL);
	return code;
}

static enum ctl_exit set_suspended(struct ctl *ctl, bool suspended)
{
	struct dealer_put_cmd cmd = {
		.operator = ctl->operator,
		.mask = UINT32_C(1) << DEALER_SUSPENDED,
		.dealer = {.suspended = suspended},
	};
	struct dealer_put_result result;
	struct output_json json;
	enum ctl_exit code = ctl_casino_id(ctl, ctl->args[0], cmd.dealer.casino_id);

	if (code == CTL_DONE)
		code = ctl_do(ctl, COMMAND_DEALER_PUT, &cmd, &result, NULL);
	if (code != CTL_DONE)
		return code;
	if (!ctl->json)
		printf("dealer %s is %s\n", result.dealer.casino_id,
			result.dealer.suspended ? "suspended" : "active");
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", result.dealer.casino_id);
	output_json_bool(&json, "suspended", result.dealer.suspended);
	return output_json_close(&json);
}

enum ctl_exit ctl_dealer_suspend(struct ctl *ctl)
{
	return set_suspended(ctl, true);
}

enum ctl_exit ctl_dealer_resume(struct ctl *ctl)
{
	return set_suspended(ctl, false);
}

static enum ctl_exit change_key(struct ctl *ctl, struct dealer_key_cmd *cmd,
	struct dealer_key_result *result)
{
	const char *key_id = cmd->action == KEY_ADD ? NULL : ctl->args[1];
	enum ctl_exit code = ctl_casino_id(ctl, ctl->args[0], cmd->casino_id);

	if (code != CTL_DONE)
		return code;
	if (key_id && !text_copy(cmd->key_id, sizeof(cmd->key_id), key_id))
		return ctl_fail(ctl, CTL_FAILED, "key_not_found",
			"there is no key '%s'", key_id);
	return ctl_do(ctl, COMMAND_DEALER_KEY, cmd, result, NULL);
}

enum ctl_exit ctl_dealer_key_add(struct ctl *ctl)
{
	struct dealer_key_cmd cmd = {.operator = ctl->operator, .action = KEY_ADD};
	struct dealer_key_result result;
	enum ctl_exit code = get_secret(ctl, cmd.secret);

	if (code == CTL_DONE)
		code = change_key(ctl, &cmd, &result);
	if (code == CTL_DONE)
		code = print_key(ctl, cmd.casino_id, result.key_id, cmd.secret);
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

static enum ctl_exit use_or_retire(struct ctl *ctl, enum key_action action, const char *done)
{
	struct dealer_key_cmd cmd = {.operator = ctl->operator, .action = action};
	struct dealer_key_result result;
	struct output_json json;
	enum ctl_exit code = change_key(ctl, &cmd, &result);

	if (code != CTL_DONE)
		return code;
	if (!ctl->json)
		printf("key %s of dealer %s %s\n", cmd.key_id, cmd.casino_id, done);
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", cmd.casino_id);
	output_json_string(&json, "key_id", cmd.key_id);
	return output_json_close(&json);
}

enum ctl_exit ctl_dealer_key_use(struct ctl *ctl)
{
	return use_or_retire(ctl, KEY_USE, "signs callbacks now");
}

enum ctl_exit ctl_dealer_key_retire(struct ctl *ctl)
{
	return use_or_retire(ctl, KEY_RETIRE, "is retired");
}

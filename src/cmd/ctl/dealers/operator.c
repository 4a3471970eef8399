/*
 * operator - implements `operator add`, `set`, `list`, `suspend`, `resume`, `unlock`, `new-code` and
 * `sign-out` for the operators of the web console.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/list.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

static const struct output_column operator_columns[] = {
	{"OPERATOR", "name", OUTPUT_PLAIN},
	{"LOGIN", "login", OUTPUT_PLAIN},
	{"ROLE", "role", OUTPUT_PLAIN},
	{"SUSPENDED", "suspended", OUTPUT_PLAIN},
	{"LOCKED UNTIL", "locked_until_ms", OUTPUT_PLAIN},
	{"SIGNED IN", "signed_in_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

enum outcome ctl_operator_list(struct ctl *ctl)
{
	struct output_list out;
	struct list list;
	struct desk_operator row;

	list_open(&list, &ctl->session, RECORD_DESK_OPERATOR, false, 0, NULL);
	output_list_open(&out, ctl, "operators", "operators", desk_operator_fields,
		operator_columns);
	while (list_next(&list, &row))
		output_list_add(&out, &row);
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

/* Reads the role of --role; ROLE_NONE if it is absent. */
static enum outcome read_role(struct ctl *ctl, enum role *role)
{
	const char *text = ctl->options[OPTION_ROLE];

	*role = ROLE_NONE;
	if (!text)
		return OUTCOME_DONE;
	for (unsigned int i = ROLE_READ; i < ROLE_COUNT; i++) {
		if (strcmp(text, role_names[i]) == 0)
			*role = (enum role)i;
	}
	return *role == ROLE_NONE ? ctl_usage(ctl, "--role must be read, support, finance or admin")
				  : OUTCOME_DONE;
}

/* Makes a new secret of one-time codes: each base32 character has 5 bits of two random hex characters. */
static enum outcome make_code_secret(struct ctl *ctl, char secret[DESK_SECRET_SIZE])
{
	static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", hex[] = "0123456789abcdef";
	char random[KEY_SECRET_SIZE];

	if (!signature_new_secret(random))
		return session_no_random(&ctl->session);
	for (unsigned int i = 0; i < DESK_SECRET_SIZE - 1; i++) {
		const size_t high = (size_t)(strchr(hex, random[2 * i]) - hex);
		const size_t low = (size_t)(strchr(hex, random[2 * i + 1]) - hex);

		secret[i] = base32[(high << 4 | low) & 31];
	}
	secret[DESK_SECRET_SIZE - 1] = '\0';
	explicit_bzero(random, sizeof(random));
	return OUTCOME_DONE;
}

/* Fills in the command from the command line. */
static enum outcome read_command(struct ctl *ctl, struct operator_put_cmd *cmd)
{
	const char *login = ctl->options[OPTION_LOGIN];
	enum outcome code = read_role(ctl, &cmd->role);

	if (code != OUTCOME_DONE)
		return code;
	if (!text_is_name(ctl->args[0], DESK_NAME_SIZE - 1) ||
		!text_copy(cmd->name, sizeof(cmd->name), ctl->args[0]))
		return ctl_usage(ctl, "'%s' is no name of an operator: 1 to 32 of [A-Za-z0-9_.-]",
			ctl->args[0]);
	if (cmd->action == OPERATOR_ADD && !login)
		login = cmd->name;
	if (cmd->action == OPERATOR_ADD && cmd->role == ROLE_NONE)
		return ctl_usage(ctl, "--role is missing");
	if (cmd->action == OPERATOR_SET && !login && cmd->role == ROLE_NONE)
		return ctl_usage(ctl, "--login or --role is missing");
	if (login && (!login[0] || !text_copy(cmd->login, sizeof(cmd->login), login)))
		return ctl_usage(ctl, "--login must have 1 to 128 bytes");
	if (cmd->action == OPERATOR_ADD || cmd->action == OPERATOR_NEW_CODE)
		return make_code_secret(ctl, cmd->secret);
	return OUTCOME_DONE;
}

static enum outcome print_operator(struct ctl *ctl, const struct operator_put_cmd *cmd,
	const struct desk_operator *row, const char *done)
{
	char address[256] = "";
	struct output_json json;

	if (cmd->secret[0])
		snprintf(address, sizeof(address),
			"otpauth://totp/creditbridge:%s?secret=%s&issuer=creditbridge", cmd->name,
			cmd->secret);
	if (!ctl->json) {
		printf("operator %s %s (login %s, role %s)\n", row->name, done, row->login,
			role_names[row->role]);
		if (address[0])
			printf("one-time codes, shown only now; enter this in the authenticator "
			       "app:\n%s\n",
				address);
	}
	output_json_open(&json, ctl);
	output_json_record(&json, "operator", desk_operator_fields, row);
	if (address[0])
		output_json_string(&json, "otpauth", address);
	explicit_bzero(address, sizeof(address));
	return output_json_close(&json);
}

static enum outcome put_operator(struct ctl *ctl, enum operator_action action, const char *done)
{
	struct operator_put_cmd cmd = {.operator= ctl->session.operator, .action = action };
	struct operator_put_result result;
	enum outcome code = read_command(ctl, &cmd);

	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_OPERATOR_PUT, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = print_operator(ctl, &cmd, &result.row, done);
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

enum outcome ctl_operator_add(struct ctl *ctl)
{
	return put_operator(ctl, OPERATOR_ADD, "is added");
}

enum outcome ctl_operator_set(struct ctl *ctl)
{
	return put_operator(ctl, OPERATOR_SET, "is changed");
}

enum outcome ctl_operator_suspend(struct ctl *ctl)
{
	return put_operator(ctl, OPERATOR_SUSPEND, "is suspended; its sessions have ended");
}

enum outcome ctl_operator_resume(struct ctl *ctl)
{
	return put_operator(ctl, OPERATOR_RESUME, "may sign in again");
}

enum outcome ctl_operator_unlock(struct ctl *ctl)
{
	return put_operator(ctl, OPERATOR_UNLOCK, "is unlocked");
}

enum outcome ctl_operator_new_code(struct ctl *ctl)
{
	return put_operator(ctl, OPERATOR_NEW_CODE, "has a new secret; its sessions have ended");
}

enum outcome ctl_operator_sign_out(struct ctl *ctl)
{
	return put_operator(ctl, OPERATOR_SIGN_OUT, "is signed out");
}

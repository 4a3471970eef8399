/*
 * client - implements `client add`, `list`, `key-add`, `key-use`, `key-retire`, `remove` for the
 * game servers of API group C.
 */
#include "cmd/ctl/dealers/client.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/secret.h"

#include <stdio.h>
#include <string.h>

#define OPEN_NAMED 5 /* maximum number of games with open rounds that the message names */

static const struct output_column list_columns[] = {
	{"CLIENT", "client_id", OUTPUT_PLAIN},
	{"KEYS", "keys", OUTPUT_PLAIN},
	{"CREATED", "created_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* With --all. */
static const struct output_column all_columns[] = {
	{"CLIENT", "client_id", OUTPUT_PLAIN},
	{"KEYS", "keys", OUTPUT_PLAIN},
	{"CREATED", "created_ms", OUTPUT_PLAIN},
	{"REMOVED", "removed", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

enum outcome ctl_client_list(struct ctl *ctl)
{
	bool all = ctl->options[OPTION_ALL];
	struct output_list out;
	struct list list;
	struct client row;

	list_open(&list, &ctl->session, RECORD_CLIENT, false, 0, NULL);
	output_list_open(&out, ctl, "clients", "clients", client_fields,
		all ? all_columns : list_columns);
	while (list_next(&list, &row)) {
		if (all || !row.removed)
			output_list_add(&out, &row);
	}
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}

enum outcome ctl_client_add(struct ctl *ctl)
{
	struct client_put_cmd cmd = {.operator= ctl->session.operator};
	struct client_put_result result;
	enum outcome code = names_read_client_id(&ctl->session, ctl->args[0], cmd.client_id);

	if (code == OUTCOME_DONE)
		code = secret_new_key(ctl, cmd.secret);
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_CLIENT_PUT, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = secret_print_key(ctl, "client", "client_id", cmd.client_id, result.key_id,
			cmd.secret, NULL);
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

/* Adds @game_id to @names if it is not there yet. Returns false if @names is full. */
static bool add_client_name(char names[OPEN_NAMED][EXTERNAL_ID_SIZE], unsigned int *count,
	const char *game_id)
{
	/* Players at one table have rounds of the same game. */
	for (unsigned int i = 0; i < *count; i++) {
		if (strcmp(names[i], game_id) == 0)
			return true;
	}
	if (*count == OPEN_NAMED)
		return false;
	text_copy(names[(*count)++], EXTERNAL_ID_SIZE, game_id);
	return true;
}

/* Refuses if @client_id has open rounds. */
static enum outcome refuse_open(struct ctl *ctl, const char *client_id)
{
	char names[OPEN_NAMED][EXTERNAL_ID_SIZE], text[OPEN_NAMED * (EXTERNAL_ID_SIZE + 2)] = "";
	unsigned int count = 0;
	size_t used = 0;
	bool room = true;
	struct list list;
	struct round row;
	enum outcome code;

	list_open(&list, &ctl->session, RECORD_ROUND, false, 0, NULL);
	while (room && list_next(&list, &row)) {
		if (row.state == ROUND_OPEN && strcmp(row.client_id, client_id) == 0)
			room = add_client_name(names, &count, row.game_id);
	}
	code = list_end(&list, OUTCOME_DONE);
	if (code != OUTCOME_DONE || !count)
		return code;
	for (unsigned int i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "",
			names[i]);
	return ctl_fail(ctl, OUTCOME_FAILED, "open_rounds",
		"rounds of client %s are open, of game %s%s: their bets can only be settled by a "
		"client of this name, also after it was removed and added again; --yes removes it "
		"nevertheless",
		client_id, text, room ? "" : " and others");
}

/* The ledger refuses an unknown client, so its rounds need not be searched. */
enum outcome client_may_remove(struct ctl *ctl, const char *client_id)
{
	struct client row;
	enum outcome code;
	bool found;

	if (ctl->options[OPTION_YES])
		return OUTCOME_DONE;
	memset(&row, 0, sizeof(row));
	text_copy(row.client_id, sizeof(row.client_id), client_id);
	code = list_fetch(&ctl->session, RECORD_CLIENT, &row, &found, NULL);
	return code == OUTCOME_DONE && found && !row.removed ? refuse_open(ctl, client_id) : code;
}

enum outcome client_print_removed(struct ctl *ctl, const char *client_id)
{
	struct output_json json;

	if (!ctl->json)
		printf("client %s is removed; its keys are void\n"
		       "its open rounds wait until the same name is added again\n",
			client_id);
	output_json_open(&json, ctl);
	output_json_string(&json, "client_id", client_id);
	output_json_bool(&json, "removed", true);
	return output_json_close(&json);
}

enum outcome ctl_client_remove(struct ctl *ctl)
{
	struct client_put_cmd cmd = {.operator= ctl->session.operator, .remove = true };
	struct client_put_result result;
	enum outcome code = names_read_client_id(&ctl->session, ctl->args[0], cmd.client_id);

	if (code == OUTCOME_DONE)
		code = client_may_remove(ctl, cmd.client_id);
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_CLIENT_PUT, &cmd, &result, NULL);
	return code == OUTCOME_DONE ? client_print_removed(ctl, cmd.client_id) : code;
}

enum outcome ctl_client_key_add(struct ctl *ctl)
{
	struct client_key_cmd cmd = {.operator= ctl->session.operator, .action = KEY_ADD };
	struct client_key_result result;
	enum outcome code = names_read_client_id(&ctl->session, ctl->args[0], cmd.client_id);

	if (code == OUTCOME_DONE)
		code = secret_new_key(ctl, cmd.secret);
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_CLIENT_KEY, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = secret_print_key(ctl, "client", "client_id", cmd.client_id, result.key_id,
			cmd.secret, NULL);
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

static enum outcome use_or_retire_client_key(struct ctl *ctl, enum key_action action,
	const char *done)
{
	struct client_key_cmd cmd = {.operator= ctl->session.operator, .action = action };
	struct client_key_result result;
	enum outcome code = names_read_client_id(&ctl->session, ctl->args[0], cmd.client_id);

	if (code == OUTCOME_DONE && !text_copy(cmd.key_id, sizeof(cmd.key_id), ctl->args[1]))
		return ctl_fail(ctl, OUTCOME_FAILED, "key_not_found",
			"there is no key '%s'; see "
			"`creditbridgectl client list`",
			ctl->args[1]);
	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_CLIENT_KEY, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = secret_print_done(ctl, "client", "client_id", cmd.client_id, cmd.key_id,
			done);
	return code;
}

enum outcome ctl_client_key_use(struct ctl *ctl)
{
	return use_or_retire_client_key(ctl, KEY_USE, "is noted as the one in use");
}

enum outcome ctl_client_key_retire(struct ctl *ctl)
{
	return use_or_retire_client_key(ctl, KEY_RETIRE, "is retired");
}

enum outcome ctl_client_key_confirm(struct ctl *ctl)
{
	struct client_key_cmd cmd = {.operator= ctl->session.operator, .action = KEY_CONFIRM };
	struct client_key_result result;
	enum outcome code = names_read_client_id(&ctl->session, ctl->args[0], cmd.client_id);

	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_CLIENT_KEY, &cmd, &result, NULL);
	return code == OUTCOME_DONE
		? secret_print_confirmed(ctl, "client", "client_id", cmd.client_id)
		: code;
}

/*
 * clients - the game servers that call group C, and their keys.
 */
#include "ledger/commands/ops.h"
#include "ledger/commands/refused/rejected_requests.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/keyslots.h"

#include <stdio.h>

void client_put_keys(const void *arg, struct ws *ws)
{
	const struct client_put_cmd *cmd = arg;
	struct client client = client_named(cmd->client_id);

	ws_want(ws, RECORD_CLIENT, &client);
	audit_keys(ws, &cmd->operator);
}

static void audit_client(const struct operator* operator, const struct apply_context * context,
	struct ws *ws, const char *action, const char *object, const char *key_id,
	const struct client *retired)
{
	char detail[DETAIL_SIZE];

	snprintf(detail, sizeof(detail), "%s%s", key_id[0] ? "key_id=" : "", key_id);
	if (retired)
		key_book_describe(retired->keys, key_id, detail);
	audit_write(ws, context, operator, action, object, detail);
}

/*
 * Notes that the key @key_id of @client, or all with "", is retired. @client NULL: there was none.
 */
static void note_retired(const struct client *client, const char *key_id,
	const struct apply_context *context)
{
	for (unsigned int i = 0; client && i < DEALER_KEYS_MAX; i++) {
		if (!key_id[0] || strcmp(client->keys[i].key_id, key_id) == 0)
			retired_note(context->retired, KEYRING_CLIENTS, client->client_id,
				&client->keys[i], context->now.wall_ms);
	}
}

void client_put_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct client_put_cmd *cmd = arg;
	struct client_put_result *result = out;
	struct client client = client_named(cmd->client_id);
	const struct client *stored = ws_get(ws, RECORD_CLIENT, &client);
	const char *action = cmd->remove ? "client remove" : "client add";
	bool there = stored && !stored->removed;
	char object[OBJECT_SIZE];
	enum audit_state state;

	if (!text_is_name(cmd->client_id, CLIENT_ID_SIZE - 1)) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return;
	}
	snprintf(object, sizeof(object), "client %s", cmd->client_id);
	state = audit_state(ws, &cmd->operator, action, object, &result->verdict);
	if (state == AUDIT_REPEATED && stored && !cmd->remove)
		result->verdict.refusal = keyslots_find(stored->keys, cmd->secret, result->key_id);
	if (state != AUDIT_NEW)
		return;
	if (there != cmd->remove) {
		result->verdict.refusal = there ? REFUSAL_ALREADY_EXISTS : REFUSAL_CLIENT_NOT_FOUND;
		return;
	}
	if (stored)
		client = *stored;
	else
		client.created_ms = context->now.wall_ms;
	client.removed = cmd->remove;
	client.keys_restored_ms = 0;
	note_retired(stored, "", context);
	memset(client.keys, 0, sizeof(client.keys));
	if (!cmd->remove)
		result->verdict.refusal = keyslots_add(client.keys, &client.keys_issued,
			cmd->secret, context->now.wall_ms, result->key_id);
	if (result->verdict.refusal == REFUSAL_NONE && !cmd->remove)
		result->verdict.refusal = key_book_issue(context->key_book, KEYRING_CLIENTS,
			cmd->client_id, cmd->secret, &result->verdict);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	audit_client(&cmd->operator, context, ws, action, object, result->key_id,
		cmd->remove ? stored : NULL);
	ws_put(ws, RECORD_CLIENT, &client);
}

void client_key_keys(const void *arg, struct ws *ws)
{
	const struct client_key_cmd *cmd = arg;
	struct client client = client_named(cmd->client_id);

	ws_want(ws, RECORD_CLIENT, &client);
	audit_keys(ws, &cmd->operator);
}

static enum refusal change_key(const struct client_key_cmd *cmd, struct client *client,
	int64_t now_ms, char *key_id)
{
	unsigned int live = 0;

	if (cmd->action == KEY_ADD)
		return keyslots_add(client->keys, &client->keys_issued, cmd->secret, now_ms,
			key_id);
	if (cmd->action == KEY_CONFIRM) {
		client->keys_restored_ms = 0;
		return REFUSAL_NONE;
	}
	text_copy(key_id, KEY_ID_SIZE, cmd->key_id);
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++)
		live += client->keys[i].key_id[0] != '\0';
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!client->keys[i].key_id[0] || strcmp(client->keys[i].key_id, cmd->key_id) != 0)
			continue;
		if (cmd->action == KEY_RETIRE && live == 1)
			return REFUSAL_KEY_IN_USE;
		if (cmd->action == KEY_RETIRE)
			memset(&client->keys[i], 0, sizeof(client->keys[i]));
		return REFUSAL_NONE;
	}
	return REFUSAL_KEY_NOT_FOUND;
}

void client_key_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct client_key_cmd *cmd = arg;
	struct client_key_result *result = out;
	struct client client = client_named(cmd->client_id);
	const struct client *stored = ws_get(ws, RECORD_CLIENT, &client);
	char action[ACTION_SIZE], object[OBJECT_SIZE];
	enum audit_state state;

	if (!stored || stored->removed) {
		result->verdict.refusal = REFUSAL_CLIENT_NOT_FOUND;
		return;
	}
	snprintf(action, sizeof(action), "client key-%s", key_action_names[cmd->action]);
	snprintf(object, sizeof(object), "client %s%s%s", cmd->client_id, cmd->key_id[0] ? " " : "",
		cmd->key_id);
	state = audit_state(ws, &cmd->operator, action, object, &result->verdict);
	if (state == AUDIT_REPEATED && cmd->action == KEY_ADD)
		result->verdict.refusal = keyslots_find(stored->keys, cmd->secret, result->key_id);
	else if (state == AUDIT_REPEATED)
		text_copy(result->key_id, KEY_ID_SIZE, cmd->key_id);
	if (state != AUDIT_NEW)
		return;
	client = *stored;
	result->verdict.refusal = change_key(cmd, &client, context->now.wall_ms, result->key_id);
	if (result->verdict.refusal == REFUSAL_NONE && cmd->action == KEY_ADD)
		result->verdict.refusal = key_book_issue(context->key_book, KEYRING_CLIENTS,
			cmd->client_id, cmd->secret, &result->verdict);
	if (result->verdict.refusal != REFUSAL_NONE)
		return;
	if (cmd->action == KEY_RETIRE)
		note_retired(stored, cmd->key_id, context);
	audit_client(&cmd->operator, context, ws, action, object, result->key_id,
		cmd->action == KEY_RETIRE ? stored : NULL);
	ws_put(ws, RECORD_CLIENT, &client);
}

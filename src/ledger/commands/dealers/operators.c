/* operators - adds and changes the operators of the web console. */
#include "ledger/commands/ops.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/codes.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/operators.h"

#include <stdio.h>

static bool refuse_put(struct verdict *verdict, enum refusal refusal, const char *detail)
{
	verdict->refusal = refusal;
	text_copy(verdict->detail, sizeof(verdict->detail), detail);
	return false;
}

static bool is_secret(const char *secret)
{
	return strlen(secret) == DESK_SECRET_SIZE - 1 &&
		strspn(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == DESK_SECRET_SIZE - 1;
}

/* Returns true if another operator has @login, or gets it in this batch. */
static bool is_taken(const struct operators *book, const struct ws *ws, const char *login,
	const char *name)
{
	const struct desk_operator *same = operators_of_login(book, login);

	for (const struct ws_row *row = ws->first; row; row = row->next) {
		const struct desk_operator *other = row->data;

		if (row->record == RECORD_DESK_OPERATOR && row->dirty &&
			strcmp(other->login, login) == 0 && strcmp(other->name, name) != 0)
			return true;
	}
	return same && strcmp(same->name, name) != 0;
}

/* Checks what the action needs, and that no other operator has the login. */
static bool check_put(const struct operator_put_cmd *cmd, const struct desk_operator *stored,
	const struct operators *book, const struct ws *ws, struct verdict *verdict)
{
	const bool adds = cmd->action == OPERATOR_ADD;

	if (adds && stored)
		return refuse_put(verdict, REFUSAL_ALREADY_EXISTS, "");
	if (!adds && !stored)
		return refuse_put(verdict, REFUSAL_OPERATOR_NOT_FOUND, "");
	if (adds && book->count >= DESK_OPERATORS_MAX)
		return refuse_put(verdict, REFUSAL_BAD_REQUEST, "there are 256 operators");
	if (!text_is_name(cmd->name, DESK_NAME_SIZE - 1))
		return refuse_put(verdict, REFUSAL_BAD_REQUEST,
			"a name is 1 to 32 of A-Z a-z 0-9 _ . -");
	if (adds && (!cmd->login[0] || cmd->role == ROLE_NONE))
		return refuse_put(verdict, REFUSAL_BAD_REQUEST, "login or role is missing");
	if (cmd->login[0] && !text_is_utf8_clean(cmd->login, strlen(cmd->login)))
		return refuse_put(verdict, REFUSAL_BAD_REQUEST,
			"a login is 1 to 128 bytes of UTF-8 without control characters");
	if (cmd->login[0] && is_taken(book, ws, cmd->login, cmd->name))
		return refuse_put(verdict, REFUSAL_ALREADY_EXISTS,
			"another operator has this login");
	if ((adds || cmd->action == OPERATOR_NEW_CODE) && !is_secret(cmd->secret))
		return refuse_put(verdict, REFUSAL_BAD_REQUEST,
			"a code secret is 32 base32 characters");
	return true;
}

/* Changes @row as the action says. */
static void change_row(const struct operator_put_cmd *cmd, struct desk_operator *row,
	int64_t wall_ms)
{
	const bool sets = cmd->action == OPERATOR_ADD || cmd->action == OPERATOR_SET;

	if (cmd->action == OPERATOR_ADD)
		row->created_ms = wall_ms;
	/* The login now names another person. The new epoch ends the sessions of the old one. */
	if (sets && cmd->login[0] && strcmp(row->login, cmd->login) != 0) {
		text_copy(row->login, sizeof(row->login), cmd->login);
		row->epoch++;
	}
	if (sets && cmd->role != ROLE_NONE && row->role != cmd->role) {
		row->role = cmd->role;
		row->epoch++;
	}
	if (cmd->action == OPERATOR_ADD || cmd->action == OPERATOR_NEW_CODE) {
		text_copy(row->secret, sizeof(row->secret), cmd->secret);
		row->last_step = 0;
		code_unlock(row);
	}
	if (cmd->action == OPERATOR_UNLOCK)
		code_unlock(row);
	if (cmd->action == OPERATOR_SUSPEND || cmd->action == OPERATOR_RESUME)
		row->suspended = cmd->action == OPERATOR_SUSPEND;
	if (cmd->action == OPERATOR_SUSPEND || cmd->action == OPERATOR_NEW_CODE ||
		cmd->action == OPERATOR_SIGN_OUT)
		row->epoch++;
}

static void describe_change(const struct operator_put_cmd *cmd, char detail[DETAIL_SIZE])
{
	size_t len = 0;

	detail[0] = '\0';
	if (cmd->login[0])
		len += (size_t)snprintf(detail, DETAIL_SIZE, "login=%s", cmd->login);
	if (cmd->role != ROLE_NONE)
		snprintf(detail + len, DETAIL_SIZE - len, "%srole=%s", len ? " " : "",
			role_names[cmd->role]);
}

void operator_put_keys(const void *arg, struct ws *ws)
{
	const struct operator_put_cmd *cmd = arg;
	struct desk_operator key = desk_operator_named(cmd->name);

	ws_want(ws, RECORD_DESK_OPERATOR, &key);
	audit_keys(ws, &cmd->operator);
}

void operator_put_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct operator_put_cmd *cmd = arg;
	struct operator_put_result *result = out;
	struct desk_operator row = desk_operator_named(cmd->name);
	const struct desk_operator *stored = ws_get(ws, RECORD_DESK_OPERATOR, &row);
	char action[ACTION_SIZE], object[OBJECT_SIZE], detail[DETAIL_SIZE];
	enum audit_state state;

	snprintf(action, sizeof(action), "operator %s", operator_action_names[cmd->action]);
	snprintf(object, sizeof(object), "operator %s", cmd->name);
	state = audit_state(ws, &cmd->operator, action, object, &result->verdict);
	if (state == AUDIT_OTHER)
		return;
	if (state == AUDIT_NEW) {
		if (!check_put(cmd, stored, context->operators, ws, &result->verdict))
			return;
		if (stored)
			row = *stored;
		change_row(cmd, &row, context->now.wall_ms);
		describe_change(cmd, detail);
		audit_write(ws, context, &cmd->operator, action, object, detail);
		ws_put(ws, RECORD_DESK_OPERATOR, &row);
	} else if (stored) {
		row = *stored;
	}
	memset(row.secret, 0, sizeof(row.secret));
	result->row = row;
}

/*
 * sessions - judges the one-time codes of operators: for a sign-in, and for a session that needs a fresh
 * one.
 *
 * The session itself is in memory (ledger/desk/sessions.h). These commands change the operator's row, which
 * remembers the code, the wrong ones and the lock.
 */
#include "ledger/commands/ops.h"
#include "ledger/rows/audit.h"
#include "ledger/rows/codes.h"
#include "ledger/rows/keys.h"
#include "wire/digest.h"

#include <stdio.h>

#define WRONG_REASON "too many wrong one-time codes"

/* One try to pass a code. */
struct
try {
	const char *name;
	const char *code;
	const char *action; /* of the audit, if the code is right */
	char detail[DETAIL_SIZE];
	struct operator operator;
};

/*
 * Sets the operation id of a sign-in. It follows from the session's secret, so that a command that is sent
 * twice acts once.
 */
static void set_operation(const char *session, struct operator* operator)
{
	struct digest sum;
	char text[DIGEST_TEXT_SIZE] = "";

	digest_begin(&sum);
	digest_add(&sum, "sign-in ", 8);
	digest_add(&sum, session, strlen(session));
	if (digest_text(&sum, text))
		text_copy_len(operator->operation_id, OPERATION_ID_SIZE, text,
			OPERATION_ID_SIZE - 1);
	digest_end(&sum);
}

static struct try try_to_open(const struct session_open_cmd *cmd)
{
	struct try try = {.name = cmd->name, .code = cmd->code, .action = "session open"};

	set_operation(cmd->session, &try.operator);
	if (cmd->address[0])
		snprintf(try.detail, sizeof(try.detail), "address=%s", cmd->address);
	return try;
}

static struct try try_to_step(const struct session_step_cmd *cmd)
{
	struct try try = {.name = cmd->name, .code = cmd->code, .action = "session step"};

	text_copy(try.operator.operation_id, sizeof(try.operator.operation_id), cmd->operation_id);
	return try;
}

static void want_try(struct ws *ws, const struct try *try)
{
	struct desk_operator key = desk_operator_named(try->name);

	audit_keys(ws, &try->operator);
	if (try->name[0])
		ws_want(ws, RECORD_DESK_OPERATOR, &key);
}

/* Judges the code and writes the row. Returns true if this code locked the name. */
static bool judge_try(const struct try *try, const struct apply_context *context, struct ws *ws,
	struct verdict *verdict)
{
	struct desk_operator row = desk_operator_named(try->name);
	const struct desk_operator *stored =
		try->name[0] ? ws_get(ws, RECORD_DESK_OPERATOR, &row) : NULL;
	char object[OBJECT_SIZE];
	enum audit_state state;
	enum code_result judged;

	snprintf(object, sizeof(object), "operator %s", try->name);
	state = audit_state(ws, &try->operator, try->action, object, verdict);
	if (state != AUDIT_NEW || !stored) {
		if (state == AUDIT_NEW)
			verdict->refusal = REFUSAL_SIGN_IN_REFUSED;
		return false;
	}
	row = *stored;
	judged = code_judge(&row, try->code, context->now.wall_ms);
	if (judged != CODE_RIGHT)
		verdict->refusal = REFUSAL_SIGN_IN_REFUSED;
	if (judged == CODE_RIGHT) {
		audit_write(ws, context, &try->operator, try->action, object, try->detail);
		row.signed_in_ms = context->now.wall_ms;
	}
	if (judged == CODE_LOCKS)
		audit_write(ws, context, &try->operator, "operator lock", object, WRONG_REASON);
	if (judged != CODE_IGNORED)
		ws_put(ws, RECORD_DESK_OPERATOR, &row);
	return judged == CODE_LOCKS;
}

void session_open_keys(const void *arg, struct ws *ws)
{
	const struct try try = try_to_open(arg);

	want_try(ws, &try);
}

void session_open_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct try try = try_to_open(arg);
	struct session_open_result *result = out;

	result->locks = judge_try(&try, context, ws, &result->verdict);
}

void session_step_keys(const void *arg, struct ws *ws)
{
	const struct try try = try_to_step(arg);

	want_try(ws, &try);
}

void session_step_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct try try = try_to_step(arg);
	struct session_step_result *result = out;

	result->locks = judge_try(&try, context, ws, &result->verdict);
}

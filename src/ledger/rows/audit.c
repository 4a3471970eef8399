#include "ledger/rows/audit.h"

#include "ledger/rows/counters.h"
#include "ledger/rows/keys.h"

#include <string.h>

#define AUDIT_COUNTER "audit"

static struct operation operation_key(const struct operator* operator)
{
	struct operation key;

	memset(&key, 0, sizeof(key));
	text_copy(key.operation_id, sizeof(key.operation_id), operator->operation_id);
	return key;
}

void audit_keys(struct ws *ws, const struct operator* operator)
{
	struct operation key = operation_key(operator);

	counter_want(ws, AUDIT_COUNTER);
	ws_want(ws, RECORD_OPERATION, &key);
}

bool audit_left(struct ws *ws)
{
	return counter_read(ws, AUDIT_COUNTER) < TRANSACTION_ID_MAX;
}

enum audit_state audit_state(struct ws *ws, const struct operator* operator, const char * action,
	const char *object, struct verdict *verdict)
{
	struct operation key = operation_key(operator);
	const struct operation *done = ws_get(ws, RECORD_OPERATION, &key);

	if (!external_id_valid(operator->operation_id)) {
		verdict->refusal = REFUSAL_BAD_REQUEST;
		text_copy(verdict->detail, sizeof(verdict->detail), "there is no operation id");
		return AUDIT_OTHER;
	}
	if (!done && audit_left(ws))
		return AUDIT_NEW;
	if (!done) {
		verdict->refusal = REFUSAL_SERVICE_UNAVAILABLE;
		text_copy(verdict->detail, sizeof(verdict->detail),
			"the audit has no numbers left below 2^53");
		return AUDIT_OTHER;
	}
	if (strcmp(done->action, action) == 0 && strcmp(done->object, object) == 0) {
		verdict->replay = true;
		return AUDIT_REPEATED;
	}
	verdict->refusal = REFUSAL_TRANSACTION_CONFLICT;
	text_copy(verdict->field, sizeof(verdict->field), "operation_id");
	return AUDIT_OTHER;
}

void audit_write(struct ws *ws, const struct apply_context *context,
	const struct operator* operator, const char * action, const char *object,
	const char *detail)
{
	struct operation done = operation_key(operator);
	struct audit audit;

	memset(&audit, 0, sizeof(audit));
	audit.seq = done.audit_seq = counter_next(ws, AUDIT_COUNTER);
	audit.time_ms = context->now.wall_ms;
	audit.uid = operator->uid;
	audit.login_uid = operator->login_uid;
	audit.peer_uid = context->peer_uid;
	if (context->operator_name)
		text_copy(audit.operator, sizeof(audit.operator), context->operator_name);
	text_copy(audit.sudo_user, sizeof(audit.sudo_user), operator->sudo_user);
	text_copy(audit.action, sizeof(audit.action), action);
	text_copy(audit.object, sizeof(audit.object), object);
	text_copy(done.action, sizeof(done.action), action);
	text_copy(done.object, sizeof(done.object), object);
	text_copy(audit.detail, sizeof(audit.detail), detail);
	text_copy(audit.reason, sizeof(audit.reason), operator->reason);
	ws_append(ws, RECORD_AUDIT, &audit);
	ws_append(ws, RECORD_OPERATION, &done);
}

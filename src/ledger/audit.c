#include "ledger/audit.h"

#include "base/text.h"

#include <string.h>

#define AUDIT_COUNTER "audit"

static struct operation operation_key(const struct operator *operator)
{
	struct operation key = {.audit_seq = 0};

	text_copy(key.operation_id, sizeof(key.operation_id), operator->operation_id);
	return key;
}

void audit_keys(struct ws *ws, const struct operator *operator)
{
	struct operation key = operation_key(operator);

	counter_want(ws, AUDIT_COUNTER);
	ws_want(ws, RECORD_OPERATION, &key);
}

bool audit_seen(struct ws *ws, const struct operator *operator)
{
	struct operation key = operation_key(operator);

	return ws_get(ws, RECORD_OPERATION, &key) != NULL;
}

void audit_write(struct ws *ws, const struct apply_context *context,
	const struct operator *operator, const char *action, const char *object,
	const char *detail)
{
	struct operation done = operation_key(operator);
	struct audit audit;

	memset(&audit, 0, sizeof(audit));
	audit.seq = done.audit_seq = counter_next(ws, AUDIT_COUNTER);
	audit.time_ms = context->now_ms;
	audit.uid = operator->uid;
	audit.login_uid = operator->login_uid;
	audit.peer_uid = context->peer_uid;
	text_copy(audit.sudo_user, sizeof(audit.sudo_user), operator->sudo_user);
	text_copy(audit.action, sizeof(audit.action), action);
	text_copy(audit.object, sizeof(audit.object), object);
	text_copy(audit.detail, sizeof(audit.detail), detail);
	text_copy(audit.reason, sizeof(audit.reason), operator->reason);
	ws_append(ws, RECORD_AUDIT, &audit);
	ws_append(ws, RECORD_OPERATION, &done);
}

#include "ledger/rows/audit.h"

#include "domain/retired_digest.h"
#include "ledger/rows/counters.h"
#include "ledger/rows/keys.h"

#include <stdio.h>
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
	struct retired_digest retired;
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
	for (uint32_t number = 1; retired_digest_of(&audit, number, &retired); number++)
		ws_append(ws, RECORD_RETIRED_DIGEST, &retired);
	ws_append(ws, RECORD_OPERATION, &done);
}

void audit_name(const struct operator* operator, const struct apply_context * context,
	char name[SUDO_USER_SIZE])
{
	_Static_assert(DESK_NAME_SIZE <= SUDO_USER_SIZE, "a name of the console fits");
	if (context->operator_name && context->operator_name[0])
		text_copy(name, SUDO_USER_SIZE, context->operator_name);
	else if (operator->sudo_user[0])
		text_copy(name, SUDO_USER_SIZE, operator->sudo_user);
	else
		snprintf(name, SUDO_USER_SIZE, "uid %u", operator->uid);
}

/* Appends @number with @digits base32 digits. */
static void put_base32(char *text, unsigned int digits, uint64_t number)
{
	static const char base32[] = "abcdefghijklmnopqrstuvwxyz234567";

	while (digits--) {
		text[digits] = base32[number & 31];
		number >>= 5;
	}
}

void step_operation_id(char letter, const char *id, uint64_t number,
	char operation_id[OPERATION_ID_SIZE])
{
	const size_t len = strnlen(id, 7);

	memset(operation_id, 0, OPERATION_ID_SIZE);
	operation_id[0] = letter;
	memset(operation_id + 1, 'a', 7);
	memcpy(operation_id + 1, id, len);
	operation_id[8] = '-';
	put_base32(operation_id + 9, 11, number);
}

void replay_operator(uint64_t replay, uint64_t event, struct operator* operator)
{
	/* Random ids have no dash. */
	_Static_assert(OPERATION_ID_SIZE == 21, "a letter, two numbers and a dash fit");
	memset(operator, 0, sizeof(*operator));
	operator->login_uid = UINT32_MAX;
	operator->operation_id[0] = 'r';
	put_base32(operator->operation_id + 1, 7, replay);
	operator->operation_id[8] = '-';
	put_base32(operator->operation_id + 9, 11, event);
}

/*
 * audit - the trail of what operators did, and that a command sent twice acts once.
 *
 * Every admin command that changes something declares with audit_keys(), asks audit_state() first
 * and writes its trail with audit_write().
 */
#ifndef LEDGER_ROWS_AUDIT_H
#define LEDGER_ROWS_AUDIT_H

#include "ledger/rows/context.h"

void audit_keys(struct ws *ws, const struct operator *operator);

enum audit_state {
	AUDIT_NEW,
	AUDIT_REPEATED, /* done before: an answer was lost and the command sent again */
	AUDIT_OTHER,    /* the operation id was used for something else */
};

/*
 * Whether this operation was done before. On AUDIT_OTHER, and when there is no usable operation
 * id, @verdict is filled with the refusal.
 */
enum audit_state audit_state(struct ws *ws, const struct operator *operator, const char *action,
	const char *object, struct verdict *verdict);

/*
 * What was done to what; also when it changed nothing, so that a late repeat changes nothing
 * either. @detail: the values, never a secret.
 */
void audit_write(struct ws *ws, const struct apply_context *context,
	const struct operator *operator, const char *action, const char *object,
	const char *detail);

#endif

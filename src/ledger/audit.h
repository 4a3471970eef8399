/*
 * audit - the trail of what operators did, and that a command sent twice acts once.
 *
 * Every admin command that changes something declares with audit_keys(), asks audit_seen() first
 * and writes its trail with audit_write().
 */
#ifndef LEDGER_AUDIT_H
#define LEDGER_AUDIT_H

#include "ledger/ops.h"

void audit_keys(struct ws *ws, const struct operator *operator);

/* True: this operation was done before (an answer was lost and the command sent again). */
bool audit_seen(struct ws *ws, const struct operator *operator);

/* What was done to what. @detail: the values, never a secret. */
void audit_write(struct ws *ws, const struct apply_context *context,
	const struct operator *operator, const char *action, const char *object,
	const char *detail);

#endif

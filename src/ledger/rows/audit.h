/*
 * audit - records the actions of operators. By these records the ledger also recognises a command
 * that is sent twice, and acts once.
 *
 * Every admin command that changes data declares its rows with audit_keys(), first calls
 * audit_state(), and records the action with audit_write().
 */
#ifndef LEDGER_ROWS_AUDIT_H
#define LEDGER_ROWS_AUDIT_H

#include "ledger/rows/context.h"

void audit_keys(struct ws *ws, const struct operator* operator);

/* Returns whether there is a number for one more action: the last is 2^53 - 1. */
bool audit_left(struct ws *ws);

enum audit_state {
	AUDIT_NEW,
	AUDIT_REPEATED, /* done before: the answer was lost and the command sent again */
	AUDIT_OTHER,    /* refused: nothing is done and nothing recorded */
};

/*
 * Returns whether this operation was done before. For AUDIT_OTHER fills @verdict with the refusal:
 * there is no usable operation id, it was used for something else, or the audit is full.
 */
enum audit_state audit_state(struct ws *ws, const struct operator* operator, const char * action,
	const char *object, struct verdict *verdict);

/*
 * Records the action, also when it changed nothing, so that a late repeat changes nothing either.
 * @detail holds the values, never a secret.
 */
void audit_write(struct ws *ws, const struct apply_context *context,
	const struct operator* operator, const char * action, const char *object,
	const char *detail);

/*
 * Writes the operator, as rows store it: of the web console, else the person before sudo, else the user
 * number.
 */
void audit_name(const struct operator* operator, const struct apply_context * context,
	char name[SUDO_USER_SIZE]);

/*
 * Writes the operation id of a step of something that has an id of its own: a letter, the first 7 characters of
 * @id, a dash and @number. Random ids have no dash.
 */
void step_operation_id(char letter, const char *id, uint64_t number,
	char operation_id[OPERATION_ID_SIZE]);

/* Sets @operator to that of a step: its operation id is of this replay and this event. */
void replay_operator(uint64_t replay, uint64_t event, struct operator* operator);

#endif

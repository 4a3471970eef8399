/*
 * operators - the operators of the web console, in memory.
 *
 * Each frame on desk.sock needs the role of its operator. The book is filled from the rows at the start
 * and follows each saved batch. It has no code secret.
 */
#ifndef LEDGER_ROWS_OPERATORS_H
#define LEDGER_ROWS_OPERATORS_H

#include "domain/records.h"

struct operators {
	uint32_t count;
	struct desk_operator rows[DESK_OPERATORS_MAX];
};

/* Adds or replaces an operator. Returns false if there are too many. */
bool operators_put(struct operators *book, const struct desk_operator *row);
/* Both return NULL if there is none. Valid until operators_put(). */
const struct desk_operator *operators_named(const struct operators *book, const char *name);
const struct desk_operator *operators_of_login(const struct operators *book, const char *login);

#endif

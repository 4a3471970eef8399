/*
 * aside - a callback that is set aside: it is parked or held, so that it is not sent until an operator, a
 * replay or its dealer asks for it.
 *
 * Each has a row (struct aside) beside its own, so that those of a dealer are found without reading the
 * dealer's other callbacks. The row follows from the callback: `creditbridgectl check` compares both.
 */
#ifndef DOMAIN_ASIDE_H
#define DOMAIN_ASIDE_H

#include "domain/records.h"

/* Returns true if a callback in this state is set aside. */
bool callback_is_aside(enum callback_state state);

/* Returns the row of @callback, which is set aside; of any other only the key counts. */
struct aside aside_of(const struct callback *callback);

#endif

/*
 * code - the one-time code in a form whose command needs a fresh one (link/desk.def).
 */
#ifndef CONSOLE_COMMON_CODE_H
#define CONSOLE_COMMON_CODE_H

#include "console/common/page.h"

/*
 * Writes an input for the code into the form. It is left out while the operator's last code is fresh, unless
 * @again: the form has failed. Returns false if there is no randomness.
 */
bool code_input(struct page *page, bool again);

/*
 * Sends the code of the form to the ledger; without one it does nothing. OUTCOME_USAGE: the form is not complete.
 * OUTCOME_FAILED: @failure says why the code was not accepted.
 */
enum outcome code_send(struct page *page, struct failure *failure);

/* Returns true if a command failed because it needs a fresh code. */
bool code_is_needed(const struct failure *failure);

#define CODE_NOT_ACCEPTED                                                                          \
	"The code was not accepted. It may be wrong or used already. Nothing was done."
#define CODE_NEEDED_TEXT "This needs a fresh one-time code. Nothing was done."

#endif

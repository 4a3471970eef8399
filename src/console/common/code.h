/*
 * code - the one-time code in a form whose command needs a fresh one (link/desk.def).
 */
#ifndef CONSOLE_COMMON_CODE_H
#define CONSOLE_COMMON_CODE_H

#include "console/common/page.h"

/* Writes a labelled input for the code. @first: it must be filled in, and has the focus. */
void code_field(struct page *page, const char *label, bool first);

/*
 * Writes an input for the code into the form. Without @again it is left out while the last code is fresh. @again: the form
 * was refused and is shown again. Returns false if there is no randomness.
 */
bool code_input(struct page *page, bool again);

/*
 * Sends the code of the form to the ledger, if it has one, and then the command. Sets *again to what to say if the form is to
 * be shown again, because the code was refused or another one is needed; NULL: the outcome has another cause, and a
 * failure is that of the session.
 */
enum outcome code_do(struct page *page, enum command command, const void *cmd, void *result,
	const char **again);

#endif

/*
 * form - the form of a command of an operator: the id of its operation, the reason for the audit, and the one-time code if the
 * command needs a fresh one (link/desk.def). A form that is refused comes back as it was filled.
 */
#ifndef CONSOLE_COMMON_FORM_H
#define CONSOLE_COMMON_FORM_H

#include "console/common/page.h"

/* Writes why the form that was sent was not done; NULL: nothing. */
void form_failed(struct page *page, const char *failed);

/*
 * Opens a form that is sent to @to, with the reason as it was given; html_close() closes it in any case. @again: it was
 * refused and is shown again. Returns false if there is no randomness: then write no button.
 */
bool form_open(struct page *page, const struct page_address *to, bool has_code, bool again);

/* What form_send() sends. */
struct form_command {
	enum command command;
	bool has_code; /* as in form_open() */
	const void *cmd;
	void *result;
	struct operator* by; /* of @cmd; form_send() sets its operation id and reason */
	/* Shows the page with the form of @subject again. @failed: what to say above it, with form_failed(). */
	enum outcome (*show)(struct page *page, const void *subject, const char *failed);
	const void *subject;
};

/*
 * Sends the command of the form that was received. Returns true if it was done. Otherwise sets *code: OUTCOME_DONE if the page
 * was answered, because the form is not complete or was refused; else the failure of the session.
 */
bool form_send(struct page *page, const struct form_command *command, enum outcome *code);

#endif

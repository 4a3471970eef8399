#include "console/common/form.h"

#include "console/common/code.h"
#include "console/common/operation.h"

void form_failed(struct page *page, const char *failed)
{
	if (failed)
		html_element(&page->html, "p", "error", failed);
}

bool form_open(struct page *page, const struct page_address *to, bool has_code, bool again)
{
	page_form(page, to);
	if (!operation_input(page, "operation"))
		return false;
	page_input(page, "Reason, for the audit", "reason", params_get(&page->form, "reason"));
	return !has_code || code_input(page, again);
}

/* Shows the page again, with the form as it was filled. */
static enum outcome ask_again(struct page *page, const struct form_command *command, int status,
	const char *failed)
{
	page->code = status;
	return command->show(page, command->subject, failed);
}

bool form_send(struct page *page, const struct form_command *command, enum outcome *code)
{
	struct session *session = &page->desk.session;
	char operation_id[OPERATION_ID_SIZE];
	const char *again = NULL;

	if (!operation_id_read(page, "operation", operation_id)) {
		*code = page_error(page, 400, "The form is not complete.", "Nothing was done.");
		return false;
	}
	if (!operation_read(page, "operation", command->by)) {
		*code = ask_again(page, command, 400,
			"A reason must be given, of at most 256 bytes. Nothing was done.");
		return false;
	}
	if (command->has_code)
		*code = code_do(page, command->command, command->cmd, command->result, &again);
	else
		*code = session_do(session, command->command, command->cmd, command->result, NULL);
	if (again) {
		*code = ask_again(page, command, 403, again);
		return false;
	}
	return *code == OUTCOME_DONE;
}

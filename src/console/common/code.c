#include "console/common/code.h"

#include "base/text.h"
#include "console/common/operation.h"

#include <string.h>

void code_field(struct page *page, const char *label, bool first)
{
	struct html *html = &page->html;

	html_open(html, "label");
	html_text(html, label);
	html_text(html, " ");
	html_open(html, "input");
	html_attribute(html, "name", "code");
	html_attribute(html, "inputmode", "numeric");
	html_attribute(html, "autocomplete", "one-time-code");
	html_attribute(html, "maxlength", "8");
	if (first) {
		html_flag(html, "required");
		html_flag(html, "autofocus");
	}
	html_close(html);
	html_close(html);
}

bool code_input(struct page *page, bool again)
{
	if (!operation_input(page, "step"))
		return false;
	if (!page->who.code_left_s || again)
		code_field(page, "One-time code", false);
	return true;
}

/* Sends the code. OUTCOME_USAGE: the form is not complete. */
static enum outcome send_code(struct page *page, const char *code, struct failure *failure)
{
	struct session_step_cmd cmd = {.code = ""};
	struct session_step_result result;
	enum outcome sent;

	if (!text_copy(cmd.code, sizeof(cmd.code), code) ||
		!operation_id_read(page, "step", cmd.operation_id))
		return OUTCOME_USAGE;
	sent = session_try(&page->desk.session, COMMAND_SESSION_STEP, &cmd, &result, failure);
	explicit_bzero(&cmd, sizeof(cmd));
	return sent;
}

static const char *why_again(enum outcome code, const struct failure *failure)
{
	if (code == OUTCOME_DONE)
		return NULL;
	if (code == OUTCOME_USAGE || strcmp(failure->id, "sign_in_refused") == 0)
		return "The code was not accepted. It may be wrong or used already, or too many wrong "
		       "codes have locked your name. Nothing was done.";
	return strcmp(failure->id, "code_needed") == 0
		? "This needs a fresh one-time code. Nothing was done."
		: NULL;
}

enum outcome code_do(struct page *page, enum command command, const void *cmd, void *result,
	const char **again)
{
	const char *given = params_get(&page->form, "code");
	struct failure failure = {.id = ""};
	enum outcome code = given[0] ? send_code(page, given, &failure) : OUTCOME_DONE;

	if (code == OUTCOME_DONE)
		code = session_try(&page->desk.session, command, cmd, result, &failure);
	*again = why_again(code, &failure);
	if (code != OUTCOME_DONE && failure.id[0])
		page->desk.session.failure = failure;
	return code;
}

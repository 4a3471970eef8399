#include "console/common/code.h"

#include "base/text.h"
#include "console/common/operation.h"

#include <string.h>

bool code_input(struct page *page, bool again)
{
	struct html *html = &page->html;

	if (!operation_input(page, "step"))
		return false;
	if (page->who.code_left_s && !again)
		return true;
	html_open(html, "label");
	html_text(html, "One-time code ");
	html_open(html, "input");
	html_attribute(html, "name", "code");
	html_attribute(html, "inputmode", "numeric");
	html_attribute(html, "autocomplete", "one-time-code");
	html_attribute(html, "maxlength", "8");
	html_close(html);
	html_close(html);
	return true;
}

enum outcome code_send(struct page *page, struct failure *failure)
{
	const char *code = params_get(&page->form, "code");
	struct session_step_cmd cmd = {.code = ""};
	struct session_step_result result;
	enum outcome sent;

	failure->id = "";
	if (!code[0])
		return OUTCOME_DONE;
	if (!text_copy(cmd.code, sizeof(cmd.code), code) ||
		!operation_id_read(page, "step", cmd.operation_id))
		return OUTCOME_USAGE;
	sent = session_try(&page->desk.session, COMMAND_SESSION_STEP, &cmd, &result, failure);
	explicit_bzero(&cmd, sizeof(cmd));
	return sent;
}

bool code_is_needed(const struct failure *failure)
{
	return failure->id[0] && strcmp(failure->id, "code_needed") == 0;
}

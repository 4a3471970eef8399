#include "console/page_record.h"

#include "admin/session.h"
#include "base/text.h"
#include "console/pages/pages.h"
#include "wire/digest.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

/* What the request is in the audit; NOTE_ACTION_COUNT: nothing. An action by a form is recorded by its command. */
static enum note_action action_of(const struct page *page)
{
	if (page->post || !page->who.name[0])
		return NOTE_ACTION_COUNT;
	if (page->route->csv)
		return NOTE_CSV;
	/* Health names no player, and is needed most while the ledger cannot write. */
	if (!page->console->audit_views || page->route->open || page->route->show == page_health)
		return NOTE_ACTION_COUNT;
	return NOTE_VIEW;
}

/*
 * Writes the parameters of the address: "casino=demo kind=bet". The text of a search may be anything, also a secret that was
 * pasted: it is left out.
 */
static void write_detail(const struct page *page, char detail[DETAIL_SIZE])
{
	const struct params *query = &page->query;
	char text[2 * DETAIL_SIZE] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < query->count && len < sizeof(text) - 1; i++) {
		if (!query->list[i].value[0] || !text_is_name(query->list[i].name, 32) ||
			strcmp(page->route->path, "/search") == 0)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s=%s", len ? " " : "",
			query->list[i].name, query->list[i].value);
	}
	text_show(detail, DETAIL_SIZE, text);
}

/* Names a view by its session, address and time, so that the ledger records it once. Returns false if memory is exhausted. */
static bool name_view(const struct page *page, const struct note_cmd *cmd,
	char id[OPERATION_ID_SIZE])
{
	static const char purpose[] = "creditbridge console view";
	const int64_t part = page->now_ms / PAGE_RECORD_MS;
	const char *query = page_variable(&page->request->query_string);
	char text[DIGEST_TEXT_SIZE];
	struct digest digest;
	bool done;

	_Static_assert(OPERATION_ID_SIZE < DIGEST_TEXT_SIZE, "the beginning of a digest is an id");
	digest_begin(&digest);
	digest_add(&digest, purpose, sizeof(purpose));
	digest_add(&digest, page->desk.caller.token, strlen(page->desk.caller.token));
	digest_add(&digest, &part, sizeof(part));
	digest_add(&digest, cmd->object, strlen(cmd->object) + 1);
	digest_add(&digest, query, strlen(query));
	done = digest_text(&digest, text);
	digest_end(&digest);
	return done && text_copy_len(id, OPERATION_ID_SIZE, text, OPERATION_ID_SIZE - 1);
}

bool page_record(struct page *page)
{
	struct session *session = &page->desk.session;
	struct note_cmd cmd = {.action = action_of(page)};
	struct note_result result;
	struct failure failure = {.id = ""};
	char *id = cmd.operator.operation_id;

	if (cmd.action == NOTE_ACTION_COUNT)
		return true;
	/* The path is that of a route, so it is short and has no foreign text. */
	text_copy(cmd.object, sizeof(cmd.object),
		page->request->path + strlen(page->console->base_path));
	write_detail(page, cmd.detail);
	if (cmd.action == NOTE_CSV ? !signature_random_id(id, OPERATION_ID_SIZE)
				   : !name_view(page, &cmd, id))
		snprintf(failure.detail, sizeof(failure.detail),
			"The kernel gives no random numbers.");
	else if (session_try(session, COMMAND_NOTE, &cmd, &result, &failure) == OUTCOME_DONE)
		return true;
	page_error(page, 503, "The ledger could not record this in its audit, so it is not shown.",
		failure.detail);
	return false;
}

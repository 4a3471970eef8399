#include "console/page_record.h"

#include "admin/session.h"
#include "base/text.h"
#include "console/pages/pages.h"
#include "wire/digest.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

/*
 * The parameters, of an address or a form, that select what a page shows. Others are not recorded, and an address that
 * differs only in others is the same view.
 */
static const char *const filters[] = {"id", "of", "owner", "reference", "casino", "user", "player",
	"game", "client", "request", "day", "since", "until", "kind", "state", "last", "error",
	"why", "action", "object", "operator", "begins", "which", "after"};
#define FILTERS (sizeof(filters) / sizeof(filters[0]))
/* Bytes that are written of a value: no id is longer. */
#define VALUE_MAX (EXTERNAL_ID_SIZE - 1)
/* A name, "=", a value of which each byte is escaped with 6 characters, quotes, "..." and a space. */
#define FILTER_TEXT_MAX (16 + 6 * VALUE_MAX + 7)

/*
 * Returns the value of a filter, or "". The text of a search may be anything, also a secret that was pasted: a search has
 * none.
 */
static const char *filter_value(const struct page *page, const char *name)
{
	const char *value = params_get(&page->query, name);

	if (strcmp(page->route->path, "/search") == 0)
		return "";
	return value[0] || !page->post ? value : params_get(&page->form, name);
}

/* Returns the action that the audit gets; NOTE_ACTION_COUNT: none. The command of a form records its own. */
static enum note_action action_of(const struct page *page)
{
	/* A form that was done leads to a page; a job that is under way has a row of its own (pages/jobs.c). */
	const bool shows = !page->post || (!page->location.len && !page->streams);

	if (!page->who.name[0] || !shows || page->body.failed)
		return NOTE_ACTION_COUNT;
	if (page->route->csv)
		return page->code == 200 ? NOTE_CSV : NOTE_ACTION_COUNT;
	/* Health names no player, and is needed most while the ledger cannot write. */
	if (!page->console->audit_views || page->route->open || page->route->show == page_health)
		return NOTE_ACTION_COUNT;
	return NOTE_VIEW;
}

/*
 * Appends at most @most bytes of @value. A value with other characters than those of names, addresses and times is quoted,
 * and quotes in it are escaped, so that it cannot look like a further filter. "..." after it: it was cut.
 */
static size_t write_value(char *to, const char *value, size_t most)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_.-+:/";
	const size_t len = strlen(value);
	const bool quoted = len > most || value[strspn(value, plain)];
	size_t used = 0, at = 0, step;
	uint32_t code;

	if (quoted)
		to[used++] = '"';
	/* params_read() admits well-formed UTF-8 only. */
	for (; at < len && (step = text_utf8_len(value + at, len - at, &code)) && at + step <= most;
		at += step) {
		if (text_is_hidden(code)) {
			used += text_escape(code, to + used);
			continue;
		}
		if (code == '"' || code == '\\')
			to[used++] = '\\';
		memcpy(to + used, value + at, step);
		used += step;
	}
	if (quoted)
		to[used++] = '"';
	return used + (size_t)snprintf(to + used, 4, "%s", at < len ? "..." : "");
}

/* Writes the filters of the page with at most @most bytes of each value. Returns false if they do not fit. */
static bool write_filters(const struct page *page, size_t most, char detail[DETAIL_SIZE])
{
	char text[FILTER_TEXT_MAX];
	size_t len = 0, add;

	for (size_t i = 0; i < FILTERS; i++) {
		const char *value = filter_value(page, filters[i]);

		if (!value[0])
			continue;
		add = (size_t)snprintf(text, sizeof(text), "%s%s=", len ? " " : "", filters[i]);
		add += write_value(text + add, value, most);
		if (len + add >= DETAIL_SIZE)
			return false;
		memcpy(detail + len, text, add);
		len += add;
	}
	detail[len] = '\0';
	return true;
}

/*
 * Writes the filters: "casino=demo kind=bet". If they do not fit, all values are cut to the same length, so that a long one
 * hides no other filter.
 */
static void write_detail(const struct page *page, char detail[DETAIL_SIZE])
{
	size_t most = VALUE_MAX;

	while (!write_filters(page, most, detail) && most)
		most /= 2;
}

/*
 * Names a view by its session, address, filters and time, so that the ledger records it once. The filters count with their
 * whole values, not as write_detail() may cut them. Returns false if memory is exhausted.
 */
static bool name_view(const struct page *page, const struct note_cmd *cmd,
	char id[OPERATION_ID_SIZE])
{
	static const char purpose[] = "creditbridge console view";
	const int64_t part = page->now_ms / PAGE_RECORD_MS;
	char text[DIGEST_TEXT_SIZE];
	struct digest digest;
	bool done;

	_Static_assert(OPERATION_ID_SIZE < DIGEST_TEXT_SIZE, "the beginning of a digest is an id");
	digest_begin(&digest);
	digest_add(&digest, purpose, sizeof(purpose));
	digest_add(&digest, page->desk.caller.token, strlen(page->desk.caller.token));
	digest_add(&digest, &part, sizeof(part));
	digest_add(&digest, cmd->object, strlen(cmd->object) + 1);
	for (size_t i = 0; i < FILTERS; i++) {
		const char *value = filter_value(page, filters[i]);

		digest_add(&digest, value, strlen(value) + 1);
	}
	done = digest_text(&digest, text);
	digest_end(&digest);
	return done && text_copy_len(id, OPERATION_ID_SIZE, text, OPERATION_ID_SIZE - 1);
}

void page_record(struct page *page)
{
	struct session *session = &page->desk.session;
	struct note_cmd cmd = {.action = action_of(page)};
	struct note_result result;
	struct failure failure = {.id = ""};
	char *id = cmd.operator.operation_id;

	if (cmd.action == NOTE_ACTION_COUNT)
		return;
	/* The path is that of a route, so it is short and has no foreign text. */
	text_copy(cmd.object, sizeof(cmd.object),
		page->request->path + strlen(page->console->base_path));
	write_detail(page, cmd.detail);
	if (cmd.action == NOTE_CSV ? !signature_random_id(id, OPERATION_ID_SIZE)
				   : !name_view(page, &cmd, id))
		snprintf(failure.detail, sizeof(failure.detail),
			"The kernel gives no random numbers.");
	else if (session_try(session, COMMAND_NOTE, &cmd, &result, &failure) == OUTCOME_DONE)
		return;
	/* Nothing of the answer may remain. */
	page->location.len = 0;
	page_error(page, 503, "The ledger could not record this in its audit, so it is not shown.",
		failure.detail);
}

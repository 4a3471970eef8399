#include "admin/list.h"

#include "admin/ahead.h"
#include "base/pack.h"
#include "base/text.h"
#include "link/frame.h"

#include <string.h>

void list_open(struct list *list, struct session *session, enum record record, bool reverse,
	unsigned int key_count, const void *key)
{
	*list = (struct list){.session = session, .record = record, .reverse = reverse};
	buffer_init(&list->prefix, LIST_KEY_MAX);
	buffer_init(&list->here, LIST_KEY_MAX);
	buffer_init(&list->cursor, LIST_KEY_MAX);
	buffer_init(&list->rows, FRAME_MAX);
	link_list_key(&list->prefix, record, key_count, key);
	/* A truncated key would select more rows than requested. */
	if (list->prefix.failed)
		list->code = session_no_memory(session);
}

void list_beginning(struct list *list, const char *text)
{
	/* A string of a key has no length before it and ends with a NUL (base/pack.h). */
	if (!buffer_append(&list->prefix, text, strlen(text)))
		list->code = session_no_memory(list->session);
}

void list_behind(struct list *list, const void *row)
{
	buffer_reset(&list->here);
	link_list_key(&list->here, list->record, record_infos[list->record].key_count, row);
	if (list->here.failed)
		list->code = session_no_memory(list->session);
}

void list_close(struct list *list)
{
	buffer_free(&list->prefix);
	buffer_free(&list->here);
	buffer_free(&list->cursor);
	buffer_free(&list->rows);
}

enum outcome list_end(struct list *list, enum outcome code)
{
	list_close(list);
	return code == OUTCOME_DONE ? list->code : code;
}

static struct bytes row_bytes(const struct buffer *buffer)
{
	return (struct bytes){buffer->data, (uint32_t)buffer->len};
}

/* Fetches the page at list->here. */
static bool read_page(struct list *list)
{
	struct list_cmd cmd = {
		.record = list->record,
		.reverse = list->reverse,
		.own = list->own,
		.limit = list->page,
		.prefix = row_bytes(&list->prefix),
		.cursor = row_bytes(&list->here),
	};
	struct list_result result;

	if (list->aside_of)
		text_copy(cmd.aside_of, sizeof(cmd.aside_of), list->aside_of);
	if (list->casino_id)
		text_copy(cmd.casino_id, sizeof(cmd.casino_id), list->casino_id);
	list->code = session_do(list->session, COMMAND_LIST, &cmd, &result, NULL);
	if (list->code != OUTCOME_DONE)
		return false;
	list->as_of = result.last_transaction_id;
	list->more = result.more;
	list->looked += result.looked;
	if (result.looked)
		list->looked_ms = result.looked_ms;
	buffer_reset(&list->rows);
	buffer_reset(&list->cursor);
	if (!buffer_append(&list->rows, result.rows.data, result.rows.len) ||
		!buffer_append(&list->cursor, result.cursor.data, result.cursor.len)) {
		list->code = session_no_memory(list->session);
		return false;
	}
	list->rest = row_bytes(&list->rows);
	return true;
}

bool list_next(struct list *list, void *row)
{
	if (list->code != OUTCOME_DONE)
		return false;
	while (!list->rest.len) {
		if (list->started && !list->more)
			return false;
		if (list->started) {
			buffer_reset(&list->here);
			if (!buffer_append(&list->here, list->cursor.data, list->cursor.len)) {
				list->code = session_no_memory(list->session);
				return false;
			}
		}
		list->started = true;
		if (!read_page(list) || ((list->own || list->casino_id) && !list->rest.len))
			return false;
	}
	if (link_list_row(&list->rest, list->record, row)) {
		list->taken++;
		if (list->session->row_read)
			list->session->row_read(list->session->row_closure, list->record, row);
		return true;
	}
	list->code = session_fail(list->session, OUTCOME_FAILED, "failed",
		"the ledger sent a row that "
		"cannot be read: run `creditbridgectl doctor`, which compares the versions");
	return false;
}

bool list_goes_on(const struct list *list, void *row)
{
	struct bytes key = row_bytes(&list->cursor);

	return list->code == OUTCOME_DONE && list->started && list->more && !list->rest.len &&
		unpack_key(&key, record_infos[list->record].fields,
			record_infos[list->record].key_count, row);
}

static enum outcome fetch_row(struct session *session, enum record record, void *row, bool *found,
	uint64_t *as_of, struct buffer *bytes)
{
	struct list list;
	enum outcome code;

	list_open(&list, session, record, false, record_infos[record].key_count, row);
	list.page = 1;
	*found = list_next(&list, row);
	code = list.code;
	if (as_of)
		*as_of = list.as_of;
	*bytes = list.rows;
	buffer_init(&list.rows, 0);
	list_close(&list);
	return code;
}

enum outcome list_fetch_bytes(struct session *session, enum record record, void *row, bool *found,
	struct buffer *bytes)
{
	return fetch_row(session, record, row, found, NULL, bytes);
}

enum outcome list_fetch(struct session *session, enum record record, void *row, bool *found,
	uint64_t *as_of)
{
	struct buffer bytes;
	enum outcome code;

	if (session->ahead && !as_of && ahead_find(session->ahead, record, row, found)) {
		if (*found && session->row_read)
			session->row_read(session->row_closure, record, row);
		return OUTCOME_DONE;
	}
	code = fetch_row(session, record, row, found, as_of, &bytes);
	field_drop_bytes(record_infos[record].fields, row); /* the page is freed */
	buffer_free(&bytes);
	return code;
}

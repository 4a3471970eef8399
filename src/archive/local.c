#include "archive/local.h"

#include "ledger/commands/ops.h"
#include "link/frame.h"

#include <string.h>

static enum status read_store(void *closure, enum command command, const void *cmd, void *result)
{
	struct local *local = closure;
	const struct read_context context = {
		.store = local->store,
		.transaction_id = local->transaction_id,
		.rows = &local->rows,
		.cursor = &local->cursor,
	};

	if (command != COMMAND_LIST)
		return STATUS_FAULT;
	buffer_reset(&local->rows);
	buffer_reset(&local->cursor);
	memset(result, 0, command_infos[command].result_size);
	return list_read(cmd, &context, result);
}

void local_begin(struct local *local, struct session *session, struct store *store,
	uint64_t transaction_id)
{
	*local = (struct local){.store = store, .transaction_id = transaction_id};
	buffer_init(&local->rows, FRAME_MAX);
	buffer_init(&local->cursor, FRAME_MAX);
	session->ask = read_store;
	session->ask_closure = local;
}

void local_end(struct local *local, struct session *session)
{
	session->ask = NULL;
	session->ask_closure = NULL;
	buffer_free(&local->rows);
	buffer_free(&local->cursor);
}

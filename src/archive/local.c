#include "archive/local.h"

#include "ledger/commands/ops.h"
#include "ledger/rows/moves.h"
#include "link/frame.h"

#include <stdlib.h>
#include <string.h>

static enum status read_store(void *closure, enum command command, const void *cmd, void *result)
{
	struct local *local = closure;
	const struct read_context context = {
		.store = local->store,
		.transaction_id = local->transaction_id,
		.moves = local->moves,
		.ws = local->ws,
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

static void free_moves(struct local *local)
{
	free(local->moves);
	ws_delete(local->ws);
	local->moves = NULL;
	local->ws = NULL;
}

static bool find_move(void *context, struct bytes key, const void *row)
{
	const struct dealer_move *move = row;
	struct local *local = context;

	(void)key;
	if (!move_is_live(move->state))
		return true;
	if (!local->moves)
		local->moves = calloc(1, sizeof(*local->moves));
	if (!local->ws)
		local->ws = ws_new();
	return local->moves && local->ws && moves_follow(local->moves, move, false);
}

void local_begin(struct local *local, struct session *session, struct store *store,
	uint64_t transaction_id)
{
	const struct store_range moves = {.record = RECORD_DEALER_MOVE};

	*local = (struct local){.store = store, .transaction_id = transaction_id};
	buffer_init(&local->rows, FRAME_MAX);
	buffer_init(&local->cursor, FRAME_MAX);
	/* Without the memory for it, the rows of a dealer that moves count as any other. */
	if (store->scan(store, &moves, find_move, local) || !local->moves || !local->ws)
		free_moves(local);
	session->ask = read_store;
	session->ask_closure = local;
}

void local_end(struct local *local, struct session *session)
{
	session->ask = NULL;
	session->ask_closure = NULL;
	buffer_free(&local->rows);
	buffer_free(&local->cursor);
	free_moves(local);
}

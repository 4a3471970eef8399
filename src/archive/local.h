/*
 * local - answers list commands from a store that no ledger serves, so that `check` can walk it.
 */
#ifndef ARCHIVE_LOCAL_H
#define ARCHIVE_LOCAL_H

#include "admin/session.h"
#include "base/buffer.h"

struct moves;
struct store;
struct ws;

struct local {
	struct store *store;     /* not owned */
	uint64_t transaction_id; /* the last transaction id assigned, from the counter */
	/* The moves of dealers under way in the data, and room for what a list then loads; NULL: none is. */
	struct moves *moves;
	struct ws *ws;
	struct buffer rows;
	struct buffer cursor;
};

/*
 * From now on the session's commands are answered from @store. Only COMMAND_LIST works; other
 * commands return STATUS_FAULT.
 */
void local_begin(struct local *local, struct session *session, struct store *store,
	uint64_t transaction_id);
/* From now on the session asks the ledger again. */
void local_end(struct local *local, struct session *session);

#endif

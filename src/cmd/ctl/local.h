/*
 * local - answers list commands from a store that no ledger serves, so that `check` can walk it.
 */
#ifndef CMD_CTL_LOCAL_H
#define CMD_CTL_LOCAL_H

#include "base/buffer.h"
#include "cmd/ctl/ctl.h"

struct store;

struct local {
	struct store *store;     /* not owned */
	uint64_t transaction_id; /* the last transaction id assigned, from the counter */
	struct buffer rows;
	struct buffer cursor;
};

/*
 * From now on the session's commands are answered from @store. Only COMMAND_LIST works; other
 * commands return STATUS_FAULT.
 */
void local_begin(struct local *local, struct ctl *ctl, struct store *store,
	uint64_t transaction_id);
/* From now on the session asks the ledger again. */
void local_end(struct local *local, struct ctl *ctl);

#endif

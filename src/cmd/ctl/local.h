/*
 * local - lists of rows from data that no ledger serves: so the walks of `check` prove it.
 */
#ifndef CMD_CTL_LOCAL_H
#define CMD_CTL_LOCAL_H

#include "base/buffer.h"
#include "cmd/ctl/ctl.h"

struct store;

struct local {
	struct store *store;     /* not owned */
	uint64_t transaction_id; /* the last one given out: what the counter says */
	struct buffer rows;
	struct buffer cursor;
};

/* From now on ctl_do() is answered from @store, for COMMAND_LIST; other commands get STATUS_FAULT. */
void local_begin(struct local *local, struct ctl *ctl, struct store *store,
	uint64_t transaction_id);
/* ctl_do() asks the ledger again. */
void local_end(struct local *local, struct ctl *ctl);

#endif

/*
 * context - the input of apply() besides its rows: the time, the caller, and the state in memory.
 */
#ifndef LEDGER_ROWS_CONTEXT_H
#define LEDGER_ROWS_CONTEXT_H

#include "base/clock.h"
#include "link/commands.h"
#include "store/ws.h"

struct permits;
struct schedule;
struct outbox_options;
struct metrics;
struct metrics_notes;
struct key_book;
struct retired_notes;
struct arena;
struct operators;
struct replay_book;
struct moves;

struct apply_context {
	struct moment now;               /* one a batch */
	uint32_t peer_uid;               /* of the socket's other end */
	uint64_t link;                   /* the link of the caller, unique in this run; never 0 */
	struct permits *permits;         /* permits: taken and given back while applying */
	const struct schedule *schedule; /* as it was before the batch */
	const struct outbox_options *outbox;
	struct metrics *metrics;       /* NULL: nothing is counted */
	struct metrics_notes *notes;   /* attempts that end in this batch */
	struct key_book *key_book;     /* every issued key; NULL: no key is known */
	struct retired_notes *retired; /* keys that this batch retires */
	bool *granted_again;           /* set if an existing grant is returned again */
	/* of the web console, for a command from desk.sock; NULL or "": it came another way */
	const char *operator_name;
	const struct operators *operators; /* as they were before the batch */
	const struct replay_book *replays; /* likewise; NULL: none */
	const struct moves *moves; /* of dealers, as they were before the batch; NULL: none */
	struct arena *arena; /* data that results point to: lives until the answers are written */
};

#endif

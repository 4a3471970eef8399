/*
 * callback_batch - the events that an operator names: read, and looked up before anything is done.
 */
#ifndef CMD_CTL_CALLBACK_BATCH_H
#define CMD_CTL_CALLBACK_BATCH_H

#include "cmd/ctl/ctl.h"

#define BATCH_EVENTS_MAX 10000

/* One event, and what became of it. */
struct batch_row {
	uint64_t event;
	enum callback_kind kind; /* first what was asked for: CALLBACK_KIND_COUNT is any */
	char casino_id[CASINO_ID_SIZE];
	enum callback_state state;
	uint32_t attempts;
	int64_t first_ms; /* a refund is not sent before that, whoever hurries it */
	bool found;
	bool done; /* with --dry-run: it would be */
	bool used_up; /* released, and parked again: no attempt was left */
	const char *error_id;
	char error_detail[256];
	char result[320]; /* for people */
};

struct batch {
	struct ctl *ctl;
	enum callback_action action;
	struct batch_row *rows; /* room for BATCH_EVENTS_MAX */
	size_t count;
	size_t found;
	size_t done;
	enum outcome code; /* why the last one that was not done was not */
};

/* Reads the events among the arguments, and for "-" from standard input. */
enum outcome batch_read(struct batch *batch);

/*
 * Looks at every event before anything is done. One that is named twice counts once. With @dry_run
 * each row tells what the ledger would say.
 */
enum outcome batch_find(struct batch *batch, bool dry_run);

/* Notes why @row was not done. @id must stay. */
void batch_fail_row(struct batch_row *row, const char *id, const char *detail);

#endif

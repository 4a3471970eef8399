/*
 * callback_batch - reads the events that an operator names and looks all of them up before any is
 * changed.
 */
#ifndef CMD_CTL_CALLBACK_BATCH_H
#define CMD_CTL_CALLBACK_BATCH_H

#include "cmd/ctl/ctl.h"

#define BATCH_EVENTS_MAX 10000

/* One event and its result. */
struct batch_row {
	uint64_t event;
	enum callback_kind kind; /* first, as requested: CALLBACK_KIND_COUNT is any */
	char casino_id[CASINO_ID_SIZE];
	enum callback_state state;
	uint32_t attempts;
	int64_t first_ms; /* a refund is not sent before this time, even after `callback retry` */
	bool found;
	bool done; /* with --dry-run: the action would succeed */
	bool used_up; /* released, and parked again because no attempt was left */
	const char *error_id;
	char error_detail[256];
	char result[320]; /* in text for people */
};

struct batch {
	struct ctl *ctl;
	enum callback_action action;
	struct batch_row *rows; /* room for BATCH_EVENTS_MAX */
	size_t count;
	size_t found;
	size_t done;
	enum outcome code; /* the outcome of the last row that failed */
};

/* Reads the events from the arguments. The argument "-" reads them from standard input. */
enum outcome batch_read(struct batch *batch);

/*
 * Looks up every event before any is changed. An event that is named twice counts once. With
 * @dry_run, sets each row to the result that the ledger would return.
 */
enum outcome batch_find(struct batch *batch, bool dry_run);

/* Records in @row why it was not done. @id is not copied and must outlive the row. */
void batch_fail_row(struct batch_row *row, const char *id, const char *detail);

#endif

/*
 * callback_batch - acts on the callbacks that an operator names. All of them are looked up before
 * any is changed.
 *
 * Each event is a separate command with its own operation id.
 */
#ifndef ADMIN_CALLBACKS_CALLBACK_BATCH_H
#define ADMIN_CALLBACKS_CALLBACK_BATCH_H

#include "admin/session.h"
#include "domain/callback.h"

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
	bool done;    /* with --dry-run: the action would succeed */
	bool used_up; /* released, and parked again because no attempt was left */
	const char *error_id;
	char error_detail[256];
};

struct callback_batch {
	struct session *session;
	enum callback_action action;
	struct batch_row *rows; /* room for BATCH_EVENTS_MAX */
	size_t count;
	size_t found;
	size_t done;
	enum outcome code; /* the outcome of the last row that failed */
};

/* Adds an event, by its number or webhook-id. Fails on other text and on too many events. */
enum outcome batch_add(struct callback_batch *batch, const char *word);

/*
 * Looks up every event before any is changed. An event that is named twice counts once. With
 * @dry_run, sets each row to the result that the ledger would return.
 */
enum outcome batch_find(struct callback_batch *batch, bool dry_run);

/* Records in @row why it was not done. @id is not copied and must outlive the row. */
void batch_fail_row(struct batch_row *row, const char *id, const char *detail);

/*
 * Applies the action to each event that was found. The results are in the rows; batch->code is the
 * outcome of the last event that was tried. Stops trying if the ledger cannot be reached.
 */
void batch_operate(struct callback_batch *batch);

#endif

/*
 * callbacks - a callback with its player, its last attempt, and the time of its next attempt.
 */
#ifndef ADMIN_CALLBACKS_CALLBACKS_H
#define ADMIN_CALLBACKS_CALLBACKS_H

#include "admin/filter.h"
#include "admin/ahead.h"
#include "admin/list.h"
#include "admin/session.h"
#include "domain/callback.h"

struct callback_row {
	struct callback callback; /* must be first */
	char user_id[EXTERNAL_ID_SIZE];
	money_t amount; /* what it asks the dealer to move (callback_subject.h) */
	/* if due or being sent: the wall-clock time of the next attempt; 0: there is none */
	int64_t next_ms;
	/* of the last attempt; 0 and "": there was none, or its outcome is not known */
	int64_t last_time_ms;
	uint32_t last_ms;
	char last_dealer_error_id[DEALER_ERROR_ID_SIZE];
	char last_note[CALLBACK_NOTE_SIZE];
	/* the same as text for people */
	char last[48]; /* "unknown 504" */
	char next[64]; /* "in 3.200 s" */
};

/*
 * Makes @list, of callbacks, walk only those of dealer @casino_id that are parked or held, if @states (a set of bits)
 * has no other and @casino_id is given. @casino_id must live as long as the list.
 */
void callbacks_narrow(struct list *list, const char *casino_id, uint32_t states);

/* Returns how many attempts have ended. */
uint32_t callback_attempts_ended(const struct callback *callback);

/* Fills the rest of a row whose callback is set. */
enum outcome callback_row_fill(struct session *session, struct callback_row *row);

/* The same for @count rows, at most AHEAD_PART, with few commands. */
enum outcome callback_rows_fill(struct session *session, struct callback_row *rows,
	unsigned int count);

/* Fetches callback @event from the ledger and fills its row. */
enum outcome callback_row_fetch(struct session *session, uint64_t event, struct callback_row *row,
	bool *found);

/*
 * Calls @visit for the callbacks that @filter, @states and @kinds (sets of bits) select, from the
 * newest to the oldest. Reduces filter->limit.
 */
typedef void callback_visit(void *context, const struct callback_row *row);
enum outcome callbacks_walk(struct session *session, struct filter *filter, uint32_t states,
	uint32_t kinds, callback_visit *visit, void *context);

#endif

/*
 * callback_row - a callback with its player, its last attempt, and the time of its next attempt.
 */
#ifndef CMD_CTL_CALLBACK_ROW_H
#define CMD_CTL_CALLBACK_ROW_H

#include "cmd/ctl/output.h"
#include "domain/callback.h"

struct callback_row {
	struct callback callback; /* first: the views begin with its fields */
	char user_id[EXTERNAL_ID_SIZE];
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

#define CALLBACK_ROW_JSON                                                                          \
	"{\"event\",\"kind\",\"casino_id\",\"player_id\",\"game_id\",\"bet_number\" (0: the "      \
	"round),\"state\",\"attempts\",\"created_ms\",\"first_ms\",\"ended_ms\",\"once_more\","    \
	"\"unknown_to_dealer\",\"last_class\" (absent: no attempt has ended),"                      \
	"\"last_http_status\",\"resolved_by\",\"user_id\","                                       \
	"\"next_ms\" (0: none),\"last_time_ms\",\"last_ms\",\"last_dealer_error_id\","             \
	"\"last_note\"}"

/*
 * Returns the field table of struct callback_row for --json, including the members for people. It
 * omits last_class until an attempt of @row has ended. The table is valid until the next call.
 */
const struct field *callback_row_json(const struct callback_row *row);
const struct field *callback_row_view(void);

/* Fills the rest of a row whose callback is set. */
enum outcome callback_row_fill(struct ctl *ctl, struct callback_row *row);

/* Fetches callback @event from the ledger and fills its row. */
enum outcome callback_row_fetch(struct ctl *ctl, uint64_t event, struct callback_row *row,
	bool *found);

#endif

/*
 * callback_row - a callback with what an operator asks of it: whose, how it went, when it goes on.
 */
#ifndef CMD_CTL_CALLBACK_ROW_H
#define CMD_CTL_CALLBACK_ROW_H

#include "cmd/ctl/output.h"
#include "domain/callback.h"

struct callback_row {
	struct callback callback; /* first: the views begin with its fields */
	char user_id[EXTERNAL_ID_SIZE];
	int64_t next_ms; /* due or being sent: when it is looked at next, wall clock; 0: not at all */
	/* of the last attempt; 0 and "": there is none, or its end is not known */
	int64_t last_time_ms;
	uint32_t last_ms;
	char last_dealer_error_id[DEALER_ERROR_ID_SIZE];
	char last_note[CALLBACK_NOTE_SIZE];
	/* the same for people */
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
 * The table of struct callback_row: for --json, without last_class before an attempt of @row has
 * ended, to be used before it is asked for again; and with the members for people.
 */
const struct field *callback_row_json(const struct callback_row *row);
const struct field *callback_row_view(void);

/* Fills the rest of a row whose callback is set. */
enum outcome callback_row_fill(struct ctl *ctl, struct callback_row *row);

/* Fetches callback @event and fills its row. */
enum outcome callback_row_fetch(struct ctl *ctl, uint64_t event, struct callback_row *row,
	bool *found);

/*
 * Reads an event: its number, or its webhook-id ("betting-17"), which names the kind too:
 * *kind is CALLBACK_KIND_COUNT when any is meant. False: it is neither.
 */
bool callback_event_read(const char *text, uint64_t *event, enum callback_kind *kind);

#endif

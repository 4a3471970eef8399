/*
 * callback - how the commands show a callback.
 */
#ifndef CMD_CTL_CALLBACKS_CALLBACK_H
#define CMD_CTL_CALLBACKS_CALLBACK_H

#include "admin/callbacks/callbacks.h"
#include "cmd/ctl/common/output.h"

#define CALLBACK_ROW_JSON                                                                                 \
	"{\"event\",\"kind\",\"casino_id\",\"player_id\",\"game_id\",\"bet_number\" (0: the "             \
	"round),\"state\",\"attempts\",\"created_ms\",\"first_ms\",\"ended_ms\",\"once_more\","           \
	"\"unknown_to_dealer\",\"known_to_dealer\",\"last_class\" (absent: no attempt has ended),"        \
	"\"last_http_status\",\"resolved_by\",\"parked_ms\",\"replay\" (0: none),\"user_id\",\"amount\"," \
	"\"next_ms\" (0: none),\"last_time_ms\",\"last_ms\",\"last_dealer_error_id\","                    \
	"\"last_note\"}"

/*
 * Returns the field table of struct callback_row for --json, including the members for people. It
 * omits last_class until an attempt of @row has ended. The table is valid until the next call.
 */
const struct field *callback_row_json(const struct callback_row *row);
const struct field *callback_row_view(void);

#endif

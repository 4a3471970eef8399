/*
 * slot - a command that the ledger processes, with its result.
 *
 * The server fills a slot from a frame and queues it. The ledger sets the outcome and the result.
 */
#ifndef LEDGER_SLOT_H
#define LEDGER_SLOT_H

#include "link/commands.h"
#include "link/frame.h"
#include "link/roles.h"

#include <stdbool.h>
#include <stdint.h>

/* The operator of the web console whose session sent a command over desk.sock. */
struct slot_desk {
	bool is_set; /* the command came over desk.sock */
	char name[DESK_NAME_SIZE];
	char digest[FRAME_VOUCH_SIZE]; /* of the session; "" for SESSION_OPEN */
};

struct slot {
	enum command command;
	uint32_t peer_uid;
	enum role
		role; /* of the person on admin.sock or of the session on desk.sock; else ROLE_NONE */
	struct slot_desk desk;
	uint64_t link; /* identifies the connection of the caller; never 0 */
	char request_id[FRAME_REQUEST_ID_SIZE]; /* "": none */
	uint32_t payload_len; /* length of the payload as received; for the server */
	enum frame_outcome outcome;
	bool admitted; /* the rate limit was checked; a rerun of the batch does not check again */
	bool limited;  /* the rate limit refused the command */
	bool moving;   /* refused because the dealer is being moved */
	bool granted_again; /* an existing grant is returned to its caller again */
	union any_cmd cmd;
	union any_result result;
};

#endif

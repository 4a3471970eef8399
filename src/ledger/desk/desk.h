/*
 * desk - the checks of a frame on desk.sock, in the order of link/desk_commands.h.
 *
 * Time is passed in. The caller has the sockets.
 */
#ifndef LEDGER_DESK_DESK_H
#define LEDGER_DESK_DESK_H

#include "base/clock.h"
#include "ledger/desk/front.h"
#include "ledger/desk/sessions.h"
#include "ledger/rows/operators.h"
#include "ledger/slot.h"

struct desk {
	struct session_limits limits;
	struct front_values front;
	struct sessions *sessions; /* not owned */
	struct operators
		*operators; /* not owned; NULL: the ledger is halted, and no row can be read */
};

enum desk_admission {
	DESK_RUN,       /* the ledger shall execute the command of the slot */
	DESK_ANSWERED,  /* the slot has the result */
	DESK_FORBIDDEN, /* answer FRAME_FORBIDDEN */
};

/*
 * Checks the frame @request, whose decoded command is in @slot. Sets the slot's role and desk. A session
 * that sends a command is no longer idle.
 */
enum desk_admission desk_admit(struct desk *desk, const struct frame_request *request,
	struct slot *slot, const struct moment *now);

/*
 * Call it when the command of a slot was executed and saved. It opens the session of a SESSION_OPEN,
 * notes the code of a SESSION_STEP, and logs a code that was refused.
 */
void desk_executed(struct desk *desk, struct slot *slot, const struct moment *now);

#endif

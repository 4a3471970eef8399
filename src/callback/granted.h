/*
 * granted - an attempt that the ledger gave leave to send (link/edge_commands.h, struct
 * callback_grant): the request with its fence, and the CALLBACK_END that tells what came of it.
 *
 * The fence is what keeps two senders of one event apart: an attempt whose first byte leaves in time
 * has ended before its lease is over, and whoever takes the callback over does so after that.
 */
#ifndef CALLBACK_GRANTED_H
#define CALLBACK_GRANTED_H

#include "callback/sender.h"
#include "link/edge_commands.h"

/* Holds no secret: it may outlive its grant. */
struct granted {
	int64_t send_until_ms;       /* boot time: no first byte leaves later */
	struct callback_end_cmd end; /* to be completed with the outcome */
};

/*
 * Fills @granted and returns the request that sends @grant's bytes, by a sender whose whole call
 * takes @timeout_ms at most. @granted is the closure of the request's fence, and @grant holds its
 * target: both must stay until sender_add() or callback_send() has the request, @granted until the
 * attempt has ended. @casino_id: of a balance inquiry; of any other "" will do.
 */
struct callback_request granted_request(struct granted *granted, const struct callback_grant *grant,
	const char *casino_id, uint32_t timeout_ms);

#endif

/*
 * granted - an attempt that the ledger permitted (link/edge_commands.h, struct callback_grant): its
 * request with the fence, and the CALLBACK_END that reports the outcome.
 *
 * The fence keeps two senders of one event apart. It lets the first byte leave only if the attempt
 * can end before its lease expires. A takeover happens only after that.
 */
#ifndef CALLBACK_GRANTED_H
#define CALLBACK_GRANTED_H

#include "callback/sender.h"
#include "link/edge_commands.h"

/* Holds no secret, so it may outlive its grant. */
struct granted {
	int64_t send_until_ms;       /* boot time: after it the first byte may not leave */
	struct callback_end_cmd end; /* the caller adds the outcome */
};

/*
 * Fills @granted and returns the request that sends @grant's bytes, for a sender whose calls last
 * at most @timeout_ms. @asked_ms: boot time when the grant was asked for (link->asked_ms). The lease is
 * counted from then on by this host's clock, for the ledger may run on another host. @granted is the
 * closure of the fence and @grant holds the target. Both must stay valid until sender_add() or
 * callback_send() has the request; @granted until the attempt has ended. @casino_id: for a balance
 * inquiry; otherwise "" is sufficient.
 */
struct callback_request granted_request(struct granted *granted, const struct callback_grant *grant,
	int64_t asked_ms, const char *casino_id, uint32_t timeout_ms);

#endif

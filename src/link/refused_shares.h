/*
 * refused_shares - limits how many refused calls of one sender are kept in a second.
 *
 * A sender is a caller that proved its key, or the network of a caller that did not. The names in
 * a call without a proven key do not count, because any client may write them: otherwise it could
 * use up the share of a dealer. All callers without a key together have a limit, too. Workers and
 * the ledger apply the same limits: a worker protects the ledger from a flood, and the ledger adds
 * up all workers.
 */
#ifndef LINK_REFUSED_SHARES_H
#define LINK_REFUSED_SHARES_H

#include "link/refused_calls.h"

/* Numbers of senders. The first ones are networks; callers with a key have the others. */
#define REFUSED_SENDERS  4096
#define REFUSED_NETWORKS 256

/* A burst, and calls per second: of a caller with a key, of a network, of all networks. */
#define REFUSED_CALLER_BURST   1024
#define REFUSED_CALLER_PER_S   256
#define REFUSED_NETWORK_BURST  128
#define REFUSED_NETWORK_PER_S  32
#define REFUSED_NETWORKS_BURST 1024
#define REFUSED_NETWORKS_PER_S 256

struct refused_share {
	int64_t filled_ms; /* boot time; 0: full */
	int64_t milli;     /* thousandths of a call that are left */
};

/* Zeros are the initial state: all shares are full. */
struct refused_shares {
	struct refused_share senders[REFUSED_SENDERS];
	struct refused_share networks; /* all of them together */
};

/*
 * Returns the sender's number, below REFUSED_SENDERS. It does not depend on the process, so it may
 * be compared after a restart. Two senders may have the same number.
 */
unsigned int refused_sender(const struct refused_call *call);

/* Takes a call from the share of its sender. Returns false if it is used up. */
bool refused_shares_take(struct refused_shares *shares, const struct refused_call *call,
	int64_t boot_ms);

#endif

/*
 * standby - waits until this host's ledger may serve data that ledgers of several hosts share.
 *
 * Meanwhile no socket is served here: clients wait in the backlog, or the peer relays them to the active
 * ledger.
 */
#ifndef LEDGER_DAEMON_STANDBY_H
#define LEDGER_DAEMON_STANDBY_H

#include "base/settings.h"
#include "store/claim.h"
#include "store/servers.h"

/* Called when the active ledger is another one than before. @cell has its host and address; NULL: none serves. */
typedef void standby_news(void *context, const struct store_cell *cell);

struct standby_options {
	const struct store_options
		*store; /* with servers and claim; its claim gets what was seen */
	uint32_t takeover_ms;
	bool first; /* no ledger was started with this state: there may be no tables */
	standby_news *news;
	void *context;
};

/*
 * Looks at the cell until the ledger may claim it, and notes its epoch and turn in @claim, the
 * claim of options->store. Also waits while the servers cannot be reached. The caller has blocked
 * SIGTERM and SIGINT, which end the waiting. Returns STATUS_OK, STATUS_BUSY after such a signal, or
 * STATUS_CONFIG or STATUS_NOMEM, with a reason in @why.
 */
enum status standby_wait(const struct standby_options *options, struct store_claim *claim,
	char *why, size_t why_size);

/*
 * For a command of an operator: waits until the holder released the data or does not move for
 * @takeover_ms. Returns STATUS_BUSY, with the holder in @why, if a ledger serves them. Otherwise as
 * standby_wait(); STATUS_OK if there are no tables.
 */
enum status standby_check_unserved(const struct store_options *options, uint32_t takeover_ms,
	char *why, size_t why_size);

/* The name of this host among those of its cell: the setting, or its host name. */
const char *standby_member(const struct settings *settings, char name[STORE_MEMBER_SIZE]);

#endif

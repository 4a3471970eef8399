/*
 * breaker - the breaker of a dealer: its openings, and the last call that counted against the dealer.
 */
#ifndef ADMIN_BREAKER_H
#define ADMIN_BREAKER_H

#include "admin/session.h"
#include "link/metrics_commands.h"

/* Fetches the state of the dealer @casino_id. Reports dealer_not_found. */
enum outcome breaker_fetch(struct session *session, const char *casino_id,
	struct dealer_state_result *state);

/*
 * Counts the openings after @since_ms. Sets *more if there may be others: the ledger has only the newest
 * BREAKER_OPENINGS.
 */
unsigned int breaker_openings_since(const struct dealer_state_result *state, int64_t since_ms,
	bool *more);

/*
 * Finds the attempt of the last error, if state->bad_ms is not 0. Sets *found to false if the call was an inquiry of a
 * balance, or the attempt is not kept any more.
 */
enum outcome breaker_last_error(struct session *session, const struct dealer_state_result *state,
	struct attempt *attempt, bool *found);

#endif

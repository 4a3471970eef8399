/* dealer_settings - checks the ranges of a dealer's settings. */
#ifndef DOMAIN_DEALER_SETTINGS_H
#define DOMAIN_DEALER_SETTINGS_H

#include "domain/records.h"

#include <stdbool.h>

/*
 * Returns a sentence for the operator about the first setting of @dealer that is out of range, or
 * NULL.
 */
const char *dealer_bad_setting(const struct dealer *dealer);

/*
 * Returns true if the dealer usually sends its balance when it accepts a bet, and did not do so at
 * least once. @with and @without are the numbers of such answers. An answer without a balance may
 * then be an error that the dealer's framework sent with HTTP 200.
 */
bool dealer_misses_balance(uint64_t with, uint64_t without);

/*
 * Returns true if @unknown of @refunds, at least three and more than half, are of bets that the dealer
 * does not know: its bets do not arrive, or it forgets them.
 */
bool dealer_misses_bets(uint64_t unknown, uint64_t refunds);

/*
 * Returns true if so many callbacks were @known to the dealer from an attempt whose answer was lost that
 * its answers should be looked at.
 */
bool dealer_loses_answers(uint64_t known);

#endif

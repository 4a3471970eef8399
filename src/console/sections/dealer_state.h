/* dealer_state - the breaker of a dealer, its openings, and the attempts of its callbacks. */
#ifndef CONSOLE_SECTIONS_DEALER_STATE_H
#define CONSOLE_SECTIONS_DEALER_STATE_H

#include "console/common/page.h"
#include "link/metrics_commands.h"

/* Writes the sections. They are empty for a dealer that has had no callback. */
enum outcome dealer_state_write(struct page *page, const struct dealer_state_result *state);

#endif

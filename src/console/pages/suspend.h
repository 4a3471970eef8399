/*
 * suspend - the form that suspends a dealer or a player, or lifts the suspension, on the page of either one.
 */
#ifndef CONSOLE_PAGES_SUSPEND_H
#define CONSOLE_PAGES_SUSPEND_H

#include "console/common/page.h"

/* Writes the form for the operators that may send it (link/roles.def, link/desk.def). */
void suspend_player_form(struct page *page, const struct player *player);
void suspend_dealer_form(struct page *page, const struct dealer *dealer);

#endif

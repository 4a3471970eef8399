/*
 * players - the form that finds players of a dealer, on the page of the dealer and on that of the players found.
 */
#ifndef CONSOLE_PAGES_PLAYERS_H
#define CONSOLE_PAGES_PLAYERS_H

#include "console/common/page.h"

/* Writes the form, with the beginning in the address. @note: a text in the form before its input; "": none. */
void players_form(struct page *page, const struct dealer *dealer, const char *note);

#endif

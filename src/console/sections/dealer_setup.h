/* dealer_setup - what a dealer needs before it can play: the steps of onboarding, and its keys. */
#ifndef CONSOLE_SECTIONS_DEALER_SETUP_H
#define CONSOLE_SECTIONS_DEALER_SETUP_H

#include "console/common/page.h"
#include "domain/records.h"

/* Writes the five steps, and the command of the next one. If all are done, the list is folded. */
void dealer_setup_steps(struct page *page, const struct dealer *dealer, const struct total *total);

/* Writes the ids of the keys. @dealer is a row of LIST: it has no key. */
void dealer_setup_keys(struct page *page, const struct dealer *dealer);

#endif

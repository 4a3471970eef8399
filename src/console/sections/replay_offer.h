/*
 * replay_offer - the part of the list of callbacks that offers a replay: the form around the table, and its
 * buttons.
 */
#ifndef CONSOLE_SECTIONS_REPLAY_OFFER_H
#define CONSOLE_SECTIONS_REPLAY_OFFER_H

#include "console/common/walk.h"

/* Returns true if a replay can be offered for the filter: one dealer, and a state that has parked ones. */
bool replay_offer_may(const struct page *page, const struct filter *filter);

/* Opens the form, with the filter of the page. */
void replay_offer_open(struct page *page);
/* Writes the buttons, if there is anything to replay, and closes the form. */
enum outcome replay_offer_close(struct page *page, const struct filter *filter,
	const struct row_walk *walk);

#endif

/*
 * places - the navigation of a page: the links to the sections of the console and, for a page below a section, the way to
 * that page, "Dealers / demo / alice".
 */
#ifndef CONSOLE_COMMON_PLACES_H
#define CONSOLE_COMMON_PLACES_H

#include "console/common/page.h"

/*
 * Set the way to the page; call one of them before page_begin(). Each way contains the one before
 * it: section, dealer, player, round. places_write_way() adds the page itself. Ids may be foreign.
 */
void places_section(struct page *page, const char *path);
void places_dealer(struct page *page, const char *casino_id);
void places_player(struct page *page, const char *casino_id, const char *player_id,
	const char *user_id);
void places_round(struct page *page, const struct round *round);

/* Writes the sections that the operator may open. */
void places_write(struct page *page);
/* Writes the way to the page, if one was set. @title and @id are those of the page. */
void places_write_way(struct page *page, const char *title, const char *id);

#endif

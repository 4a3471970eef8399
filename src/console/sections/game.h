/*
 * game - the rows of one round, the parts of the pages of a bet and of a round that are alike, and the
 * sentences of what happened and of the debt (domain/story.h).
 */
#ifndef CONSOLE_SECTIONS_GAME_H
#define CONSOLE_SECTIONS_GAME_H

#include "console/common/page.h"
#include "domain/story.h"

#define GAME_EVENTS_MAX 64 /* callbacks that a page shows */

struct game_rows {
	struct round round;
	struct dealer dealer;
	uint64_t events[GAME_EVENTS_MAX];
	unsigned int event_count;
};

/* Fetches the round and its dealer. *found: whether the round exists. */
enum outcome game_fetch(struct page *page, const char *player_id, const char *game_id,
	struct game_rows *game, bool *found);
/* Adds an event to those that game_callbacks() shows. 0 is none. */
void game_add_event(struct game_rows *game, uint64_t event);

/* Writes the three sentences, with a button that copies them. */
void game_story(struct page *page, const struct story *story);
/* Writes the facts of the round. */
void game_round(struct page *page, const struct game_rows *game);
/* Writes the callbacks with their attempts. */
enum outcome game_callbacks(struct page *page, const struct game_rows *game);
/* Writes a body or a JSON text, folded: byte for byte, and JSON with an indent beside it. */
void game_bytes(struct page *page, const char *title, struct bytes bytes);
/* Writes the body of a callback in the same way. */
enum outcome game_callback_body(struct page *page, uint64_t event);
/* Makes the answer the error page of a transaction id in the address that does not exist. */
enum outcome game_no_transaction(struct page *page);

#endif

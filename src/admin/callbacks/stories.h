/*
 * stories - fetches the rows that a sentence of domain/story.h needs, and makes the sentence.
 */
#ifndef ADMIN_CALLBACKS_STORIES_H
#define ADMIN_CALLBACKS_STORIES_H

#include "admin/session.h"
#include "domain/story.h"

/*
 * Makes the story of @round, by its last callback. @brief: without the last attempt and the time of the
 * next one, which cost further reads; the debt is the same.
 */
enum outcome stories_round(struct session *session, const struct round *round, bool brief,
	struct story *story);

/* Makes the story of @bet of @round. A settled bet has the story of its round. */
enum outcome stories_bet(struct session *session, const struct round *round, const struct bet *bet,
	bool brief, struct story *story);

/*
 * Makes the story of a waiting callback: of its bet or its round. *found is false if the callback is
 * none that moves credit or ends a round, or if its row is missing.
 */
enum outcome stories_callback(struct session *session, const struct callback *callback, bool brief,
	struct story *story, bool *found);

/*
 * Makes the story of a request key of the ledger, with its movement @entry (NULL: nothing moved). No
 * further rows are read.
 */
void stories_request(const struct request *request, const struct transaction *entry,
	const struct player_name *name, struct story *story);

#endif

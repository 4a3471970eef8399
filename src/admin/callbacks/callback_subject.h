/*
 * callback_subject - the bet, the correction or the round that a callback is about, and the amount that
 * the callback asks the dealer to move.
 */
#ifndef ADMIN_CALLBACKS_CALLBACK_SUBJECT_H
#define ADMIN_CALLBACKS_CALLBACK_SUBJECT_H

#include "admin/ahead.h"
#include "admin/session.h"

struct callback_subject {
	money_t amount; /* below 0: a betting-correction that takes credit back */
	uint64_t transaction_id;
	const char *state; /* of the bet, or the result of the round; "": its row is missing */
};

/* Fetches the rows of @callback. */
enum outcome callback_subject_fetch(struct session *session, const struct callback *callback,
	struct callback_subject *subject);

/* Names the rows that callback_subject_fetch() fetches. */
void callback_subject_want(struct ahead *ahead, const struct callback *callback);

/* Fetches the bet or the round that @callback names. @found: whether it exists. */
enum outcome callback_bet_fetch(struct session *session, const struct callback *callback,
	struct bet *bet, bool *found);
enum outcome callback_round_fetch(struct session *session, const struct callback *callback,
	struct round *round, bool *found);

#endif

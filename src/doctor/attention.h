/*
 * attention - what of dealers and game servers needs the operator, although the books are right.
 *
 * A key that two of them hold makes a body that is signed for the one valid for the other. No command
 * issues such a key; data of an older program may have some. A seamless dealer without a URL cannot be
 * asked, so that every bet of its players is refused.
 */
#ifndef DOCTOR_ATTENTION_H
#define DOCTOR_ATTENTION_H

#include "admin/session.h"

/* A dealer or client that has a key, and the other one that was found to have it first. */
struct attention_key {
	enum keyring_of of;
	char owner[CASINO_ID_SIZE];
	enum keyring_of other_of;
	char other[CASINO_ID_SIZE];
};

/* Is given each key that is shared. */
typedef void attention_visit(void *context, const struct attention_key *shared);

/*
 * Asks the ledger for all keys. False: it does not answer, or memory is exhausted; nothing is
 * reported then.
 */
bool attention_keys(struct session *session, attention_visit *visit, void *context);

/* Writes "dealer demo and client slots". */
#define ATTENTION_KEY_TEXT (2 * CASINO_ID_SIZE + 32)
void attention_key_text(const struct attention_key *shared, char text[ATTENTION_KEY_TEXT]);

/* Is given the casino_id of each seamless dealer without a URL. */
typedef void attention_dealer(void *context, const char *casino_id);
/* As attention_keys(). */
bool attention_dealers(struct session *session, attention_dealer *visit, void *context);

#endif

/*
 * attention - finds dealers and game servers that need the operator although the rows are
 * correct.
 *
 * If two of them have the same key, a body signed for one is also valid for the other. No command
 * issues such a key, but data of an older program may contain one. A seamless dealer without a
 * URL cannot be asked, so every bet of its players is refused.
 */
#ifndef DOCTOR_ATTENTION_H
#define DOCTOR_ATTENTION_H

#include "admin/session.h"

/* A dealer or client that has a key, and the other owner, which was found first. */
struct attention_key {
	enum keyring_of of;
	char owner[CASINO_ID_SIZE];
	enum keyring_of other_of;
	char other[CASINO_ID_SIZE];
};

/* Called for each shared key. */
typedef void attention_visit(void *context, const struct attention_key *shared);

/*
 * Gets all keys from the ledger. Returns false, without a report, if the ledger does not answer
 * or memory is exhausted.
 */
bool attention_keys(struct session *session, attention_visit *visit, void *context);

/* Writes a text such as "dealer demo and client slots". */
#define ATTENTION_KEY_TEXT (2 * CASINO_ID_SIZE + 32)
void attention_key_text(const struct attention_key *shared, char text[ATTENTION_KEY_TEXT]);

/* Called with the casino_id of each seamless dealer without a URL. */
typedef void attention_dealer(void *context, const char *casino_id);
/* As attention_keys(). */
bool attention_dealers(struct session *session, attention_dealer *visit, void *context);

#endif

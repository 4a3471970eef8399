#include "admin/keys.h"

#include "admin/list.h"

#include <string.h>

/* A fetch of the keyring through a session, and the outcome of its last call. */
struct fetch {
	struct session *session;
	enum outcome outcome;
};

static enum status ask_session(void *context, const struct keyring_cmd *cmd,
	struct keyring_result *page)
{
	struct fetch *fetch = context;

	fetch->outcome = session_do(fetch->session, COMMAND_KEYRING, cmd, page, NULL);
	return fetch->outcome == OUTCOME_DONE ? STATUS_OK : STATUS_BUSY;
}

enum outcome keys_fetch(struct session *session, enum keyring_of of, struct keyring *keyring)
{
	struct fetch fetch = {.session = session, .outcome = OUTCOME_DONE};
	enum status status = keyring_fetch(keyring, of, ask_session, &fetch);

	if (fetch.outcome != OUTCOME_DONE)
		return fetch.outcome;
	switch (status) {
	case STATUS_OK:
		return OUTCOME_DONE;
	case STATUS_NOMEM:
		return session_no_memory(session);
	case STATUS_BUSY:
		return session_fail(session, OUTCOME_BUSY, "ledger_busy",
			"the keys change while they are read: repeat this");
	default:
		return session_fail(session, OUTCOME_FAILED, "failed",
			"the ledger sent keys that "
			"cannot be read: run `creditbridgectl doctor`, which compares the versions");
	}
}

enum outcome keys_fetch_callers(struct session *session, enum keyring_of of,
	struct keyring *keyring)
{
	const bool deals = of == KEYRING_DEALERS;
	struct keyring_entry entry;
	struct dealer dealer;
	struct client client;
	struct list list;
	enum status status = STATUS_OK;

	list_open(&list, session, deals ? RECORD_DEALER : RECORD_CLIENT, false, 0, NULL);
	while (!status && list_next(&list, deals ? (void *)&dealer : &client)) {
		if (deals)
			keyring_entry_of_dealer(&dealer, &entry);
		else
			keyring_entry_of_client(&client, &entry);
		status = keyring_add(keyring, &entry);
	}
	return list_end(&list, status ? session_no_memory(session) : OUTCOME_DONE);
}

static enum status try_session(void *context, const struct keyring_cmd *cmd,
	struct keyring_result *page)
{
	struct failure failure;

	return session_try(context, COMMAND_KEYRING, cmd, page, &failure) == OUTCOME_DONE
		? STATUS_OK
		: STATUS_BUSY;
}

bool keys_try(struct session *session, enum keyring_of of, struct keyring *keyring)
{
	return keyring_fetch(keyring, of, try_session, session) == STATUS_OK;
}

/* Copies the signing key from @entry. */
static enum outcome copy_signing_key(struct session *session, const struct keyring_entry *entry,
	struct signing *signing)
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		const struct dealer_key *key = &entry->keys[i];

		if (!key->key_id[0] || strcmp(key->key_id, entry->signing_key_id) != 0)
			continue;
		signing->algorithm = entry->signature_algorithm;
		signing->encoding = entry->signature_encoding;
		memcpy(signing->secret, key->secret, sizeof(signing->secret));
		return OUTCOME_DONE;
	}
	return session_fail(session, OUTCOME_FAILED, "key_not_found",
		"dealer %s has no signing key: "
		"`creditbridgectl dealer key-add`, then key-use",
		entry->caller_id);
}

enum outcome keys_find_signing(struct session *session, const char *casino_id,
	struct signing *signing)
{
	struct keyring keyring = {.entries = NULL};
	const struct keyring_entry *entry;
	enum outcome code = keys_fetch(session, KEYRING_DEALERS, &keyring);

	if (code == OUTCOME_DONE) {
		entry = keyring_find(&keyring, casino_id);
		code = entry ? copy_signing_key(session, entry, signing)
			     : session_fail(session, OUTCOME_FAILED, "dealer_not_found",
				       "there is no dealer '%s'; see `creditbridgectl dealer list`",
				       casino_id);
	}
	keyring_free(&keyring);
	return code;
}

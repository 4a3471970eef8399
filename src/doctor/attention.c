#include "doctor/attention.h"

#include "admin/keys.h"
#include "ledger/rows/issued_keys.h"

#include <stdio.h>
#include <string.h>

void attention_key_text(const struct attention_key *shared, char text[ATTENTION_KEY_TEXT])
{
	static const char *const kinds[KEYRING_OF_COUNT] = {"dealer", "client"};

	snprintf(text, ATTENTION_KEY_TEXT, "%s %s and %s %s", kinds[shared->other_of],
		shared->other, kinds[shared->of], shared->owner);
}

/* Adds the keys of @entry to the book. Calls the visitor for keys that are already in it. */
static bool add_entry(struct key_book *book, enum keyring_of of, const struct keyring_entry *entry,
	attention_visit *visit, void *context)
{
	struct attention_key shared = {.of = of};
	struct key_entry found;

	if (!key_book_add_keys(book, of, entry->caller_id, entry->keys, &found))
		return false;
	if (!found.digest[0])
		return true;
	memcpy(shared.owner, entry->caller_id, sizeof(shared.owner));
	shared.other_of = found.of;
	memcpy(shared.other, found.owner, sizeof(shared.other));
	visit(context, &shared);
	return true;
}

static bool read_keyring(struct session *session, struct key_book *book, enum keyring_of of,
	attention_visit *visit, void *context)
{
	struct keyring keyring = {.entries = NULL};
	bool done = keys_try(session, of, &keyring);

	for (uint32_t i = 0; done && i < keyring.count; i++)
		done = add_entry(book, of, &keyring.entries[i], visit, context);
	keyring_free(&keyring);
	return done;
}

bool attention_keys(struct session *session, attention_visit *visit, void *context)
{
	struct key_book book;
	bool done;

	memset(&book, 0, sizeof(book));
	done = read_keyring(session, &book, KEYRING_DEALERS, visit, context) &&
		read_keyring(session, &book, KEYRING_CLIENTS, visit, context);
	key_book_free(&book);
	return done;
}

static bool visit_dealers(struct bytes rows, attention_dealer *visit, void *context)
{
	struct dealer dealer;

	while (rows.len) {
		if (!link_list_row(&rows, RECORD_DEALER, &dealer))
			return false;
		if (dealer.mode == WALLET_SEAMLESS && !dealer.url[0])
			visit(context, dealer.casino_id);
	}
	return true;
}

bool attention_dealers(struct session *session, attention_dealer *visit, void *context)
{
	struct list_cmd cmd = {.record = RECORD_DEALER};
	struct list_result result;
	struct failure failure;
	struct buffer cursor;
	bool done;

	buffer_init(&cursor, LIST_KEY_MAX);
	do {
		done = session_try(session, COMMAND_LIST, &cmd, &result, &failure) ==
				OUTCOME_DONE &&
			visit_dealers(result.rows, visit, context);
		buffer_reset(&cursor);
		done = done && buffer_append(&cursor, result.cursor.data, result.cursor.len);
		cmd.cursor = (struct bytes){cursor.data, (uint32_t)cursor.len};
	} while (done && result.rows.len && result.more);
	buffer_free(&cursor);
	return done;
}

#include "ledger/unconfirmed.h"

#include <stdlib.h>
#include <string.h>

#define OWNER_SIZE (CASINO_ID_SIZE + 1)

void unconfirmed_free(struct unconfirmed *unconfirmed)
{
	free(unconfirmed->owners);
	memset(unconfirmed, 0, sizeof(*unconfirmed));
}

/* Returns true if @row has unconfirmed keys. Sets @owner in any case. */
static bool read_owner(enum record record, const void *row, char owner[OWNER_SIZE])
{
	const struct dealer *dealer = row;
	const struct client *client = row;
	const bool is_dealer = record == RECORD_DEALER;

	owner[0] = is_dealer ? 'd' : 'c';
	memcpy(owner + 1, is_dealer ? dealer->casino_id : client->client_id, CASINO_ID_SIZE);
	return is_dealer ? dealer->keys_restored_ms : client->keys_restored_ms && !client->removed;
}

bool unconfirmed_add(struct unconfirmed *unconfirmed, enum record record, const void *row)
{
	const size_t room = unconfirmed->room ? 2 * unconfirmed->room : 64;
	char(*owners)[OWNER_SIZE], owner[OWNER_SIZE];

	if (!read_owner(record, row, owner))
		return true;
	if (unconfirmed->count == unconfirmed->room) {
		owners = reallocarray(unconfirmed->owners, room, sizeof(*owners));
		if (!owners)
			return false;
		unconfirmed->owners = owners;
		unconfirmed->room = room;
	}
	memcpy(unconfirmed->owners[unconfirmed->count++], owner, OWNER_SIZE);
	return true;
}

static int compare_owners(const void *one, const void *other)
{
	return strcmp(one, other);
}

void unconfirmed_sort(struct unconfirmed *unconfirmed)
{
	if (unconfirmed->count)
		qsort(unconfirmed->owners, unconfirmed->count, OWNER_SIZE, compare_owners);
}

void unconfirmed_forget(struct unconfirmed *unconfirmed, enum record record, const void *row)
{
	char owner[OWNER_SIZE], (*found)[OWNER_SIZE];
	size_t at;

	if (!unconfirmed->count)
		return;
	read_owner(record, row, owner);
	found = bsearch(owner, unconfirmed->owners, unconfirmed->count, OWNER_SIZE, compare_owners);
	if (!found)
		return;
	at = (size_t)(found - unconfirmed->owners);
	unconfirmed->count--;
	memmove(found, found + 1, (unconfirmed->count - at) * OWNER_SIZE);
}

void unconfirmed_follow(struct unconfirmed *unconfirmed, enum record record, const void *row)
{
	char owner[OWNER_SIZE];

	if (unconfirmed->count && !read_owner(record, row, owner))
		unconfirmed_forget(unconfirmed, record, row);
}

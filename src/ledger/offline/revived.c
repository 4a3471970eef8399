#include "ledger/offline/revived.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static void describe_keys(char text[REVIVED_KEYS_SIZE],
	const struct dealer_key keys[DEALER_KEYS_MAX])
{
	char time[32];
	size_t len = 0;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX && len < REVIVED_KEYS_SIZE; i++) {
		if (!keys[i].key_id[0])
			continue;
		text_time(keys[i].created_ms, time);
		len += (size_t)snprintf(text + len, REVIVED_KEYS_SIZE - len, "%s%s of %.10s",
			len ? ", " : "", keys[i].key_id, time);
	}
}

bool revived_fill(struct revived *one, enum record record, const void *row)
{
	const struct dealer *dealer = row;
	const struct client *client = row;
	const struct player *player = row;

	memset(one, 0, sizeof(*one));
	snprintf(one->kind, sizeof(one->kind), "%s", record_infos[record].name);
	if (record == RECORD_DEALER) {
		snprintf(one->id, sizeof(one->id), "%s", dealer->casino_id);
		one->suspended = dealer->suspended;
		describe_keys(one->keys, dealer->keys);
	} else if (record == RECORD_CLIENT) {
		snprintf(one->id, sizeof(one->id), "%s", client->client_id);
		one->removed = client->removed;
		describe_keys(one->keys, client->keys);
	} else if (record == RECORD_PLAYER && player->suspended) {
		snprintf(one->id, sizeof(one->id), "%s/%s", player->casino_id, player->user_id);
		one->suspended = true;
	} else {
		return false;
	}
	return true;
}

bool changed_is_listed(const struct audit *deed)
{
	static const char *const actions[] = {"dealer add", "dealer set", "dealer suspend",
		"dealer resume", "dealer hold", "dealer key-add", "dealer key-use",
		"dealer key-retire", "client add", "client remove", "client key-add",
		"client key-use", "client key-retire", "player suspend", "player resume",
		"callback hold", "callback cancel"};
	size_t i = 0;

	while (i < sizeof(actions) / sizeof(actions[0]) && strcmp(deed->action, actions[i]) != 0)
		i++;
	return i < sizeof(actions) / sizeof(actions[0]);
}

void revived_init(struct revived_lists *lists)
{
	buffer_init(&lists->revived, SIZE_MAX / 4);
	buffer_init(&lists->changed, SIZE_MAX / 4);
	lists->looked = false;
}

void revived_free(struct revived_lists *lists)
{
	buffer_free(&lists->revived);
	buffer_free(&lists->changed);
}

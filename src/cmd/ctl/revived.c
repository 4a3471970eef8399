#include "cmd/ctl/revived.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define PLAYERS_SHOWN 1000

static const struct field revived_fields[] = {
	FIELD(FIELD_STR, revived, kind),
	FIELD(FIELD_STR, revived, id),
	FIELD(FIELD_BOOL, revived, suspended),
	FIELD(FIELD_BOOL, revived, removed),
	FIELD(FIELD_STR, revived, keys),
	FIELD_END,
};

static const struct output_column revived_columns[] = {
	{"KIND", "kind", OUTPUT_PLAIN},
	{"ID", "id", OUTPUT_PLAIN},
	{"SUSPENDED", "suspended", OUTPUT_PLAIN},
	{"REMOVED", "removed", OUTPUT_PLAIN},
	{"VALID KEYS", "keys", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* A change as it is shown. */
struct shown {
	int64_t time_ms;
	char action[ACTION_SIZE];
	char object[OBJECT_SIZE];
	bool in_force;
	char detail[DETAIL_SIZE];
	char reason[REASON_SIZE];
};

static const struct field shown_fields[] = {
	FIELD(FIELD_TIME_MS, shown, time_ms),
	FIELD(FIELD_STR, shown, action),
	FIELD(FIELD_STR, shown, object),
	FIELD(FIELD_BOOL, shown, in_force),
	FIELD(FIELD_STR, shown, detail),
	FIELD(FIELD_STR, shown, reason),
	FIELD_END,
};

static const struct output_column shown_columns[] = {
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"ACTION", "action", OUTPUT_PLAIN},
	{"OBJECT", "object", OUTPUT_PLAIN},
	{"IN FORCE", "in_force", OUTPUT_PLAIN},
	{"REASON", "reason", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static void put_keys(char text[REVIVED_KEYS_SIZE], const struct dealer_key keys[DEALER_KEYS_MAX])
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
		put_keys(one->keys, dealer->keys);
	} else if (record == RECORD_CLIENT) {
		snprintf(one->id, sizeof(one->id), "%s", client->client_id);
		one->removed = client->removed;
		put_keys(one->keys, client->keys);
	} else if (record == RECORD_PLAYER && player->suspended) {
		snprintf(one->id, sizeof(one->id), "%s/%s", player->casino_id, player->user_id);
		one->suspended = true;
	} else {
		return false;
	}
	return true;
}

bool changed_concerns(const struct audit *deed)
{
	static const char *const actions[] = {"dealer add", "dealer set", "dealer suspend",
		"dealer resume", "dealer hold", "dealer key-add", "dealer key-use", "dealer key-retire",
		"client add", "client remove", "client key-add", "client key-use", "client key-retire",
		"player suspend", "player resume", "callback hold", "callback cancel"};
	size_t i = 0;

	while (i < sizeof(actions) / sizeof(actions[0]) && strcmp(deed->action, actions[i]) != 0)
		i++;
	return i < sizeof(actions) / sizeof(actions[0]);
}

void revived_begin(struct revived_lists *lists)
{
	buffer_init(&lists->revived, SIZE_MAX / 4);
	buffer_init(&lists->changed, SIZE_MAX / 4);
	lists->looked = false;
}

void revived_end(struct revived_lists *lists)
{
	buffer_free(&lists->revived);
	buffer_free(&lists->changed);
}

static enum outcome show_revived(struct ctl *ctl, struct output_json *json,
	const struct buffer *rows)
{
	struct output_list list;
	struct revived one;
	unsigned int players = 0;

	output_title(ctl, "In force again, as the data that were brought back have it");
	output_list_open(&list, ctl, NULL, NULL, revived_fields, revived_columns);
	output_json_list_open(json, "revived");
	for (size_t at = 0; at + sizeof(one) <= rows->len; at += sizeof(one)) {
		memcpy(&one, rows->data + at, sizeof(one));
		output_json_item(json, revived_fields, &one);
		if (strcmp(one.kind, record_infos[RECORD_PLAYER].name) != 0 || players++ < PLAYERS_SHOWN)
			output_list_add(&list, &one);
	}
	output_json_list_close(json);
	if (players > PLAYERS_SHOWN && !ctl->json)
		ctl_tell(NULL, "%u more players are suspended (--json names all)",
			players - PLAYERS_SHOWN);
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome show_changed(struct ctl *ctl, struct output_json *json,
	const struct buffer *rows)
{
	struct output_list list;
	struct changed one;
	struct shown shown;

	output_title(ctl, "Changed after the backup; what is not in force is to be done again");
	output_list_open(&list, ctl, NULL, NULL, shown_fields, shown_columns);
	output_json_list_open(json, "changed");
	for (size_t at = 0; at + sizeof(one) <= rows->len; at += sizeof(one)) {
		memcpy(&one, rows->data + at, sizeof(one));
		memset(&shown, 0, sizeof(shown));
		shown.time_ms = one.deed.time_ms;
		shown.in_force = one.in_force;
		memcpy(shown.action, one.deed.action, sizeof(shown.action));
		memcpy(shown.object, one.deed.object, sizeof(shown.object));
		memcpy(shown.detail, one.deed.detail, sizeof(shown.detail));
		memcpy(shown.reason, one.deed.reason, sizeof(shown.reason));
		output_list_add(&list, &shown);
		output_json_item(json, shown_fields, &shown);
	}
	output_json_list_close(json);
	return output_list_close(&list, OUTCOME_DONE);
}

enum outcome revived_show(struct ctl *ctl, struct output_json *json, struct revived_lists *lists)
{
	enum outcome code = show_revived(ctl, json, &lists->revived);

	if (code == OUTCOME_DONE && lists->looked)
		code = show_changed(ctl, json, &lists->changed);
	return code;
}

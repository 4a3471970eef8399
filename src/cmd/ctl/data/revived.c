#include "cmd/ctl/data/revived.h"

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
struct shown_change {
	int64_t time_ms;
	char action[ACTION_SIZE];
	char object[OBJECT_SIZE];
	bool in_force;
	char detail[DETAIL_SIZE];
	char reason[REASON_SIZE];
};

static const struct field shown_fields[] = {
	FIELD(FIELD_TIME_MS, shown_change, time_ms),
	FIELD(FIELD_STR, shown_change, action),
	FIELD(FIELD_STR, shown_change, object),
	FIELD(FIELD_BOOL, shown_change, in_force),
	FIELD(FIELD_STR, shown_change, detail),
	FIELD(FIELD_STR, shown_change, reason),
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

static enum outcome show_revived(struct ctl *ctl, struct output_json *json,
	const struct buffer *rows, const char *title)
{
	struct output_list list;
	struct revived one;
	unsigned int players = 0;

	output_title(ctl, title);
	output_list_open(&list, ctl, NULL, NULL, revived_fields, revived_columns);
	output_json_list_open(json, "revived");
	for (size_t at = 0; at + sizeof(one) <= rows->len; at += sizeof(one)) {
		memcpy(&one, rows->data + at, sizeof(one));
		output_json_item(json, revived_fields, &one);
		if (strcmp(one.kind, record_infos[RECORD_PLAYER].name) != 0 ||
			players++ < PLAYERS_SHOWN)
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
	struct shown_change shown;

	output_title(ctl, "Changed after the backup; repeat the changes that are not in force");
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

enum outcome revived_show(struct ctl *ctl, struct output_json *json, struct revived_lists *lists,
	const char *title)
{
	enum outcome code = show_revived(ctl, json, &lists->revived, title);

	if (code == OUTCOME_DONE && lists->looked)
		code = show_changed(ctl, json, &lists->changed);
	return code;
}

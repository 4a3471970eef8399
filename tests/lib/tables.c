/*
 * tables - prints the field tables of the ledger's rows and commands as JSON, for the codec of the
 * Python tests (cb_codec.py):
 *
 *   {"records": {NAME: {"keys": N, "fields": [FIELD...]}},
 *    "commands": {NAME: {"command": [FIELD...], "result": [FIELD...]}},
 *    "entries": {NAME: [FIELD...]}}
 *   FIELD: {"name", "type", "count", "fields" of a group, "names" of an enum}
 *
 * The order is that of the numbers of records and commands.
 */
#include "domain/records.h"
#include "link/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const type_names[] = {
	[FIELD_BOOL] = "bool",
	[FIELD_U8] = "u8",
	[FIELD_U16] = "u16",
	[FIELD_U32] = "u32",
	[FIELD_I32] = "i32",
	[FIELD_U64] = "u64",
	[FIELD_ENUM] = "enum",
	[FIELD_MONEY] = "i64",
	[FIELD_TIME_MS] = "i64",
	[FIELD_STR] = "text",
	[FIELD_SECRET] = "text",
	[FIELD_BYTES] = "bytes",
	[FIELD_GROUP] = "group",
	[FIELD_JSON] = "bytes",
	[FIELD_SUM] = "i128",
};

static void fields_print(const struct field *field)
{
	const char *before = "";

	printf("[");
	for (; field->name; field++) {
		if (field->type >= sizeof(type_names) / sizeof(type_names[0]) ||
			!type_names[field->type])
			abort();
		printf("%s{\"name\":\"%s\",\"type\":\"%s\",\"count\":%" PRIu32, before, field->name,
			type_names[field->type], field->count);
		before = ",";
		if (field->type == FIELD_GROUP) {
			printf(",\"fields\":");
			fields_print(field->sub);
		}
		if (field->type == FIELD_ENUM) {
			printf(",\"names\":[");
			for (uint32_t i = 0; i < field->count; i++)
				printf("%s\"%s\"", i ? "," : "", field->names[i]);
			printf("]");
		}
		printf("}");
	}
	printf("]");
}

int main(void)
{
	printf("{\"records\":{");
	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		printf("%s\"%s\":{\"keys\":%u,\"fields\":", i ? "," : "", record_infos[i].name,
			record_infos[i].key_count);
		fields_print(record_infos[i].fields);
		printf("}");
	}
	printf("},\"commands\":{");
	for (unsigned int i = 0; i < COMMAND_COUNT; i++) {
		printf("%s\"%s\":{\"command\":", i ? "," : "", command_infos[i].name);
		fields_print(command_infos[i].cmd_fields);
		printf(",\"result\":");
		fields_print(command_infos[i].result_fields);
		printf("}");
	}
	printf("},\"entries\":{\"keyring_entry\":");
	fields_print(keyring_entry_fields);
	printf(",\"find_hit\":");
	fields_print(find_hit_fields);
	printf(",\"due_entry\":");
	fields_print(due_entry_fields);
	printf(",\"refused_call\":");
	fields_print(refused_call_fields);
	printf(",\"settle_item\":");
	fields_print(settle_item_fields);
	printf(",\"settle_answer\":");
	fields_print(settle_answer_fields);
	printf("}}\n");
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

#include "link/commands.h"

#include "link/frame.h"

const struct field verdict_fields[] = {
	FIELD_NAMED(verdict, refusal, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_BOOL, verdict, replay),
	FIELD(FIELD_STR, verdict, field),
	FIELD(FIELD_STR, verdict, detail),
	FIELD(FIELD_MONEY, verdict, current_balance),
	FIELD(FIELD_U32, verdict, retry_after_s),
	FIELD_END,
};

const struct field operator_fields[] = {
	FIELD(FIELD_U32, operator, uid),
	FIELD(FIELD_U32, operator, login_uid),
	FIELD(FIELD_STR, operator, sudo_user),
	FIELD(FIELD_STR, operator, operation_id),
	FIELD(FIELD_STR, operator, reason),
	FIELD_END,
};

const struct command_info command_infos[COMMAND_COUNT] = {
#define COMMAND(name, lower, socket, access, limited)                                              \
	{#lower, SOCKET_##socket, ACCESS_##access, limited, (uint32_t)sizeof(struct lower##_cmd),  \
		lower##_cmd_fields, (uint32_t)sizeof(struct lower##_result),                       \
		lower##_result_fields},
#include "link/commands.def"
#undef COMMAND
};

uint64_t command_protocol(void)
{
	uint64_t digest = field_digest_name(UINT64_C(0xcbf29ce484222325), FRAME_FORM);

	for (unsigned int i = 0; i < COMMAND_COUNT; i++) {
		digest = field_digest_name(digest, command_infos[i].name);
		digest = field_digest(digest, command_infos[i].cmd_fields);
		digest = field_digest(digest, command_infos[i].result_fields);
	}
	for (unsigned int i = 0; i < RECORD_COUNT; i++)
		digest = field_digest(digest, record_infos[i].fields);
	digest = field_digest(digest, settle_item_fields);
	digest = field_digest(digest, settle_answer_fields);
	return field_digest(digest, keyring_entry_fields);
}

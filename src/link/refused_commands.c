#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)

const struct field refused_request_fields[] = {
	FIELD(FIELD_TIME_MS, refused_request, time_ms),
	FIELD(FIELD_STR, refused_request, request_id),
	FIELD_NAMED(refused_request, of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD(FIELD_STR, refused_request, operation),
	FIELD(FIELD_STR, refused_request, method),
	FIELD(FIELD_STR, refused_request, path),
	FIELD_NAMED(refused_request, refusal, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_STR, refused_request, detail),
	FIELD(FIELD_U32, refused_request, caller_count),
	FIELD(FIELD_U32, refused_request, signature_count),
	FIELD(FIELD_U32, refused_request, body_len),
	FIELD(FIELD_BOOL, refused_request, body_broken),
	FIELD(FIELD_BYTES, refused_request, caller),
	FIELD(FIELD_BYTES, refused_request, signature),
	FIELD(FIELD_BYTES, refused_request, query),
	FIELD(FIELD_BYTES, refused_request, body),
	FIELD_END,
};

const struct field refused_note_cmd_fields[] = {
	FIELD_SUB(refused_note_cmd, request, refused_request, refused_request_fields),
	FIELD_END,
};
const struct field refused_note_result_fields[] = {
	VERDICT(refused_note_result),
	FIELD(FIELD_BOOL, refused_note_result, kept),
	FIELD_END,
};

const struct field refused_find_cmd_fields[] = {
	FIELD(FIELD_STR, refused_find_cmd, request_id),
	FIELD_END,
};
const struct field refused_find_result_fields[] = {
	VERDICT(refused_find_result),
	FIELD(FIELD_U32, refused_find_result, matches),
	FIELD(FIELD_U32, refused_find_result, kept),
	FIELD(FIELD_U64, refused_find_result, dropped),
	FIELD(FIELD_TIME_MS, refused_find_result, since_ms),
	FIELD(FIELD_TIME_MS, refused_find_result, started_ms),
	FIELD_SUB(refused_find_result, request, refused_request, refused_request_fields),
	FIELD_END,
};

const struct field key_try_cmd_fields[] = {
	FIELD_NAMED(key_try_cmd, of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD(FIELD_STR, key_try_cmd, caller_id),
	FIELD(FIELD_BOOL, key_try_cmd, others),
	FIELD_NAMED(key_try_cmd, after_of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD(FIELD_STR, key_try_cmd, after),
	FIELD_NAMED(key_try_cmd, algorithm, signature_algorithm_names, SIGNATURE_ALGORITHM_COUNT),
	FIELD_NAMED(key_try_cmd, use, key_use_names, KEY_USE_COUNT),
	FIELD(FIELD_BYTES, key_try_cmd, digest),
	FIELD(FIELD_BYTES, key_try_cmd, body),
	FIELD_END,
};
const struct field key_try_result_fields[] = {
	VERDICT(key_try_result),
	FIELD(FIELD_BOOL, key_try_result, found),
	FIELD_NAMED(key_try_result, of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD(FIELD_STR, key_try_result, caller_id),
	FIELD(FIELD_STR, key_try_result, key_id),
	FIELD(FIELD_BOOL, key_try_result, retired),
	FIELD(FIELD_TIME_MS, key_try_result, time_ms),
	FIELD(FIELD_BOOL, key_try_result, more),
	FIELD_NAMED(key_try_result, after_of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD(FIELD_STR, key_try_result, after),
	FIELD_END,
};

#include "domain/desk_operator.h"

static const struct field wrong_code_fields[] = {
	FIELD(FIELD_TIME_MS, wrong_code, time_ms),
	FIELD_END,
};

const struct field desk_operator_fields[] = {
	FIELD(FIELD_STR, desk_operator, name),
	FIELD(FIELD_STR, desk_operator, login),
	FIELD_NAMED(desk_operator, role, role_names, ROLE_COUNT),
	FIELD(FIELD_BOOL, desk_operator, suspended),
	FIELD(FIELD_SECRET, desk_operator, secret),
	FIELD(FIELD_U64, desk_operator, last_step),
	FIELD_SUB(desk_operator, wrong, wrong_code, wrong_code_fields),
	FIELD(FIELD_U32, desk_operator, locks),
	FIELD(FIELD_TIME_MS, desk_operator, locked_until_ms),
	FIELD(FIELD_U32, desk_operator, epoch),
	FIELD(FIELD_TIME_MS, desk_operator, created_ms),
	FIELD(FIELD_TIME_MS, desk_operator, signed_in_ms),
	FIELD_END,
};

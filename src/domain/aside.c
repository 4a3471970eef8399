#include "domain/aside.h"

#include "base/text.h"

#include <string.h>

const struct field aside_fields[] = {
	FIELD(FIELD_STR, aside, casino_id),
	FIELD(FIELD_U64, aside, event),
	FIELD(FIELD_BOOL, aside, held),
	FIELD_END,
};

bool callback_is_aside(enum callback_state state)
{
	return state == CALLBACK_PARKED || state == CALLBACK_HELD;
}

struct aside aside_of(const struct callback *callback)
{
	struct aside row;

	memset(&row, 0, sizeof(row));
	text_copy(row.casino_id, sizeof(row.casino_id), callback->casino_id);
	row.event = callback->event;
	row.held = callback->state == CALLBACK_HELD;
	return row;
}

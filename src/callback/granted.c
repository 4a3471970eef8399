#include "callback/granted.h"

#include "base/clock.h"
#include "base/text.h"

static bool in_time(void *closure)
{
	const struct granted *granted = closure;

	return clock_boot_ms() <= granted->send_until_ms;
}

struct callback_request granted_request(struct granted *granted, const struct callback_grant *grant,
	int64_t asked_ms, const char *casino_id, uint32_t timeout_ms)
{
	*granted = (struct granted){
		.send_until_ms =
			asked_ms + grant->lease_left_ms - timeout_ms - CALLBACK_FENCE_SPARE_MS,
		.end = {.event = grant->event, .kind = grant->kind, .attempt = grant->attempt},
	};
	text_copy(granted->end.casino_id, sizeof(granted->end.casino_id), casino_id);
	return (struct callback_request){
		.kind = grant->kind,
		.event = grant->event,
		.target = &grant->target,
		.body = grant->body,
		.fence = in_time,
		.closure = granted,
	};
}

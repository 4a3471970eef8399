#include "web/handlers/handlers.h"

struct health {
	char status[3];
};

static const struct field health_fields[] = {
	FIELD(FIELD_STR, health, status),
	FIELD_END,
};

void handle_healthz(struct web_request *web)
{
	static const struct health health = {"ok"};

	reply_success(web->reply, health_fields, &health);
}

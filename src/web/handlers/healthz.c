#include "web/handlers/handlers.h"

struct health {
	char status[3];
};

static const struct field health_fields[] = {
	FIELD(FIELD_STR, health, status),
	FIELD_END,
};

void handle_healthz(struct exchange *exchange)
{
	static const struct health health = {"ok"};

	reply_success(exchange->reply, health_fields, &health);
}

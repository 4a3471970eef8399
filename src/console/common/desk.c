#include "console/common/desk.h"

#include <string.h>

static enum status ask_way(void *closure, enum command command, const void *cmd, void *result)
{
	const struct console_desk *desk = closure;

	return desk->way->ask(desk->context, &desk->caller, command, cmd, result);
}

void desk_init(struct console_desk *desk, const struct desk_way *way, void *context)
{
	memset(desk, 0, sizeof(*desk));
	desk->way = way;
	desk->context = context;
	settings_defaults(&desk->session.settings);
	desk->session.settings_loaded = true;
	desk->session.ask = ask_way;
	desk->session.ask_closure = desk;
}

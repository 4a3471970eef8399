/* desk_link - the way to the ledger over desk.sock. */
#ifndef CONSOLE_COMMON_DESK_LINK_H
#define CONSOLE_COMMON_DESK_LINK_H

#include "console/common/desk.h"

struct desk_link_options {
	char path[108]; /* of desk.sock */
	uint32_t deadline_ms;
};

extern const struct desk_way desk_link;
/* Makes the context of a thread. @options is a struct desk_link_options, which must outlive it. */
void *desk_link_open(void *options);
void desk_link_close(void *context);

#endif

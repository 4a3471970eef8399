/*
 * desk_admin - the way of a console over admin.sock, for tests: four operators, whose sessions and one
 * code are in the memory of the process.
 */
#ifndef TESTS_CONSOLE_DESK_ADMIN_H
#define TESTS_CONSOLE_DESK_ADMIN_H

#include "console/common/desk.h"

#define DESK_ADMIN_CODE  "123456"
#define DESK_ADMIN_FRONT "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

extern const struct desk_way desk_admin;
/* Makes the context of a thread: a connection to the admin.sock at @path. */
void *desk_admin_open(void *path);
void desk_admin_close(void *link);

#endif

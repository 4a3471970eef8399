/*
 * routes - the table of the console's pages.
 */
#ifndef CONSOLE_PAGES_ROUTES_H
#define CONSOLE_PAGES_ROUTES_H

#include "console/common/route.h"

/*
 * Returns the route of @path below the base path, and the number that the path holds. NULL: there is
 * none.
 */
const struct console_route *routes_find(const char *path, uint64_t *number);
/* Returns the route @at, counted from 0, or NULL after the last one. */
const struct console_route *routes_number(unsigned int at);

#endif

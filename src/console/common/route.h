/*
 * route - what the table of pages says of one page: address, methods, the least role, and the function.
 */
#ifndef CONSOLE_COMMON_ROUTE_H
#define CONSOLE_COMMON_ROUTE_H

#include "admin/outcome.h"
#include "domain/role.h"

#include <stdbool.h>
#include <stdint.h>

struct page;

enum route_method { ROUTE_GET = 1, ROUTE_POST = 2 };

struct console_route {
	const char *path; /* "#" stands for a number above 0 */
	unsigned int methods;
	enum role least;
	bool open; /* served without a session: the sign-in */
	bool csv;  /* the list of the same page as CSV */
	enum outcome (*show)(struct page *page);
};

#endif

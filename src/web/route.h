/*
 * route - the handlers of the operations (wire/operations.h).
 *
 * A path must match exactly, after the base_path at which the web server mounts the service
 * (contract, "Routing"). Routes of the other group do not exist for a worker. So a
 * wrong rewrite cannot make a wallet worker serve the platform's paths.
 */
#ifndef WEB_ROUTE_H
#define WEB_ROUTE_H

#include "wire/operations.h"

#include <stdbool.h>
#include <stddef.h>

struct web_request;

struct route {
	const struct http_operation *operation;
	bool serves_excess; /* served even if too many calls wait; it must not call the ledger */
	void (*handle)(struct web_request *web);
};

/* Returns the route of @group for @path without @base_path (see text_base_path()), or NULL. */
const struct route *route_find(enum serve_group group, const char *base_path, const char *path);

/* Returns the route @number, counted from 0, or NULL after the last one. */
const struct route *route_number(unsigned int number);

#endif

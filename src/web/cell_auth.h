/*
 * cell_auth - authenticates callers of a worker with several cells (web/request/cell_links.h).
 *
 * A dealer's keys are those of its cell, which becomes the cell of the request. Game servers have the same
 * keys in all cells, so any cell that answers will do.
 */
#ifndef WEB_CELL_AUTH_H
#define WEB_CELL_AUTH_H

#include "web/auth.h"
#include "web/request/cell_links.h"

/* Like auth_check(). STATUS_BUSY is also a dealer in two cells. */
enum status cell_auth_check(struct auth *auth, struct cell_links *links,
	const struct http_request *request, int64_t deadline_ms,
	const struct keyring_entry **caller);

#endif

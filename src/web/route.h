/*
 * route - the table of operations: which paths exist, in which group, and what they take.
 *
 * A path must match exactly, after the base_path at which the web server mounts the service
 * (api.md, Common rules, Routing). Routes of the other group do not exist for a worker. So a
 * wrong rewrite cannot make a wallet worker serve the platform's paths.
 */
#ifndef WEB_ROUTE_H
#define WEB_ROUTE_H

#include "metrics/counters.h"
#include "web/request/method.h"
#include "wire/body.h"

#include <stdbool.h>
#include <stddef.h>

struct web_request;

enum serve_group {
	SERVE_WALLET,   /* group A: called by dealers */
	SERVE_PLATFORM, /* group C: called by the platform's game servers */
	SERVE_GROUP_COUNT,
};
extern const char *const serve_group_names[SERVE_GROUP_COUNT];

struct route {
	const char *path; /* below base_path */
	enum serve_group group;
	unsigned int methods; /* enum http_method, or-ed */
	bool is_signed;       /* the caller must sign, and @body describes the body */
	bool serves_excess;   /* served even if too many calls wait; it must not call the ledger */
	const struct body_field *body;
	enum web_operation operation; /* the name under which it is counted */
	void (*handle)(struct web_request *web);
};

/* Returns the route of @group for @path without @base_path (see text_base_path()), or NULL. */
const struct route *route_find(enum serve_group group, const char *base_path, const char *path);

/* Returns the route @number, counted from 0, or NULL after the last one. */
const struct route *route_number(unsigned int number);

#endif

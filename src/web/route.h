/*
 * route - which paths exist, in which group, and what they take.
 *
 * Paths are matched exactly, less the base_path at which the web server mounts the service
 * (api.md, Common rules, Routing). A route of another group is not there at all: a worker of the
 * wallet mount cannot be made to serve the platform's paths by a wrong rewrite.
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
	SERVE_WALLET,   /* group A: what dealers call */
	SERVE_PLATFORM, /* group C: what the platform's game servers call */
	SERVE_GROUP_COUNT,
};
extern const char *const serve_group_names[SERVE_GROUP_COUNT];

struct route {
	const char *path; /* below base_path */
	enum serve_group group;
	unsigned int methods; /* enum http_method, or-ed */
	bool is_signed;       /* the gate must know the caller, and @body describes the body */
	bool serves_excess;     /* it is served however many calls wait */
	const struct body_field *body;
	enum web_operation operation; /* it is counted as */
	void (*handle)(struct web_request *web);
};

/* Finds the route of @group that is @path less @base_path (see text_base_path), or NULL. */
const struct route *route_find(enum serve_group group, const char *base_path, const char *path);

/* The route @number, counted from 0; NULL: there are no more. For what must look at all. */
const struct route *route_number(unsigned int number);

#endif

/*
 * trace - writes bodies to the log, only at level debug.
 *
 * event=body request_id=... of=request bytes=2048 body="{\"user_id\":\"alice\", ..."
 *
 * It shows the first bytes of a body as a JSON string. It never shows headers, so never a
 * signature.
 */
#ifndef WIRE_TRACE_H
#define WIRE_TRACE_H

#include "base/field.h"

/* Limit of the bytes shown. Fewer are shown if many need an escape. */
#define TRACE_BODY_MAX 1024

/* The origin of the body. */
struct trace_of {
	const char *request_id; /* NULL: no request */
	const char *webhook_id; /* of a callback; NULL: no callback */
	const char *what;       /* "request", "answer" */
};

/* Writes the line, if the level is debug. */
void trace_body(const struct trace_of *of, struct bytes body);

#endif

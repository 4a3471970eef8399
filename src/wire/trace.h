/*
 * trace - bodies in the log, at level debug alone.
 *
 *     event=body request_id=... of=request bytes=2048 body="{\"user_id\":\"alice\", ..."
 *
 * The first bytes of a body, as a JSON string; never a header, so never a signature.
 */
#ifndef WIRE_TRACE_H
#define WIRE_TRACE_H

#include "base/field.h"

/* So much of a body is shown, and less when much of it must be escaped. */
#define TRACE_BODY_MAX 1024

/* Whose body it is. */
struct trace_of {
	const char *request_id; /* NULL: of no request */
	const char *webhook_id; /* of a callback; NULL: of none */
	const char *what;       /* "request", "answer" */
};

/* Writes the line. At another level than debug it does nothing. */
void trace_body(const struct trace_of *of, struct bytes body);

#endif

/*
 * operations - the table of HTTP operations: which paths exist, in which group, and what they take.
 *
 * The workers serve them (web/route.c), `creditbridgectl request` calls them, and `doctor` probes
 * them.
 */
#ifndef WIRE_OPERATIONS_H
#define WIRE_OPERATIONS_H

#include <stddef.h>

enum http_method { METHOD_GET = 1 << 0, METHOD_POST = 1 << 1 };

enum serve_group {
	SERVE_WALLET,   /* group A: called by dealers */
	SERVE_PLATFORM, /* group C: called by the platform's game servers */
	SERVE_GROUP_COUNT,
};
extern const char *const serve_group_names[SERVE_GROUP_COUNT];

enum web_operation {
#define OPERATION(name, ...) OPERATION_##name,
#include "wire/operations.def"
#undef OPERATION
	OPERATION_COUNT
};

struct body_field;

struct http_operation {
	enum web_operation number;
	const char *name;
	const char *path;     /* below base_path; NULL: it cannot be called */
	unsigned int methods; /* enum http_method, or-ed */
	enum serve_group group;
	const struct body_field *body; /* NULL: it takes no body and no signature */
};

/* Indexed by enum web_operation. */
extern const struct http_operation http_operations[OPERATION_COUNT];

/* Returns the bytes of the largest body that the operation takes (contract, "Body"). */
size_t http_operation_body_max(const struct http_operation *operation);

/* Returns the operation called @name that can be called in @group; NULL if there is none. */
const struct http_operation *http_operation_find(enum serve_group group, const char *name);

#endif

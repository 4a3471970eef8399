/*
 * refusal - how the wallet declines.
 *
 * A refusal is ordinary data in a result (api.md, Error ids); it tells that the call changed
 * nothing, or what it recorded. A machine failure is a status (base/status.h).
 */
#ifndef DOMAIN_REFUSAL_H
#define DOMAIN_REFUSAL_H

#include <stdbool.h>

enum refusal {
#define REFUSAL(name, id, code, retryable, detail) REFUSAL_##name,
#include "domain/refusal.def"
#undef REFUSAL
	REFUSAL_COUNT
};

struct refusal_info {
	const char *id;     /* error id of the wire */
	int code;           /* HTTP status */
	bool retryable;
	const char *detail; /* what a person reads when no better detail is known */
};

/* The ids by number, for field tables. */
extern const char *const refusal_ids[REFUSAL_COUNT];

/* Returns the row of @refusal, never NULL; an unknown number gives internal_error's. */
const struct refusal_info *refusal_info(enum refusal refusal);

#endif

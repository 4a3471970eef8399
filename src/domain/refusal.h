/*
 * refusal - the errors by which the wallet declines a request.
 *
 * A refusal is ordinary data in a result (contract, "Error ids"). It means that the call changed
 * nothing, or it is the recorded outcome. A machine failure is a status (base/status.h).
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
	const char *id; /* error id in the protocol */
	int code;       /* HTTP status */
	bool retryable;
	const char *detail; /* text used when there is no better detail */
};

/* The ids by number; used by field tables. */
extern const char *const refusal_ids[REFUSAL_COUNT];

/* Returns the row of @refusal, never NULL. An unknown number returns the row of internal_error. */
const struct refusal_info *refusal_info(enum refusal refusal);

#endif

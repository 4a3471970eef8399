/*
 * inquiry - collects what is needed to explain a rejected request (explain/explain.h): the request,
 * the keys of all callers, the dealer and players with a similar id.
 */
#ifndef ADMIN_INQUIRY_H
#define ADMIN_INQUIRY_H

#include "admin/keys.h"
#include "base/buffer.h"
#include "explain/explain.h"

#define INQUIRY_RETIRED_MAX 64

/* The input of an explanation. */
struct inquiry {
	struct explain_case explain;
	struct refused_find_result found;
	struct buffer kept; /* owns the bytes to which explain.request points */
	struct keyring keyrings[KEYRING_OF_COUNT];
	struct retired_key retired[INQUIRY_RETIRED_MAX];
	char secret[KEY_SECRET_SIZE]; /* of the caller of these functions; wiped with the rest */
};

void inquiry_init(struct inquiry *inquiry);

/*
 * Fills inquiry->explain and inquiry->found for the request @id. Fails with not_kept if the ledger
 * does not have the request. Call inquiry_free() in any case.
 */
enum outcome inquiry_collect(struct inquiry *inquiry, struct session *session, const char *id);

/* Frees and wipes everything. */
void inquiry_free(struct inquiry *inquiry);

#endif

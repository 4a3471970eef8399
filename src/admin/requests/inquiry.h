/*
 * inquiry - collects what is needed to explain a rejected request (explain/explain.h): the request,
 * all callers, the dealer and players with a similar id.
 */
#ifndef ADMIN_REQUESTS_INQUIRY_H
#define ADMIN_REQUESTS_INQUIRY_H

#include "admin/keys.h"
#include "admin/requests/near.h"
#include "admin/requests/refused.h"
#include "base/buffer.h"
#include "explain/explain.h"
#include "explain/standing.h"

/* The input of an explanation. */
struct inquiry {
	struct explain_case explain;
	struct refused_find_result found;
	struct buffer kept; /* owns the bytes to which explain.request points */
	struct keyring keyrings[KEYRING_OF_COUNT];
	bool has_call; /* @call is on disk; otherwise it was made from the request in memory */
	bool absent;   /* no refused call was found; @call has only what was asked for */
	struct refused_call call;
	struct refused_count calls; /* that match on disk */
	struct standing_key key;    /* of the call's request_transaction_id */
	unsigned int decimals;      /* of the dealer */
	struct near_refused near;   /* if @absent */
	struct session *session;
	/*
	 * The outcome of the calls that explain_request() makes to try keys. If one failed, the
	 * explanation is not complete.
	 */
	enum outcome tried;
	char secret[KEY_SECRET_SIZE]; /* of the caller of these functions; wiped with the rest */
};

void inquiry_init(struct inquiry *inquiry);

/*
 * Fills @inquiry for the newest refused call that @wanted describes. If there is none,
 * inquiry->absent is set. Call inquiry_free() in any case.
 */
enum outcome inquiry_collect(struct inquiry *inquiry, struct session *session,
	const struct refused_list_cmd *wanted);

/* Frees and wipes everything. */
void inquiry_free(struct inquiry *inquiry);

#endif

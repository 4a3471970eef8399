/*
 * reply - the answer to a request: status line, headers, JSON body (contract, "Answers").
 *
 * Only the table of refusals gives HTTP statuses. A reply can always be made, because its memory
 * is allocated when the thread starts.
 */
#ifndef WEB_REQUEST_REPLY_H
#define WEB_REQUEST_REPLY_H

#include "base/buffer.h"
#include "base/status.h"
#include "domain/refusal.h"
#include "link/commands.h"
#include "wire/body.h"
#include "wire/render.h"

#include <stdbool.h>

#define REQUEST_ID_SIZE 65
/*
 * The largest answer is that of A5. It has a round with ROUND_BETS_MAX bets. Each of them has
 * objects from a body of at most BODY_MAX bytes, and further members. 17 MiB.
 */
#define REPLY_LARGE_MAX ((ROUND_BETS_MAX + 1) * (BODY_MAX + 2048))

/* Bytes of the longest detail of a body or verdict. */
#define REPLY_DETAIL_SIZE 161

struct http_reply {
	char request_id[REQUEST_ID_SIZE];
	enum refusal refusal;
	char detail[REPLY_DETAIL_SIZE]; /* of the refusal, cut to fit */
	enum status status;             /* the failure, for the log; STATUS_OK: none */
	bool replay;                    /* X-Idempotent-Replay */
	uint32_t retry_after_s;         /* Retry-After; 0: none */
	unsigned int allow;             /* methods for Allow; 0: none */
	const char *content_type;       /* of the body; NULL: JSON */
	struct buffer head; /* Status and headers, with the empty line; see reply_finish */
	struct buffer body;
	struct buffer large; /* in place of body unless empty; freed by the next reply */
};

/* Returns false if memory is exhausted. */
bool reply_init(struct http_reply *reply);
void reply_free(struct http_reply *reply);

/*
 * Empties @reply for the next request. @request_id is the caller's, or NULL. It is used if it has
 * 1 to 64 characters of [A-Za-z0-9._-]; otherwise a random one is made.
 */
void reply_reset(struct http_reply *reply, const char *request_id);

/* Answers 200 with @record as the body. */
void reply_success(struct http_reply *reply, const struct field *table, const void *record);

/*
 * Like reply_success(), for a body of up to REPLY_LARGE_MAX bytes. Answers 503 if its memory
 * cannot be allocated, so use it only for requests that move nothing.
 */
void reply_success_large(struct http_reply *reply, const struct field *table, const void *record);

/* Returns the buffer that holds the body. */
const struct buffer *reply_content(const struct http_reply *reply);

/* Answers with an error. @detail NULL: the default of @refusal. */
void reply_refuse(struct http_reply *reply, enum refusal refusal, const char *detail);

/* Returns the error body of the refusal in @verdict, to which it points, without a request_id. */
struct error_body reply_error_of(const struct verdict *verdict);

/*
 * Answer with an error that has further members. Begin with the members of @verdict, to which the
 * result points; add others; then call reply_error().
 */
struct error_body reply_error_begin(struct http_reply *reply, const struct verdict *verdict);
void reply_error(struct http_reply *reply, struct error_body *error);

/* Bytes of the largest error body that reply_render_error() writes. */
#define ERROR_BODY_MAX 1024

/*
 * Appends to @out the error body by which @reply would answer the refusal in @verdict. Returns false
 * if memory is exhausted.
 */
bool reply_render_error(const struct http_reply *reply, const struct verdict *verdict,
	struct buffer *out);

/* Answers with the ledger's verdict: 200 with @record, or a refusal. */
void reply_verdict(struct http_reply *reply, const struct verdict *verdict,
	const struct field *table, const void *record);

/* The possible effect of a failed call to the ledger. */
enum call_kind {
	CALL_READS, /* nothing moved */
	CALL_MOVES, /* credit may have moved, if the call reached the ledger */
};

/*
 * Answers a failed call: 503 if nothing moved, 500 if the outcome is unknown or the ledger met a
 * bug (contract, "Error ids"). @status is not STATUS_OK.
 */
void reply_fail(struct http_reply *reply, enum status status, enum call_kind kind);

/* Returns the HTTP status of the reply. */
int reply_code(const struct http_reply *reply);

/* Writes the head. Call it last. */
void reply_finish(struct http_reply *reply);

#endif

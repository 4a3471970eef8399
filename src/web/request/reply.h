/*
 * reply - what goes back: status line, headers, JSON body (api.md, Common rules).
 *
 * HTTP statuses come from the refusal table alone. A reply can always be made: its memory is taken
 * when the thread starts.
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
 * The largest answer is A5's: a round with ROUND_BETS_MAX bets, each and the round itself with
 * objects that came in bodies of at most BODY_MAX bytes, and members around them. 17 MiB.
 */
#define REPLY_LARGE_MAX ((ROUND_BETS_MAX + 1) * (BODY_MAX + 2048))

/* Holds any detail that a body or a verdict has. */
#define REPLY_DETAIL_SIZE 161

struct http_reply {
	char request_id[REQUEST_ID_SIZE];
	enum refusal refusal;
	char detail[REPLY_DETAIL_SIZE]; /* of the refusal, cut to fit */
	enum status status;     /* why the machine failed, for the log; STATUS_OK: it did not */
	bool replay;            /* X-Idempotent-Replay */
	uint32_t retry_after_s; /* Retry-After; 0: none */
	unsigned int allow;     /* methods for Allow; 0: none */
	const char *content_type; /* of the body; NULL: it is JSON */
	struct buffer head;     /* Status and headers, with the empty line; see reply_finish */
	struct buffer body;
	struct buffer large;    /* the body instead, unless it is empty; freed by the next reply */
};

/* False: memory exhausted. */
bool reply_init(struct http_reply *reply);
void reply_free(struct http_reply *reply);

/*
 * Empties @reply for the next request. @request_id is what the caller sent, or NULL: taken if it
 * is 1 to 64 of [A-Za-z0-9._-], else a random one is made.
 */
void reply_reset(struct http_reply *reply, const char *request_id);

/* 200 with @record as the body. */
void reply_success(struct http_reply *reply, const struct field *table, const void *record);

/*
 * The same with a body of up to REPLY_LARGE_MAX bytes, whose memory is taken now: 503 when there is
 * none, so it is for what moves nothing.
 */
void reply_success_large(struct http_reply *reply, const struct field *table, const void *record);

/* The body, in whichever buffer it is. */
const struct buffer *reply_content(const struct http_reply *reply);

/* An error body. @detail NULL: the refusal's own. */
void reply_refuse(struct http_reply *reply, enum refusal refusal, const char *detail);

/*
 * An error body with more in it than a refusal has: begin it with what @verdict tells (it points
 * there), add to it, and have it become the reply.
 */
struct error_body reply_error_begin(struct http_reply *reply, const struct verdict *verdict);
void reply_error(struct http_reply *reply, struct error_body *error);

/* The wallet's answer: 200 with @record, or what @verdict refuses. */
void reply_verdict(struct http_reply *reply, const struct verdict *verdict,
	const struct field *table, const void *record);

/* What the call that failed was about. */
enum call_kind {
	CALL_READS, /* nothing can have moved */
	CALL_MOVES, /* credit may have moved if the call reached the ledger */
};

/*
 * The machine's "no": 503 where nothing moved, 500 where the outcome is unknown or the ledger met
 * a bug (api.md, Error ids). @status is anything but STATUS_OK.
 */
void reply_fail(struct http_reply *reply, enum status status, enum call_kind kind);

/* The HTTP status of the reply. */
int reply_code(const struct http_reply *reply);

/* Renders the head, once the reply is otherwise complete. */
void reply_finish(struct http_reply *reply);

#endif

/*
 * callback_body - the bodies of the callbacks B1 to B4 (specification, Resources, Endpoints B).
 *
 * Members have the names of the specification. A body is rendered once, when its event is made, and
 * sent unchanged on every attempt.
 */
#ifndef WIRE_CALLBACK_BODY_H
#define WIRE_CALLBACK_BODY_H

#include "base/buffer.h"
#include "domain/callback.h"

/* Larger than any body whose objects were in requests of at most 64 KiB. */
#define CALLBACK_BODY_MAX (256 * 1024)

/* B1. */
struct balance_inquire_body {
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
};

/* B2. */
struct bet_body {
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	money_t bet_amount;
	uint64_t transaction_id;
	int64_t timestamp; /* time when the bet command was accepted */
	char remark[REMARK_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	/* text of a JSON object; if empty, {} is sent, because the dealer requires it */
	struct bytes user_bet;
};

/* B3. */
struct result_body {
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	money_t bet_amount;      /* excludes additions */
	uint64_t transaction_id; /* 0 for a loss */
	int64_t timestamp;       /* settlement */
	char remark[REMARK_SIZE];
	enum round_result result;
	char game_id[EXTERNAL_ID_SIZE];
	money_t addition_amount;
	money_t win_amount; /* payout minus all stakes; 0 for a refund */
	money_t payout_amount;
	/* Texts of JSON objects; if empty (len 0), the key is not sent. */
	struct bytes user_bet;
	struct bytes game_result;
	struct bytes user_bet_result;
};

/* B4. */
struct refund_body {
	money_t bet_amount;
	char game_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char remark[REMARK_SIZE];
	int64_t timestamp;       /* time of the decision to refund */
	uint64_t transaction_id; /* of the bet */
	char user_id[EXTERNAL_ID_SIZE];
};

extern const struct field balance_inquire_body_fields[];
extern const struct field bet_body_fields[];
extern const struct field result_body_fields[];
extern const struct field refund_body_fields[];

/*
 * Appends the body of a callback of @kind; @body is the struct of that kind. Each bytes member must
 * be the text of one JSON object and is embedded unchanged. Returns false if memory is exhausted or
 * @out is full; nothing is then appended.
 */
bool callback_body_render(struct buffer *out, enum callback_kind kind, const void *body);

#endif

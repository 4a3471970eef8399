/*
 * callback_body - the bodies of the callbacks B1 to B4 (specification, Resources, Endpoints B), and
 * of B5 (contract, "Corrections").
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

/* The B3 by which a correction raises a payout: a result_body and two members more. */
struct correction_win_body {
	struct result_body win;
	uint32_t corrects_revision;
	uint32_t revision;
};

/* B5: a correction lowers a payout. */
struct correction_body {
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint64_t transaction_id;
	money_t correction_amount; /* below 0 */
	money_t previous_payout_amount;
	money_t payout_amount;
	uint32_t revision;
	char remark[REMARK_SIZE];
	int64_t timestamp;
};

/* Fill the bodies from a correction that raises, and one that lowers, the payout of @round. */
void correction_win_fill(struct correction_win_body *body, const struct round *round,
	const struct correction *row);
void correction_body_fill(struct correction_body *body, const struct round *round,
	const struct correction *row);

extern const struct field balance_inquire_body_fields[];
extern const struct field bet_body_fields[];
extern const struct field result_body_fields[];
extern const struct field refund_body_fields[];
extern const struct field correction_win_body_fields[];
extern const struct field correction_body_fields[];

/*
 * Appends the body of a callback of @kind; @body is the struct of that kind. Each bytes member must
 * be the text of one JSON object and is embedded unchanged. @currency is the last member of the
 * body, for a dealer with send_currency; "": it is left out. Returns false if memory is exhausted or
 * @out is full; nothing is then appended.
 */
bool callback_body_render(struct buffer *out, enum callback_kind kind, const void *body,
	const char *currency);
/* As callback_body_render(), for a betting-result that reports a correction. */
bool callback_body_render_win(struct buffer *out, const struct correction_win_body *body,
	const char *currency);

/*
 * Returns the length of the last member, with its comma, if the body ends with a currency, and
 * copies that to @currency. Otherwise returns 0.
 */
uint32_t callback_body_currency(struct bytes body, char currency[CURRENCY_SIZE]);

#endif

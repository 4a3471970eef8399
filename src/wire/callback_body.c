#include "wire/callback_body.h"

#include "base/text.h"
#include "domain/wager.h"
#include "wire/render.h"

#include <string.h>

const struct field balance_inquire_body_fields[] = {
	FIELD(FIELD_STR, balance_inquire_body, user_id),
	FIELD(FIELD_STR, balance_inquire_body, player_id),
	FIELD_END,
};

const struct field bet_body_fields[] = {
	FIELD(FIELD_STR, bet_body, user_id),
	FIELD(FIELD_STR, bet_body, player_id),
	FIELD(FIELD_MONEY, bet_body, bet_amount),
	FIELD(FIELD_U64, bet_body, transaction_id),
	FIELD(FIELD_TIME_MS, bet_body, timestamp),
	FIELD(FIELD_STR, bet_body, remark),
	FIELD(FIELD_STR, bet_body, game_id),
	FIELD(FIELD_JSON, bet_body, user_bet),
	FIELD_END,
};

const struct field result_body_fields[] = {
	FIELD(FIELD_STR, result_body, user_id),
	FIELD(FIELD_STR, result_body, player_id),
	FIELD(FIELD_MONEY, result_body, bet_amount),
	FIELD(FIELD_U64, result_body, transaction_id),
	FIELD(FIELD_TIME_MS, result_body, timestamp),
	FIELD(FIELD_STR, result_body, remark),
	FIELD_NAMED(result_body, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_STR, result_body, game_id),
	FIELD(FIELD_MONEY, result_body, addition_amount),
	FIELD(FIELD_MONEY, result_body, win_amount),
	FIELD(FIELD_MONEY, result_body, payout_amount),
	FIELD(FIELD_JSON, result_body, user_bet),
	FIELD(FIELD_JSON, result_body, game_result),
	FIELD(FIELD_JSON, result_body, user_bet_result),
	FIELD_END,
};

const struct field refund_body_fields[] = {
	FIELD(FIELD_MONEY, refund_body, bet_amount),
	FIELD(FIELD_STR, refund_body, game_id),
	FIELD(FIELD_STR, refund_body, player_id),
	FIELD(FIELD_STR, refund_body, remark),
	FIELD(FIELD_TIME_MS, refund_body, timestamp),
	FIELD(FIELD_U64, refund_body, transaction_id),
	FIELD(FIELD_STR, refund_body, user_id),
	FIELD_END,
};

#define WIN_FIELD(type, member) FIELD_AS(#member, type, correction_win_body, win.member)
const struct field correction_win_body_fields[] = {
	WIN_FIELD(FIELD_STR, user_id),
	WIN_FIELD(FIELD_STR, player_id),
	WIN_FIELD(FIELD_MONEY, bet_amount),
	WIN_FIELD(FIELD_U64, transaction_id),
	WIN_FIELD(FIELD_TIME_MS, timestamp),
	WIN_FIELD(FIELD_STR, remark),
	FIELD_NAMED_AS("result", correction_win_body, win.result, round_result_names,
		ROUND_RESULT_COUNT),
	WIN_FIELD(FIELD_STR, game_id),
	WIN_FIELD(FIELD_MONEY, addition_amount),
	WIN_FIELD(FIELD_MONEY, win_amount),
	WIN_FIELD(FIELD_MONEY, payout_amount),
	WIN_FIELD(FIELD_JSON, user_bet),
	WIN_FIELD(FIELD_JSON, game_result),
	WIN_FIELD(FIELD_JSON, user_bet_result),
	FIELD(FIELD_U32, correction_win_body, corrects_revision),
	FIELD(FIELD_U32, correction_win_body, revision),
	FIELD_END,
};

const struct field correction_body_fields[] = {
	FIELD(FIELD_STR, correction_body, user_id),
	FIELD(FIELD_STR, correction_body, player_id),
	FIELD(FIELD_STR, correction_body, game_id),
	FIELD(FIELD_U64, correction_body, transaction_id),
	FIELD(FIELD_MONEY, correction_body, correction_amount),
	FIELD(FIELD_MONEY, correction_body, previous_payout_amount),
	FIELD(FIELD_MONEY, correction_body, payout_amount),
	FIELD(FIELD_U32, correction_body, revision),
	FIELD(FIELD_STR, correction_body, remark),
	FIELD(FIELD_TIME_MS, correction_body, timestamp),
	FIELD_END,
};

static const struct field *const tables[CALLBACK_KIND_COUNT] = {
	[CALLBACK_BALANCE_INQUIRE] = balance_inquire_body_fields,
	[CALLBACK_BETTING] = bet_body_fields,
	[CALLBACK_BETTING_RESULT] = result_body_fields,
	[CALLBACK_BETTING_REFUND] = refund_body_fields,
	[CALLBACK_BETTING_CORRECTION] = correction_body_fields,
};

#define CURRENCY_MEMBER ",\"currency\":\""

/* Appends the currency as the last member of the body. */
static bool append_currency(struct buffer *out, const char *currency)
{
	out->len--; /* the closing brace */
	return buffer_printf(out, CURRENCY_MEMBER "%s\"}", currency);
}

static bool render_with_currency(struct buffer *out, const struct field *table, const void *body,
	const char *currency)
{
	const size_t start = out->len;

	if (!render_record(out, table, body))
		return false;
	if (!currency[0] || append_currency(out, currency))
		return true;
	out->len = start;
	return false;
}

bool callback_body_render(struct buffer *out, enum callback_kind kind, const void *body,
	const char *currency)
{
	static const uint8_t nothing[] = {'{', '}'};
	struct bet_body bet;

	if (kind == CALLBACK_BETTING) {
		bet = *(const struct bet_body *)body;
		if (!bet.user_bet.len)
			bet.user_bet = (struct bytes){nothing, sizeof(nothing)};
		body = &bet;
	}
	return render_with_currency(out, tables[kind], body, currency);
}

/*
 * No other member can end like this: the quotes inside a string are escaped, and an object ends with
 * a brace of its own.
 */
uint32_t callback_body_currency(struct bytes body, char currency[CURRENCY_SIZE])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	const uint32_t head = sizeof(CURRENCY_MEMBER) - 1, tail = 2; /* "} */
	uint32_t len = 0;

	currency[0] = '\0';
	if (body.len < head + tail || memcmp(body.data + body.len - tail, "\"}", tail) != 0)
		return 0;
	for (const uint8_t *last = body.data + body.len - tail - 1; len < CURRENCY_SIZE - 1 &&
		len < body.len - head - tail && last[-(int)len] &&
		strchr(letters, last[-(int)len]);)
		len++;
	if (!len || memcmp(body.data + body.len - tail - len - head, CURRENCY_MEMBER, head) != 0)
		return 0;
	text_copy_len(currency, CURRENCY_SIZE, (const char *)body.data + body.len - tail - len,
		len);
	return head + len + 1;
}

bool callback_body_render_win(struct buffer *out, const struct correction_win_body *body,
	const char *currency)
{
	return render_with_currency(out, correction_win_body_fields, body, currency);
}

void correction_win_fill(struct correction_win_body *body, const struct round *round,
	const struct correction *row)
{
	struct result_body *win = &body->win;

	memset(body, 0, sizeof(*body));
	memcpy(win->user_id, round->user_id, sizeof(win->user_id));
	memcpy(win->player_id, round->player_id, sizeof(win->player_id));
	win->transaction_id = row->transaction_id;
	win->timestamp = row->time_ms;
	memcpy(win->remark, row->reason, sizeof(win->remark));
	win->result = RESULT_WIN;
	memcpy(win->game_id, round->game_id, sizeof(win->game_id));
	win->payout_amount = win->win_amount = correction_paid(row);
	win->game_result = row->game_result;
	win->user_bet_result = row->user_bet_result;
	body->corrects_revision = row->revision - 1;
	body->revision = row->revision;
}

void correction_body_fill(struct correction_body *body, const struct round *round,
	const struct correction *row)
{
	memset(body, 0, sizeof(*body));
	memcpy(body->user_id, round->user_id, sizeof(body->user_id));
	memcpy(body->player_id, round->player_id, sizeof(body->player_id));
	memcpy(body->game_id, round->game_id, sizeof(body->game_id));
	body->transaction_id = row->transaction_id;
	body->correction_amount = row->payout_amount - row->previous_payout;
	body->previous_payout_amount = row->previous_payout;
	body->payout_amount = row->payout_amount;
	body->revision = row->revision;
	memcpy(body->remark, row->reason, sizeof(body->remark));
	body->timestamp = row->time_ms;
}

/*
 * exam_body - builds the bodies of the callbacks that `dealer test` sends.
 */
#include "conformance/exam.h"

#include "base/clock.h"
#include "wire/callback_body.h"
#include "wire/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LARGE_BYTES 60000
#define UNKNOWN_ID  "exam0unknown0player0"

static const char small_details[] = "{\"place\":\"red\",\"chips\":[1,1]}";
/* Valid JSON that a game server may send. */
static const char odd_details[] =
	"{ \"odds\" : 1.10, \"e\":1.5E+2,\"neg\":-0.5 ,\"big\":12345678901234567890,"
	"\"slash\":\"a\\/b\",\"u\":\"\\u0e44\\u0e17\\u0e22\",\"nil\":null,\"\":\"no name\","
	"\"empty\":{},\"list\":[ ],\"deep\":[[[[[[[[1]]]]]]]] }";

/* The struct of any callback kind. */
union body {
	struct balance_inquire_body balance_inquire;
	struct bet_body bet;
	struct result_body result;
	struct refund_body refund;
	struct correction_win_body raise;
	struct correction_body lower;
};

static const struct field *const tables[CALLBACK_KIND_COUNT] = {
	[CALLBACK_BALANCE_INQUIRE] = balance_inquire_body_fields,
	[CALLBACK_BETTING] = bet_body_fields,
	[CALLBACK_BETTING_RESULT] = result_body_fields,
	[CALLBACK_BETTING_REFUND] = refund_body_fields,
	[CALLBACK_BETTING_CORRECTION] = correction_body_fields,
};

/* The callback that each action sends. */
static const struct {
	enum callback_kind kind;
	enum round_result result;
} sends[EXAM_ACTION_COUNT] = {
	[EXAM_BALANCE] = {CALLBACK_BALANCE_INQUIRE, RESULT_NONE},
	[EXAM_BET] = {CALLBACK_BETTING, RESULT_NONE},
	[EXAM_WIN] = {CALLBACK_BETTING_RESULT, RESULT_WIN},
	[EXAM_LOSS] = {CALLBACK_BETTING_RESULT, RESULT_LOSS},
	[EXAM_CANCEL] = {CALLBACK_BETTING_RESULT, RESULT_REFUND},
	[EXAM_REFUND] = {CALLBACK_BETTING_REFUND, RESULT_NONE},
	[EXAM_CLOSE] = {CALLBACK_BETTING_RESULT, RESULT_WIN},
	[EXAM_RAISE] = {CALLBACK_BETTING_RESULT, RESULT_WIN},
	[EXAM_LOWER] = {CALLBACK_BETTING_CORRECTION, RESULT_NONE},
};

enum callback_kind exam_kind(enum exam_action action)
{
	return sends[action].kind;
}

void exam_unknown_user(const struct exam *exam, char user_id[EXTERNAL_ID_SIZE])
{
	snprintf(user_id, EXTERNAL_ID_SIZE, "exam-unknown-%" PRIu64, exam->first_id);
}

static struct bytes buffer_bytes(const void *data, size_t len)
{
	return (struct bytes){data, (uint32_t)len};
}

/* Appends a list of many bets. */
static void put_large(struct buffer *out)
{
	buffer_append_str(out, "{\"bets\":[{\"place\":\"0\",\"amount\":0}");
	for (unsigned int i = 1; !out->failed && out->len < LARGE_BYTES; i++)
		buffer_printf(out, ",{\"place\":\"split %u/%u\",\"amount\":%u.5,\"odds\":17}",
			i % 37, (i + 1) % 37, i % 100);
	buffer_append_str(out, "]}");
}

static struct bytes make_details(unsigned int shape, struct buffer *large)
{
	if (shape & SHAPE_LARGE) {
		put_large(large);
		return buffer_bytes(large->data, large->len);
	}
	if (shape & SHAPE_ODD)
		return buffer_bytes(odd_details, sizeof(odd_details) - 1);
	return buffer_bytes(small_details, sizeof(small_details) - 1);
}

/* The members of all bodies except B1's. */
struct common {
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	char remark[REMARK_SIZE];
	struct bytes details;
};

static void make_common(const struct exam *exam, const struct exam_round *round,
	const struct exam_step *step, struct common *common)
{
	bool unicode = step->shape & SHAPE_UNICODE;

	memcpy(common->user_id, exam->player.user_id, sizeof(common->user_id));
	memcpy(common->player_id, exam->player.player_id, sizeof(common->player_id));
	if (step->shape & SHAPE_UNKNOWN_USER) {
		exam_unknown_user(exam, common->user_id);
		memcpy(common->player_id, UNKNOWN_ID, sizeof(UNKNOWN_ID));
	}
	snprintf(common->game_id, sizeof(common->game_id), "exam-%" PRIu64 "-%u-%u%s",
		exam->first_id, round->number, step->round + 1u, unicode ? "-เกม" : "");
	snprintf(common->remark, sizeof(common->remark), "creditbridge exam: %s%s", round->name,
		unicode ? " รูเล็ต ♠ 😀 é \"quoted\" \\ / <b>&amp;" : "");
}

static void fill_result(struct result_body *body, const struct exam_round *round,
	const struct exam_step *step, const struct common *common, money_t payout)
{
	money_t staked = round->staked[step->round], added = round->added[step->round];

	memcpy(body->user_id, common->user_id, sizeof(body->user_id));
	memcpy(body->player_id, common->player_id, sizeof(body->player_id));
	memcpy(body->game_id, common->game_id, sizeof(body->game_id));
	memcpy(body->remark, common->remark, sizeof(body->remark));
	body->timestamp = clock_wall_ms();
	body->bet_amount = staked;
	body->result = sends[step->action].result;
	body->addition_amount = added;
	body->win_amount = body->result == RESULT_REFUND ? 0 : payout - staked - added;
	body->payout_amount = payout;
	body->user_bet = body->game_result = body->user_bet_result = common->details;
}

/* Fills the body of a correction that raises the payout of the round by @amount. */
static void fill_raise(struct correction_win_body *body, const struct exam_round *round,
	const struct exam_step *step, const struct common *common, money_t amount)
{
	fill_result(&body->win, round, step, common, amount);
	body->win.bet_amount = body->win.addition_amount = 0;
	body->win.win_amount = amount;
	body->win.user_bet = (struct bytes){NULL, 0};
	body->revision = 1;
}

/* The round's payout falls from @amount to 0. */
static void fill_lower(struct correction_body *body, const struct common *common,
	uint64_t transaction_id, money_t amount)
{
	memcpy(body->user_id, common->user_id, EXTERNAL_ID_SIZE);
	memcpy(body->player_id, common->player_id, PLAYER_ID_SIZE);
	memcpy(body->game_id, common->game_id, EXTERNAL_ID_SIZE);
	memcpy(body->remark, common->remark, REMARK_SIZE);
	body->transaction_id = transaction_id;
	body->correction_amount = -amount;
	body->previous_payout_amount = amount;
	body->revision = 1;
	body->timestamp = clock_wall_ms();
}

/* Fills the struct of the action's callback kind. */
static void fill_body(union body *body, const struct exam_round *round,
	const struct exam_step *step, const struct common *common, uint64_t transaction_id,
	money_t amount)
{
	switch (sends[step->action].kind) {
	case CALLBACK_BALANCE_INQUIRE:
		memcpy(body->balance_inquire.user_id, common->user_id, EXTERNAL_ID_SIZE);
		memcpy(body->balance_inquire.player_id, common->player_id, PLAYER_ID_SIZE);
		break;
	case CALLBACK_BETTING:
		memcpy(body->bet.user_id, common->user_id, EXTERNAL_ID_SIZE);
		memcpy(body->bet.player_id, common->player_id, PLAYER_ID_SIZE);
		memcpy(body->bet.game_id, common->game_id, EXTERNAL_ID_SIZE);
		memcpy(body->bet.remark, common->remark, REMARK_SIZE);
		body->bet.bet_amount = amount;
		body->bet.transaction_id = transaction_id;
		body->bet.timestamp = clock_wall_ms();
		body->bet.user_bet = common->details;
		break;
	case CALLBACK_BETTING_CORRECTION:
		fill_lower(&body->lower, common, transaction_id, amount);
		break;
	case CALLBACK_BETTING_RESULT:
		if (step->action == EXAM_RAISE)
			fill_raise(&body->raise, round, step, common, amount);
		else
			fill_result(&body->result, round, step, common, amount);
		/* The member of both structs: a raise begins with a result. */
		body->result.transaction_id = transaction_id;
		break;
	case CALLBACK_BETTING_REFUND:
		memcpy(body->refund.user_id, common->user_id, EXTERNAL_ID_SIZE);
		memcpy(body->refund.player_id, common->player_id, PLAYER_ID_SIZE);
		memcpy(body->refund.game_id, common->game_id, EXTERNAL_ID_SIZE);
		memcpy(body->refund.remark, common->remark, REMARK_SIZE);
		body->refund.bet_amount = amount;
		body->refund.transaction_id = transaction_id;
		body->refund.timestamp = clock_wall_ms();
		break;
	default:
		break;
	}
}

/* Returns true if the specification does not require the member (Bet result). */
static bool is_optional(enum callback_kind kind, const char *name)
{
	static const char *const optional[] = {"addition_amount", "win_amount", "user_bet",
		"game_result", "user_bet_result"};

	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		if (kind == CALLBACK_BETTING_RESULT && strcmp(optional[i], name) == 0)
			return true;
	}
	return false;
}

/* Appends the value of one member in the form of @shape. */
static void put_body_value(struct buffer *out, const struct field *field, const void *record,
	unsigned int shape)
{
	const struct field one[] = {*field, FIELD_END};
	size_t head = strlen(field->name) + 4; /* {"name": */
	char text[MONEY_TEXT_MAX];
	struct buffer object;
	money_t money;

	if (field->type == FIELD_MONEY && (shape & SHAPE_CENTS)) {
		memcpy(&money, (const char *)record + field->offset, sizeof(money));
		money_format(money, 2, text);
		buffer_append_str(out, text);
		return;
	}
	if (field->type == FIELD_ENUM && (shape & SHAPE_DRAW)) {
		buffer_append_str(out, "\"draw\"");
		return;
	}
	buffer_init(&object, CALLBACK_BODY_MAX);
	if (render_record(&object, one, record) && object.len > head)
		buffer_append(out, object.data + head, object.len - head - 1);
	else
		out->failed = true;
	buffer_free(&object);
}

/* Renders the body member by member. */
static void put_body_members(struct buffer *out, const struct exam *exam,
	const struct exam_step *step, const union body *body)
{
	enum callback_kind kind = sends[step->action].kind;
	const struct field *table = tables[kind];
	unsigned int shape = step->shape, count = 0;
	const char *space = shape & SHAPE_SPACED ? "\r\n\t " : "";
	const char *currency = dealer_sent_currency(&exam->dealer, kind);
	const char *before = "";

	while (table[count].name)
		count++;
	buffer_printf(out, "%s{%s", space, space);
	if (shape & SHAPE_MORE)
		buffer_append_str(out, "\"exam_first\":{\"id\":7,\"list\":[null,true,1.5]},");
	for (unsigned int i = 0; i < count; i++) {
		const struct field *field = &table[shape & SHAPE_REVERSED ? count - 1 - i : i];

		if ((step->without && strcmp(field->name, step->without) == 0) ||
			((shape & SHAPE_LEAST) && is_optional(kind, field->name)))
			continue;
		buffer_printf(out, "%s\"%s\"%s:%s", before, field->name, space, space);
		put_body_value(out, field, body, shape);
		buffer_append_str(out, space);
		before = shape & SHAPE_SPACED ? ",\n  " : ",";
	}
	if (currency[0])
		buffer_printf(out, "%s\"currency\"%s:%s\"%s\"%s", before, space, space, currency,
			space);
	buffer_printf(out, "%s}%s", shape & SHAPE_MORE ? ",\"exam_last\":\"\"" : "", space);
}

bool exam_body(struct exam *exam, const struct exam_round *round, const struct exam_step *step,
	uint64_t transaction_id, money_t amount, struct buffer *out)
{
	struct common common;
	struct buffer large;
	const char *currency = dealer_sent_currency(&exam->dealer, sends[step->action].kind);
	union body body;

	memset(&body, 0, sizeof(body));
	memset(&common, 0, sizeof(common));
	buffer_init(&large, CALLBACK_BODY_MAX);
	make_common(exam, round, step, &common);
	common.details = make_details(step->shape, &large);
	fill_body(&body, round, step, &common, transaction_id, amount);
	if (large.failed)
		out->failed = true;
	else if ((step->shape & SHAPE_OTHER_WAY) || step->without)
		put_body_members(out, exam, step, &body);
	else if (step->action == EXAM_RAISE)
		callback_body_render_win(out, &body.raise, currency);
	else
		callback_body_render(out, sends[step->action].kind, &body, currency);
	if (step->shape & SHAPE_CUT)
		out->len /= 2;
	buffer_free(&large);
	return !out->failed;
}

void exam_body_alter(struct buffer *body)
{
	static const char *const names[] = {"\"payout_amount\":", "\"bet_amount\":"};
	uint8_t *end = body->data + body->len;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);
		uint8_t *at = memmem(body->data, body->len, names[i], len);

		if (!at || at + len >= end)
			continue;
		/* Replaces the digit by another from 1 to 9. */
		at[len] = (uint8_t)('1' + (at[len] - '0') % 9);
		return;
	}
}

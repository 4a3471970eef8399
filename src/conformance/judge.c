/*
 * exam_judge - compares the expected and the actual answers of `dealer test`, and describes both.
 */
#include "conformance/judge.h"

#include "domain/delivery.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool exam_any_success(const struct exam_done *done)
{
	for (unsigned int i = 0; i < done->count; i++) {
		if (done->replies[i].outcome.class == CALLBACK_SUCCESS)
			return true;
	}
	return false;
}

static bool is_success(const struct exam_done *done)
{
	return done->replies[0].outcome.class == CALLBACK_SUCCESS;
}

static bool is_refused(const struct exam_done *done)
{
	return done->replies[0].outcome.class == CALLBACK_REFUSED;
}

static bool is_answered(const struct exam_done *done)
{
	return done->replies[0].outcome.http_status;
}

static bool is_error(const struct exam_done *done)
{
	return is_refused(done) && done->replies[0].outcome.dealer_error_id[0];
}

static bool is_balance(const struct exam_done *done)
{
	return callback_balance_ok(&done->replies[0].outcome, done->exam->player.user_id,
		done->exam->dealer.currency);
}

/* An answer to a balance inquiry is taken as success only with a balance. */
static bool is_not_taken(const struct exam_done *done)
{
	return is_answered(done) &&
		!(done->step->action == EXAM_BALANCE ? is_balance(done) : is_success(done));
}

static bool is_json(const struct exam_done *done)
{
	return is_balance(done) && done->replies[0].is_json;
}

static bool is_true(const struct exam_done *done)
{
	const struct callback_outcome *outcome = &done->replies[0].outcome;

	return is_success(done) && !outcome->note[0] &&
		(!outcome->user_id[0] ||
			strcmp(outcome->user_id, done->exam->player.user_id) == 0) &&
		(!outcome->currency[0] ||
			strcmp(outcome->currency, done->exam->dealer.currency) == 0) &&
		(!outcome->has_balance || outcome->balance == done->exam->balance);
}

/* A repeated result or refund may be answered by one of the dealer's duplicate_ids. */
static bool is_taken(const struct exam_done *done)
{
	return is_success(done) ||
		(done->again && is_refused(done) &&
			callback_is_known(exam_kind(done->step->action), true,
				done->replies[0].outcome.dealer_error_id,
				done->exam->dealer.duplicate_ids));
}

static bool is_delivered(const struct exam_done *done)
{
	return is_taken(done) ||
		(is_refused(done) &&
			bet_is_unknown(done->replies[0].outcome.dealer_error_id,
				done->exam->dealer.unknown_bet_ids));
}

static bool is_stranger(const struct exam_done *done)
{
	return is_error(done) || (is_success(done) && done->exam->opens_accounts);
}

static bool is_same(const struct exam_done *done)
{
	return is_success(done) && done->replies[0].len == done->first->len &&
		strcmp(done->replies[0].text, done->first->text) == 0;
}

static bool is_short(const struct exam_done *done)
{
	money_t shortfall = done->replies[0].outcome.shortfall;

	return is_success(done) && shortfall >= 0 && shortfall <= done->amount &&
		done->moved == shortfall - done->amount;
}

static bool is_account(const struct exam_done *done)
{
	char unknown[EXTERNAL_ID_SIZE];

	exam_unknown_user(done->exam, unknown);
	return is_error(done) ||
		callback_balance_ok(&done->replies[0].outcome, unknown,
			done->exam->dealer.currency);
}

static bool is_whole(const struct exam_done *done)
{
	return (is_success(done) && done->moved == -done->amount) ||
		(is_error(done) && !done->moved);
}

/* A copy for which no connection could be made is not the dealer's fault. */
static bool is_one(const struct exam_done *done)
{
	unsigned int answers = 0;

	for (unsigned int i = 0; i < done->count; i++) {
		const struct callback_outcome *outcome = &done->replies[i].outcome;

		answers += outcome->http_status || outcome->class == CALLBACK_NOT_SENT;
	}
	return exam_any_success(done) && answers == done->count;
}

static bool is_all(const struct exam_done *done)
{
	for (unsigned int i = 0; i < done->count; i++) {
		if (done->replies[i].outcome.class != CALLBACK_SUCCESS)
			return false;
	}
	return true;
}

static bool is_in_time(const struct exam_done *done)
{
	return done->exam->slowest_ms < done->exam->session->settings.callback_timeout_ms;
}

static const struct {
	const char *words;
	bool (*met)(const struct exam_done *done);
} expectations[EXAM_EXPECT_COUNT] = {
	[EXPECT_TAKEN] = {"success", is_taken},
	[EXPECT_BALANCE] = {"the user's own user_id, balance and currency", is_balance},
	[EXPECT_JSON] = {"the balance as application/json", is_json},
	[EXPECT_TRUE] = {"success, and nothing in the answer that is not so", is_true},
	[EXPECT_DELIVERED] = {"success, or bet_not_found", is_delivered},
	[EXPECT_REFUSED] = {"a refusal", is_refused},
	[EXPECT_ERROR] = {"an error body with id and detail", is_error},
	[EXPECT_NOT_TAKEN] = {"an answer, but no success", is_not_taken},
	[EXPECT_ACCOUNT] = {"an error body, or the balance of a new account", is_account},
	[EXPECT_WHOLE] = {"an error body and no credit moved, or success and all of it", is_whole},
	[EXPECT_ONE] = {"answers to all that were sent, with success among them", is_one},
	[EXPECT_ALL] = {"success of each", is_all},
	[EXPECT_STRANGER] = {"an error body with id and detail", is_stranger},
	[EXPECT_SAME] = {"the same success as the first time", is_same},
	[EXPECT_SHORT] = {"success, and a shortfall that is the part not taken", is_short},
	[EXPECT_ANSWER] = {"an answer", is_answered},
	[EXPECT_IN_TIME] = {"each answer within the call's timeout", is_in_time},
};

bool exam_met(const struct exam_done *done)
{
	return expectations[done->step->expect].met(done);
}

const char *exam_wanted(enum exam_expect expect)
{
	return expectations[expect].words;
}

void exam_say(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, EXAM_TEXT_SIZE - used, format, arguments);
	va_end(arguments);
}

const char *exam_money(money_t money, char text[MONEY_TEXT_MAX + 1])
{
	text[0] = '+';
	money_format(money, 2, money > 0 ? text + 1 : text);
	return text;
}

money_t exam_moves(const struct exam_step *step, money_t amount)
{
	static const int signs[] = {[MOVE_NONE] = 0, [MOVE_OUT] = -1, [MOVE_IN] = 1};

	return signs[step->move] * amount;
}

void exam_say_label(char *text, const struct exam *exam, const struct exam_step *step, bool again)
{
	static const char *const actions[EXAM_ACTION_COUNT] = {"", "balance", "bet", "win", "loss",
		"cancelled game", "refund", "payback", "slowest answer", "raised payout",
		"lowered payout", "restart"};
	static const char *const signs[] = {"", ", unsigned", ", signed with another key",
		", signature cut off", ", altered", ", with a line break more"};
	static const char *const ways[] = {"", ", last of its connection", ", slowly",
		", copies at the same time", " at the same time", ", by GET",
		", without webhook headers", ", headers in capitals"};
	static const char *const doors[] = {"", " to betting", " to betting-result",
		" to betting-refund"};

	exam_say(text, "%s%s%.1s%s%s%s%s", actions[step->action], step->letter ? " " : "",
		&step->letter, doors[step->door], again ? " again" : "", signs[step->sign],
		ways[step->way]);
	if (step->way == WAY_COPIES || step->way == WAY_MANY)
		exam_say(text, " x%u", exam->copies);
	else if (step->times > 1)
		exam_say(text, " x%u", step->times);
}

void exam_say_reply(char *text, const struct exam_reply *reply, bool body)
{
	const struct callback_outcome *outcome = &reply->outcome;
	const char *words = outcome->dealer_error_id[0] ? outcome->dealer_error_id : outcome->note;

	exam_say(text, "%s", callback_class_names[outcome->class]);
	if (outcome->class == CALLBACK_REFUSED && outcome->dealer_error_id[0])
		exam_say(text, " (%u %s)", (unsigned int)outcome->http_status, words);
	else if (words[0])
		exam_say(text, " (%s)", words);
	if (body && outcome->class == CALLBACK_SUCCESS)
		exam_say(text, " (HTTP %u %s)", (unsigned int)outcome->http_status,
			reply->len ? reply->text : "without a body");
}

void exam_say_replies(char *text, const struct exam_done *done)
{
	unsigned int counts[CALLBACK_CLASS_COUNT] = {0};
	const char *before = "";

	if (done->count == 1) {
		exam_say_reply(text, &done->replies[0], !exam_met(done));
		return;
	}
	for (unsigned int i = 0; i < done->count; i++)
		counts[done->replies[i].outcome.class]++;
	for (unsigned int i = 0; i < CALLBACK_CLASS_COUNT; i++) {
		if (!counts[i])
			continue;
		exam_say(text, "%s%u %s", before, counts[i], callback_class_names[i]);
		before = ", ";
	}
}

/*
 * exam_run - runs one case of `dealer test` and judges the answers.
 */
#include "conformance/choose.h"
#include "conformance/judge.h"

#include "base/clock.h"
#include "wire/callback_body.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LETTERS 26
/* A restarted server must answer again within this time. */
#define RESTART_MS      60000
#define RESTART_POLL_MS 100

const char *const exam_result_names[EXAM_RESULT_COUNT] = {"passed", "failed", "not judged",
	"skipped", "not run"};

const struct field exam_row_fields[] = {
	FIELD(FIELD_STR, exam_row, name),
	FIELD(FIELD_STR, exam_row, group),
	FIELD_NAMED(exam_row, result, exam_result_names, EXAM_RESULT_COUNT),
	FIELD(FIELD_STR, exam_row, cause),
	FIELD(FIELD_STR, exam_row, rule),
	FIELD(FIELD_STR, exam_row, needs),
	FIELD(FIELD_STR, exam_row, expected),
	FIELD(FIELD_STR, exam_row, came),
	FIELD(FIELD_STR, exam_row, why),
	FIELD(FIELD_BOOL, exam_row, has_money),
	FIELD(FIELD_MONEY, exam_row, before),
	FIELD(FIELD_MONEY, exam_row, after),
	FIELD(FIELD_MONEY, exam_row, moved),
	FIELD(FIELD_U32, exam_row, calls),
	FIELD(FIELD_U64, exam_row, ms),
	FIELD_END,
};

/* A body that was built; a repetition sends the same bytes. */
struct exam_message {
	enum exam_action action;
	char letter;
	uint64_t event;
	money_t amount;
	struct buffer body;
	struct exam_reply first; /* the first answer */
	bool answered;
};
/* A step may send several bets. */
#define MESSAGES_MAX (EXAM_STEPS_MAX + 1 + EXAM_COPIES)

/* A running case. */
struct case_run {
	struct exam *exam;
	const struct exam_case *case_;
	struct exam_row *row;
	struct exam_round round;
	uint64_t ids[LETTERS];
	struct exam_message messages[MESSAGES_MAX];
	unsigned int message_count;
	money_t sum; /* moved by the steps whose result was correct */
	bool failed;
};

static void fail_case(struct case_run *run, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void fail_case(struct case_run *run, const char *label, const char *format, ...)
{
	char text[EXAM_TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!run->failed)
		exam_say(run->row->why, "%s: %s", label, text);
	run->failed = true;
}

static money_t amount_of(const struct case_run *run, const struct exam_step *step)
{
	const struct exam *exam = run->exam;
	money_t amount = 1;

	if (step->action == EXAM_CLOSE)
		return -run->sum;
	if (step->amount == AMOUNT_TOO_MUCH) {
		amount = CREDIT(exam->balance / CREDIT(1) + 1);
		return amount > MONEY_MAX ? MONEY_MAX : amount;
	}
	if (step->amount == AMOUNT_REST)
		return exam->balance - CREDIT(2);
	if (step->amount != AMOUNT_SMALLEST)
		return step->amount;
	for (unsigned int i = exam->dealer.decimals; i < MONEY_DECIMALS_MAX; i++)
		amount *= 10;
	return amount;
}

/* Adds the amount that a step moved, and its stake if the round's result must include it. */
static void count_moved(struct case_run *run, const struct exam_step *step, money_t moved)
{
	money_t *sums = step->addition ? run->round.added : run->round.staked;

	run->sum += moved;
	if (step->action == EXAM_BET && !step->lost)
		sums[step->round] -= moved;
}

/* Returns the step's event, existing or new; NULL if memory is exhausted. */
static struct exam_message *find_message(struct case_run *run, const struct exam_step *step,
	bool *again)
{
	struct exam_message *message = run->messages;
	uint64_t *id = step->letter ? &run->ids[step->letter - 'A'] : NULL;
	bool made;

	for (unsigned int i = 0; i < run->message_count; i++, message++) {
		*again = message->action == step->action && message->letter == step->letter &&
			step->letter;
		if (*again)
			return message;
	}
	*again = false;
	if (id && !*id)
		*id = exam_id(run->exam);
	message->action = step->action;
	message->letter = step->letter;
	message->event = exam_id(run->exam);
	message->amount = amount_of(run, step);
	buffer_init(&message->body, CALLBACK_BODY_MAX);
	made = exam_body(run->exam, &run->round, step, id && step->action != EXAM_LOSS ? *id : 0,
		message->amount, &message->body);
	run->message_count++;
	return made ? message : NULL;
}

/* The callback at whose path the step's request arrives. */
static enum callback_kind door_of(const struct exam_step *step)
{
	static const enum callback_kind doors[] = {
		[DOOR_BETTING] = CALLBACK_BETTING,
		[DOOR_RESULT] = CALLBACK_BETTING_RESULT,
		[DOOR_REFUND] = CALLBACK_BETTING_REFUND,
	};

	return step->door == DOOR_OWN ? exam_kind(step->action) : doors[step->door];
}

/* Sends the event in the form of the step. Returns false if memory is exhausted. */
static bool send_step(struct case_run *run, const struct exam_step *step,
	struct exam_message *message, struct exam_reply *replies, unsigned int *count)
{
	struct exam_request requests[EXAM_COPIES],
		request = {
			.kind = exam_kind(step->action),
			.event = message->event,
			.door = door_of(step),
			.signed_body = {message->body.data, (uint32_t)message->body.len},
			.sign = step->sign,
			.way = step->way,
		};
	struct buffer body;
	bool good;

	buffer_init(&body, CALLBACK_BODY_MAX);
	good = buffer_append(&body, message->body.data, message->body.len);
	if (good && step->sign == SIGN_ALTERED)
		exam_body_alter(&body);
	if (good && step->sign == SIGN_NEWLINE)
		good = buffer_append_str(&body, "\n");
	if (good) {
		request.body = (struct bytes){body.data, (uint32_t)body.len};
		*count = step->way == WAY_COPIES ? run->exam->copies : 1;
		for (unsigned int i = 0; i < *count; i++)
			requests[i] = request;
		exam_send(run->exam, requests, *count, replies);
	}
	if (good && !message->answered)
		message->first = replies[0];
	message->answered |= good;
	buffer_free(&body);
	return good;
}

/*
 * Sends exam->copies bets at the same time: the step's letter and the following ones. @message is
 * the first of them.
 */
static bool send_many(struct case_run *run, const struct exam_step *step,
	struct exam_message *message, struct exam_reply *replies, unsigned int *count)
{
	struct exam_request requests[EXAM_COPIES];
	struct exam_step one = *step;
	bool again;

	*count = run->exam->copies;
	for (unsigned int i = 0; i < *count; i++) {
		one.letter = (char)(step->letter + (int)i);
		message = find_message(run, &one, &again);
		if (!message)
			return false;
		requests[i] = (struct exam_request){.kind = exam_kind(step->action),
			.event = message->event,
			.door = door_of(step),
			.body = {message->body.data, (uint32_t)message->body.len},
			.signed_body = {message->body.data, (uint32_t)message->body.len}};
	}
	exam_send(run->exam, requests, *count, replies);
	return true;
}

/* Returns true if a bet at its own path was accepted and not debited. */
static bool is_free_bet(const struct exam_done *done)
{
	return done->step->action == EXAM_BET && done->step->door == DOOR_OWN && !done->again &&
		exam_any_success(done) && !done->moved;
}

/*
 * Counts the expected amount if it moved. On success, also counts it if nothing or another amount
 * moved. The case returns the counted amount, so the remaining difference is what the dealer owes
 * or lost.
 */
static void judge_step(struct case_run *run, const struct exam_done *done, const char *label,
	bool has_money)
{
	const char *words = exam_wanted(done->step->expect);
	/* Of these, the answer decides about the amount: exam_met() compares them. */
	bool open = done->step->expect == EXPECT_WHOLE || done->step->expect == EXPECT_SHORT;
	money_t must = open ? done->moved : exam_moves(done->step, done->amount);
	char moved[MONEY_TEXT_MAX + 1], wanted[MONEY_TEXT_MAX + 1], came[EXAM_TEXT_SIZE] = "";

	exam_say_replies(came, done);
	exam_say(run->row->came, "%s%s: %s", run->row->came[0] ? "; " : "", label, came);
	if (has_money && done->step->action != EXAM_BALANCE) {
		exam_say(run->row->came, " %s", exam_money(done->moved, moved));
		exam_say(run->row->steps, "%s%s", run->row->steps[0] ? " " : "", moved);
	}
	if (exam_any_success(done) || (has_money && done->moved == must))
		count_moved(run, done->step, done->step->back && has_money ? done->moved : must);
	if (!exam_met(done))
		fail_case(run, label, "expected %s, came %s%s", words, came,
			is_free_bet(done) && has_money ? ": the bet was free" : "");
	if (!has_money)
		fail_case(run, label, "the balance after it cannot be used: %s",
			run->exam->balance_note);
	else if (done->moved != must)
		fail_case(run, label, "expected %s of credit, came %s", exam_money(must, wanted),
			exam_money(done->moved, moved));
}

/* Refunds a bet that may have arrived but was not answered, as the service would do. */
static void refund_lost(struct case_run *run, const struct exam_step *bet, money_t amount)
{
	const struct exam_step step = {.action = EXAM_REFUND,
		.letter = bet->letter,
		.amount = amount,
		.round = bet->round};
	struct exam_reply replies[EXAM_COPIES];
	unsigned int count;
	bool again;
	struct exam_message *message = find_message(run, &step, &again);

	if (message && send_step(run, &step, message, replies, &count))
		exam_say(run->row->came, "; its refund: %s",
			callback_class_names[replies[0].outcome.class]);
}

/* Counts the bets that were accepted with and without a balance in the answer. */
static void count_balances(struct exam *exam, const struct exam_step *step,
	const struct exam_done *done)
{
	for (unsigned int i = 0; i < done->count && step->action == EXAM_BET; i++) {
		const struct callback_outcome *outcome = &done->replies[i].outcome;

		exam->bets_with_balance +=
			outcome->class == CALLBACK_SUCCESS && outcome->has_balance;
		exam->bets_without_balance +=
			outcome->class == CALLBACK_SUCCESS && !outcome->has_balance;
	}
}

static void step_do(struct case_run *run, const struct exam_step *step)
{
	struct exam *exam = run->exam;
	struct exam_reply replies[EXAM_COPIES] = {{.is_json = false}};
	struct exam_done done = {.exam = exam, .step = step, .replies = replies};
	money_t before = exam->balance;
	char label[EXAM_TEXT_SIZE] = "";
	struct exam_message *message;
	bool again = false, has_money;

	message = find_message(run, step, &again);
	exam_say_label(label, exam, step, again);
	if (!message) {
		fail_case(run, label, "out of memory");
		return;
	}
	for (unsigned int i = 0; i < (step->times ? step->times : 1); i++) {
		done.again = again || i;
		if (!(step->way == WAY_MANY ? send_many : send_step)(run, step, message, replies,
			    &done.count)) {
			fail_case(run, label, "out of memory");
			return;
		}
		if (!done.again)
			count_balances(exam, step, &done);
		/* Judge the first wrong repetition, or else the last one. */
		if (i + 1 < step->times && !exam_met(&done))
			break;
	}
	done.amount = message->amount * (step->way == WAY_MANY ? done.count : 1);
	done.first = &message->first;
	if (step->expect == EXPECT_ACCOUNT)
		exam->opens_accounts = replies[0].outcome.class == CALLBACK_SUCCESS;
	has_money = exam_ask(exam);
	done.moved = has_money ? exam->balance - before : 0;
	judge_step(run, &done, label, has_money);
	if (run->failed && step->action == EXAM_BET && step->door == DOOR_OWN &&
		replies[0].outcome.class == CALLBACK_UNKNOWN)
		refund_lost(run, step, message->amount);
}

/*
 * Pays back the amount that the case took. This is not judged, but missing money shows in the
 * final balance.
 */
static void step_close(struct case_run *run, const struct exam_step *step)
{
	struct exam_reply replies[EXAM_COPIES];
	struct exam_message *message;
	unsigned int count;
	bool again;

	if (run->sum >= 0)
		return;
	message = find_message(run, step, &again);
	if (!message || !send_step(run, step, message, replies, &count))
		return;
	exam_say(run->row->came, "; payback: ");
	exam_say_reply(run->row->came, &replies[0], false);
}

static void step_pace(struct case_run *run, const struct exam_step *step)
{
	const struct exam_reply nothing = {.is_json = false};
	const struct exam_done done = {.exam = run->exam, .step = step, .replies = &nothing};

	exam_say(run->row->came, "the slowest answer took %u ms",
		(unsigned int)run->exam->slowest_ms);
	if (!exam_met(&done))
		fail_case(run, "all answers", "%s", run->row->came);
}

/* Has the dealer's server restarted, and waits until it answers again. */
static void step_restart(struct case_run *run)
{
	struct exam *exam = run->exam;
	uint32_t slowest_ms = exam->slowest_ms;
	money_t before = exam->balance;
	const char *reason = exam->restart(exam->restart_closure);
	int64_t end_ms = clock_boot_ms() + RESTART_MS;
	bool has_money = false;
	char moved[MONEY_TEXT_MAX + 1];

	if (reason) {
		fail_case(run, "restart", "%s", reason);
		return;
	}
	while (!has_money && clock_boot_ms() < end_ms) {
		has_money = exam_ask(exam);
		if (!has_money)
			clock_sleep_ms(RESTART_POLL_MS);
	}
	exam->slowest_ms = slowest_ms;
	if (!has_money) {
		fail_case(run, "restart", "no balance within %d s: %s", RESTART_MS / 1000,
			exam->balance_note);
		return;
	}
	exam_say(run->row->came, "; restart: %s", exam_money(exam->balance - before, moved));
	if (exam->balance != before)
		fail_case(run, "restart", "expected 0.00 of credit, came %s", moved);
}

static void steps_do(struct case_run *run)
{
	for (const struct exam_step *step = run->case_->steps; step->action != EXAM_END; step++) {
		if (step->action == EXAM_CLOSE)
			step_close(run, step);
		else if (run->failed)
			continue;
		else if (step->action == EXAM_PACE)
			step_pace(run, step);
		else if (step->action == EXAM_RESTART)
			step_restart(run);
		else
			step_do(run, step);
	}
}

/* Runs the steps between two balances. */
static void run_steps(struct case_run *run)
{
	struct exam *exam = run->exam;
	struct exam_row *row = run->row;

	row->has_money = exam_ask(exam);
	row->before = exam->balance;
	if (row->has_money)
		steps_do(run);
	else
		fail_case(run, "balance", "it cannot be used: %s", exam->balance_note);
	row->has_money = exam_ask(exam) && row->has_money;
	row->after = exam->balance;
	row->moved = row->has_money ? row->after - row->before : 0;
	if (!row->has_money)
		fail_case(run, "balance at the end", "it cannot be used: %s", exam->balance_note);
}

void exam_case_run(struct exam *exam, const struct exam_case *case_, unsigned int number,
	struct exam_row *row)
{
	struct case_run run = {.exam = exam,
		.case_ = case_,
		.row = row,
		.round = {.number = number, .name = case_->name}};
	uint32_t timeout_ms = exam->session->settings.callback_timeout_ms;
	int64_t begin_ms = clock_boot_ms();
	uint32_t calls = exam->calls, slowest_ms = exam->slowest_ms;

	exam_skip(exam, case_, row->why);
	if (row->why[0]) {
		row->result = EXAM_SKIPPED;
		return;
	}
	run_steps(&run);
	row->result = run.failed ? EXAM_FAILED : EXAM_PASSED;
	row->calls = exam->calls - calls;
	row->ms = (uint64_t)(clock_boot_ms() - begin_ms);
	if (run.failed && !exam->lost && !row->has_money)
		exam->lost = case_->name;
	if (run.failed && !exam->late && slowest_ms < timeout_ms && exam->slowest_ms >= timeout_ms)
		exam->late = case_->name;
	for (unsigned int i = 0; i < run.message_count; i++)
		buffer_free(&run.messages[i].body);
}

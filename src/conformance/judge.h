/*
 * exam_judge - compares the expected and the actual answers of `dealer test`, and describes both.
 */
#ifndef CONFORMANCE_JUDGE_H
#define CONFORMANCE_JUDGE_H

#include "conformance/exam.h"

/* A completed step. */
struct exam_done {
	const struct exam *exam;
	const struct exam_step *step;
	const struct exam_reply *replies;
	const struct exam_reply *first; /* the first answer to this message */
	unsigned int count;             /* number of replies; 1 unless several were sent */
	bool again;                     /* the event was sent before */
	money_t amount;
	money_t moved; /* change of the balance */
};

/*
 * Returns true if the replies are those that the step expects. exam_moves() covers the balance.
 */
bool exam_met(const struct exam_done *done);
const char *exam_wanted(enum exam_expect expect);

/* Returns true if any reply is a success, even if others are wrong. */
bool exam_any_success(const struct exam_done *done);

/* Returns the expected change of the balance for @amount, signed. */
money_t exam_moves(const struct exam_step *step, money_t amount);

/* These functions append to @text of EXAM_TEXT_SIZE bytes and truncate. */
void exam_say(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "bet A again, unsigned" */
void exam_say_label(char *text, const struct exam *exam, const struct exam_step *step, bool again);
/*
 * "success", "refused (401 invalid_signature)", "unknown (HTTP status 500)". With @body also the
 * body of a success, which may be an error that the dealer answered with status 200.
 */
void exam_say_reply(char *text, const struct exam_reply *reply, bool body);
/* Appends the outcome of one reply. For several replies, appends their number in each class. */
void exam_say_replies(char *text, const struct exam_done *done);

/* "+2.00", "-2.00", "0.00" */
const char *exam_money(money_t money, char text[MONEY_TEXT_MAX + 1]);

#endif

/*
 * exam_judge - what must come in dealer test, and what came, in words.
 */
#ifndef CONFORMANCE_JUDGE_H
#define CONFORMANCE_JUDGE_H

#include "conformance/exam.h"

/* A step that was done. */
struct exam_done {
	const struct exam *exam;
	const struct exam_step *step;
	const struct exam_reply *replies;
	unsigned int count; /* of them; one unless copies were sent */
	money_t amount;
	money_t moved; /* of the balance */
};

/* True: the replies are what the step expects. What has moved is judged by exam_moves(). */
bool exam_met(const struct exam_done *done);
const char *exam_wanted(enum exam_expect expect);

/* True: success is among the replies, whatever else is wrong. */
bool exam_any_success(const struct exam_done *done);

/* What is to move with @amount, signed. */
money_t exam_moves(const struct exam_step *step, money_t amount);

/* These append to @text of EXAM_TEXT_SIZE bytes as far as it fits. */
void exam_say(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "bet A again, unsigned" */
void exam_say_label(char *text, const struct exam *exam, const struct exam_step *step,
	bool again);
/* "success", "refused (401 invalid_signature)", "unknown (HTTP status 500)" */
void exam_say_outcome(char *text, const struct callback_outcome *outcome);
/* The same of one reply; of several how many there are of which class. */
void exam_say_outcomes(char *text, const struct exam_done *done);

/* "+2.00", "-2.00", "0.00" */
const char *exam_money(money_t money, char text[MONEY_TEXT_MAX + 1]);

#endif

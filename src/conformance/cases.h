/*
 * exam_cases - macros for the steps in the tables of `dealer test`.
 *
 * LETTER and amount name a bet or result (exam.h, struct exam_step). The expected answer and the
 * expected change of the balance follow. Other members of a step are set by name.
 */
#ifndef CONFORMANCE_CASES_H
#define CONFORMANCE_CASES_H

#include "conformance/exam.h"

#define STEP(action_, letter_, amount_, expect_, move_, ...)                                       \
	{                                                                                          \
		.action = (action_), .letter = (letter_), .amount = (amount_),                     \
		.expect = (expect_), .move = (move_), ##__VA_ARGS__                                \
	}
#define ASK(expect_, ...) STEP(EXAM_BALANCE, 0, 0, expect_, MOVE_NONE, ##__VA_ARGS__)
#define BET(letter_, amount_, expect_, move_, ...)                                                 \
	STEP(EXAM_BET, letter_, amount_, expect_, move_, ##__VA_ARGS__)
#define WIN(letter_, amount_, expect_, move_, ...)                                                 \
	STEP(EXAM_WIN, letter_, amount_, expect_, move_, ##__VA_ARGS__)
#define LOSS(letter_, expect_, ...) STEP(EXAM_LOSS, letter_, 0, expect_, MOVE_NONE, ##__VA_ARGS__)
#define CANCEL(letter_, amount_, expect_, move_, ...)                                              \
	STEP(EXAM_CANCEL, letter_, amount_, expect_, move_, ##__VA_ARGS__)
#define REFUND(letter_, amount_, expect_, move_, ...)                                              \
	STEP(EXAM_REFUND, letter_, amount_, expect_, move_, ##__VA_ARGS__)
#define RAISE(letter_, amount_, expect_, move_, ...)                                               \
	STEP(EXAM_RAISE, letter_, amount_, expect_, move_, ##__VA_ARGS__)
#define LOWER(letter_, amount_, expect_, move_, ...)                                               \
	STEP(EXAM_LOWER, letter_, amount_, expect_, move_, ##__VA_ARGS__)
/* The last step of a case that takes credit. */
#define CLOSE(round_) STEP(EXAM_CLOSE, 'Z', 0, EXPECT_ANSWER, MOVE_NONE, .round = (round_))
#define RESTART()                                                                                  \
	{                                                                                          \
		.action = EXAM_RESTART                                                             \
	}
/* The last member of a case: the names of the earlier cases that it needs. */
#define NEEDS(...) .needs = {__VA_ARGS__}

#define CASES_END                                                                                  \
	{                                                                                          \
		.name = NULL                                                                       \
	}
#define TENTH (MONEY_UNITS_PER_CREDIT / 10)
#define CENT  (MONEY_UNITS_PER_CREDIT / 100)

#endif

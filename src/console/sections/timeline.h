/*
 * timeline - what happened to one bet or one transfer, in the order of time: the calls, each attempt
 * with its outcome and what the dealer answered, and the bytes that were sent.
 *
 * The text for the dealer has the same lines, with times in UTC.
 */
#ifndef CONSOLE_SECTIONS_TIMELINE_H
#define CONSOLE_SECTIONS_TIMELINE_H

#include "console/common/page.h"
#include "domain/story.h"

#define TIMELINE_STEPS_MAX    192
#define TIMELINE_ATTEMPTS_MAX 32 /* of one callback: the newest */
#define TIMELINE_REFUSED_MAX  16 /* calls with the same reference that were refused */
#define TIMELINE_WHAT_SIZE    48
#define TIMELINE_TEXT_SIZE    400

struct timeline_step {
	int64_t time_ms;
	unsigned int place; /* of steps of one time: the order in which they were added */
	char what[TIMELINE_WHAT_SIZE];
	char text[TIMELINE_TEXT_SIZE];
	uint64_t event;   /* the callback whose page it leads to; 0: none */
	bool body;        /* shows the body of the event */
	uint32_t attempt; /* shows what the dealer answered to this attempt; 0: nothing */
};

struct timeline {
	struct page *page;
	unsigned int count;
	bool left_out; /* there were more steps or attempts */
	struct timeline_step steps[TIMELINE_STEPS_MAX];
};

void timeline_begin(struct timeline *timeline, struct page *page);

/*
 * Adds a step. Returns it, so that the caller can set event, body and attempt; one that has no room is
 * returned, too, and not shown.
 */
struct timeline_step *timeline_add(struct timeline *timeline, int64_t time_ms, const char *what,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds when the callback @event was made, its attempts, and its end. 0: nothing. */
enum outcome timeline_callback(struct timeline *timeline, uint64_t event);

/* Adds the newest calls of @caller with this reference that were refused, with their request ids. */
enum outcome timeline_refused(struct timeline *timeline, const char *caller, const char *reference);

/* Writes the steps, and with @story the text for the dealer. */
enum outcome timeline_write(struct timeline *timeline, const struct story *story);

/* Writes what the dealer answered to an attempt, folded, if it was kept. */
enum outcome timeline_answer(struct page *page, uint64_t event, uint32_t attempt);

#endif

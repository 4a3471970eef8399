/*
 * choose - decides which cases of `dealer test` are run.
 */
#ifndef CONFORMANCE_CHOOSE_H
#define CONFORMANCE_CHOOSE_H

#include "conformance/exam.h"

/*
 * Appends to @why (EXAM_TEXT_SIZE bytes) the reason why the case is not for this dealer or this
 * exam, if there is one.
 */
void exam_skip(const struct exam *exam, const struct exam_case *case_, char *why);

/*
 * Returns the failed case because of which @case_ cannot be judged, or NULL. If the balance could
 * not be used after an earlier case, asks for it again.
 */
const char *exam_cause(struct exam *exam, const struct exam_case *case_);

/* Returns true if @exam->only names the case of @row, or a case that needs it. */
bool exam_is_chosen(const struct exam *exam, const struct exam_row *row);

#endif

/*
 * classify - from an HTTP exchange to the class of an attempt (api.md, B, the table of answers).
 */
#ifndef CALLBACK_CLASSIFY_H
#define CALLBACK_CLASSIFY_H

#include "callback/http.h"
#include "domain/callback.h"

/*
 * Fills @outcome. Only what certainly did not leave is CALLBACK_NOT_SENT, only a whole and readable
 * answer is CALLBACK_SUCCESS or CALLBACK_REFUSED; all else is CALLBACK_UNKNOWN. A 4xx other than
 * 408, 425 and 429 is a refusal whatever its body; its words are taken if it is an error body.
 */
void classify(const struct http_answer *answer, struct callback_outcome *outcome);

#endif

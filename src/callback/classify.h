/* classify - maps an HTTP exchange to the class of an attempt (contract, "Answers of a dealer"). */
#ifndef CALLBACK_CLASSIFY_H
#define CALLBACK_CLASSIFY_H

#include "callback/http.h"
#include "domain/callback.h"

/*
 * Fills @outcome. With @needs_balance, a success must be an object with a usable balance; an answer
 * that is a success but for the balance is then unreadable. CALLBACK_NOT_SENT requires that no
 * byte was sent. CALLBACK_SUCCESS and CALLBACK_REFUSED require a complete, readable response. All
 * else is CALLBACK_UNKNOWN. A 4xx other than 408, 425 and 429 is a refusal whatever its body; id
 * and text are copied from an error body. The beginning of an answer that is no success is kept.
 */
void classify(const struct http_answer *answer, bool needs_balance,
	struct callback_outcome *outcome);

#endif

/*
 * bend - what the script (faults.h) does to calls and answers that are right; nothing to carry over.
 */
#ifndef DEALER_FAULTY_BEND_H
#define DEALER_FAULTY_BEND_H

#include "dealer/serve.h"

/* What a dealer with @bugs answers to @call before it works; ANSWER_OK: it works. */
enum dealer_answer bend_call(struct reference_dealer *dealer, unsigned int bugs,
	const struct http_request *request, const struct dealer_call *call);

/* Writes the success that a dealer answers who keeps credit in floats. */
void bend_balance(struct dealer_worker *worker, const char *user_id, money_t balance);

/* Puts what @strike answers in the place of the answer. */
void bend_answer(struct dealer_worker *worker, const struct fault_strike *strike);

#endif

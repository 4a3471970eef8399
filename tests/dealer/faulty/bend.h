/*
 * bend - applies the script (faults.h) to correct calls and answers. Do not copy it to your dealer.
 */
#ifndef TESTS_DEALER_FAULTY_BEND_H
#define TESTS_DEALER_FAULTY_BEND_H

#include "dealer/serve.h"

#include "faulty/faults.h"

/* Returns the answer of a dealer with @bugs to @call before the work; ANSWER_OK: do the work. */
enum dealer_answer bend_call(struct dealer_faults *faults, unsigned int bugs,
	const struct http_request *request, const struct dealer_call *call);

/* Writes the success answer of a dealer that stores credit in floats. */
void bend_balance(struct dealer_worker *worker, const char *user_id, money_t balance);

/* Replaces the answer by the one of @strike. */
void bend_answer(struct dealer_worker *worker, const struct fault_strike *strike);

#endif

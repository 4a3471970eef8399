/*
 * callback - reads a callback's request into a struct dealer_call (specification, "Group B:
 * callbacks to the dealer").
 *
 * The signature covers only the body, so a body that an attacker has seen can be sent to another
 * path. So each kind accepts only bodies that fit no other kind, whatever the headers say. A bet
 * must not carry `result`; a refund must carry neither `result` nor `user_bet`. The required
 * members of the other kinds exclude the rest. If webhook-id (contract, "Webhook headers") is sent,
 * it must fit the kind too.
 */
#ifndef DEALER_CALLBACK_H
#define DEALER_CALLBACK_H

#include "dealer/rules.h"
#include "fcgi/request.h"
#include "wire/body.h"

/*
 * Reads the signed @request of @kind. Returns ANSWER_OK, or another answer with a sentence in
 * @detail.
 */
enum dealer_answer callback_read(const struct http_request *request, enum callback_kind kind,
	struct dealer_call *call, char detail[BODY_DETAIL_MAX]);

/*
 * Like callback_read(), without the check that the request is of no other kind. Sets @alien if the
 * body has members of another kind.
 */
enum dealer_answer callback_parse(const struct http_request *request, enum callback_kind kind,
	struct dealer_call *call, bool *alien, char detail[BODY_DETAIL_MAX]);

#endif

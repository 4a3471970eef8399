/*
 * callback - a callback's request into a struct dealer_call (spec.md B1 to B4).
 *
 * The signature covers the body alone: whoever has seen a callback can send its body to another
 * path. So each kind takes only bodies that are of no other kind, whatever the headers say: a bet
 * must not carry `result`, a refund neither `result` nor `user_bet`; what they require keeps the
 * others out. webhook-id (api.md, Signature) must be of the kind too, where it is sent.
 */
#ifndef DEALER_CALLBACK_H
#define DEALER_CALLBACK_H

#include "dealer/rules.h"
#include "fcgi/request.h"
#include "wire/body.h"

/*
 * Reads the signed @request of @kind. ANSWER_OK, or another answer with a sentence in @detail.
 * With @any_kind a body replayed under another kind is taken (a planted bug).
 */
enum dealer_answer callback_read(const struct http_request *request, enum callback_kind kind,
	bool any_kind, struct dealer_call *call, char detail[BODY_DETAIL_MAX]);

#endif

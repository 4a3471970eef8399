/*
 * dealer_answer - what a dealer's server answered to a callback (api.md, B).
 *
 * The text comes from outside and is believed in nothing: one JSON object of bounded nesting, no
 * key twice, or it is not readable.
 */
#ifndef WIRE_DEALER_ANSWER_H
#define WIRE_DEALER_ANSWER_H

#include "domain/callback.h"

#include <stddef.h>

enum dealer_answer_shape {
	DEALER_ANSWER_UNREADABLE, /* neither of the others; or memory is exhausted */
	DEALER_ANSWER_EMPTY,      /* nothing, or white space alone */
	DEALER_ANSWER_OBJECT,     /* an object that is no error body */
	DEALER_ANSWER_ERROR,      /* an error body: id and detail are both strings */
};

/*
 * Reads the @len bytes of an answer and, whatever their shape, sets of @outcome
 *   for an error body   dealer_error_id and dealer_error_detail, control characters replaced by '?'
 *                       and cut to fit between two characters;
 *   for an object       has_balance, balance, currency and user_id as far as they are there and
 *                       well-formed; the names of those that are there and are not, in note;
 *   if unreadable       note.
 * Other members are not touched.
 */
enum dealer_answer_shape dealer_answer_read(const void *text, size_t len,
	struct callback_outcome *outcome);

/* Copies @text to @to as far as it fits, as dealer_error_detail is: for other words from outside. */
void dealer_answer_quote(char *to, size_t size, const char *text);

#endif

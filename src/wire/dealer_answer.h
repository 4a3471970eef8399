/*
 * dealer_answer - reads a dealer's response to a callback (contract, "Answers of a dealer").
 *
 * The text is untrusted. It must be one JSON object of limited nesting without duplicate keys;
 * otherwise it is unreadable.
 */
#ifndef WIRE_DEALER_ANSWER_H
#define WIRE_DEALER_ANSWER_H

#include "domain/callback.h"

#include <stddef.h>

enum dealer_answer_shape {
	DEALER_ANSWER_UNREADABLE, /* none of the others, or memory is exhausted */
	DEALER_ANSWER_EMPTY,      /* nothing, or only white space */
	DEALER_ANSWER_OBJECT,     /* an object that is not an error body */
	DEALER_ANSWER_ERROR,      /* an error body: id and detail are both strings */
};

/*
 * Reads the @len bytes of an answer. Sets these members of @outcome:
 *   for an error body   dealer_error_id and dealer_error_detail, control characters replaced by '?'
 *                       and cut to fit between two characters;
 *   for an object       has_balance, balance, shortfall, currency and user_id if present and well-formed;
 *                       in note the names of the malformed ones; shortfall is -1 if malformed;
 *   if unreadable       note.
 * Other members are unchanged.
 */
enum dealer_answer_shape dealer_answer_read(const void *text, size_t len,
	struct callback_outcome *outcome);

/* Copies @text to @to, cleaned and cut to fit like dealer_error_detail. For other external text. */
void dealer_answer_quote(char *to, size_t size, const char *text);

/*
 * Writes the beginning of the @len bytes of an answer as text: whole characters, as many as fit. A
 * character that steers a display, and a byte that is no UTF-8, is written as an escape: \n, \r, \t,
 * \xHH, or \u{HHHH}.
 */
void dealer_answer_keep(char *to, size_t size, const void *bytes, size_t len);

#endif

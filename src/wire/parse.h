/*
 * parse - JSON text into Jansson's values, as text from outside deserves.
 *
 * For the wire floor's own use: its callers hand out structs (wire/body.h, wire/dealer_answer.h).
 */
#ifndef WIRE_PARSE_H
#define WIRE_PARSE_H

#include "base/field.h"
#include "domain/refusal.h"
#include "wire/body.h"

#include <jansson.h>
#include <stddef.h>

/*
 * Parses @len bytes into *@body, for the caller to decref whatever is returned (*@body is NULL or a
 * value). REFUSAL_NONE: *@body is an object, nested at most BODY_NESTING_MAX deep, no key twice; a
 * number that no int64_t or double holds reads as 1e99. REFUSAL_BAD_REQUEST: the text is none;
 * REFUSAL_SERVICE_UNAVAILABLE: memory is exhausted; a sentence about "the body" is in @detail.
 */
enum refusal parse_object(const void *bytes, size_t len, json_t **body,
	char detail[BODY_DETAIL_MAX]);

/*
 * True: one of @len bytes is zero, which JSON's text never is, and which Jansson does not see behind a
 * number or a word. *@line and *@column, from 1 on, tell then where the first is.
 */
bool parse_has_zero(const void *bytes, size_t len, unsigned int *line, unsigned int *column);

/*
 * The text of the value of @key, which @body has: as it stands in the @len bytes that @body was
 * parsed from.
 */
struct bytes parse_text_of(const void *bytes, size_t len, json_t *body, const char *key);

#endif

/*
 * parse - reads untrusted JSON text into Jansson's values.
 *
 * Only for src/wire. Its callers return structs (wire/body.h, wire/dealer_answer.h).
 */
#ifndef WIRE_PARSE_H
#define WIRE_PARSE_H

#include "base/field.h"
#include "domain/refusal.h"
#include "wire/body.h"

#include <jansson.h>
#include <stddef.h>

/*
 * Parses @len bytes into *@body, which is NULL or a value. The caller must decref it, whatever is
 * returned. REFUSAL_NONE: *@body is an object with a nesting of at most BODY_NESTING_MAX and no
 * duplicate keys. A number that fits no int64_t or double reads as 1e99. REFUSAL_BAD_REQUEST: the
 * text is no such object. REFUSAL_SERVICE_UNAVAILABLE: memory is exhausted. On a refusal @detail
 * gets a sentence about "the body".
 */
enum refusal parse_object(const void *bytes, size_t len, json_t **body,
	char detail[BODY_DETAIL_MAX]);

/*
 * Returns true if one of @len bytes is zero. JSON never contains a zero byte, and Jansson overlooks
 * one after a number or a word. *@line and *@column, from 1, then hold its place.
 */
bool parse_has_zero(const void *bytes, size_t len, unsigned int *line, unsigned int *column);

/*
 * Returns the text of the value of @key, which must be in @body, as it is in the @len bytes that
 * @body was parsed from.
 */
struct bytes parse_text_of(const void *bytes, size_t len, json_t *body, const char *key);

/*
 * Takes the next item of the array whose text, parsed before, *@rest is: from its bracket, or after an
 * item. Returns its text, and no bytes after the last item.
 */
struct bytes parse_next_item(struct bytes *rest);

#endif

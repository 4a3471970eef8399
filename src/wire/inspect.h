/*
 * inspect - what is wrong with a body, for a person: more than the error body tells.
 */
#ifndef WIRE_INSPECT_H
#define WIRE_INSPECT_H

#include "base/field.h"

#define INSPECT_TEXT_MAX 96

enum inspect_fault {
	INSPECT_FINE,     /* one JSON object */
	INSPECT_EMPTY,
	INSPECT_GZIP,     /* compressed */
	INSPECT_UTF16,
	INSPECT_BOM,      /* begins with a byte order mark of UTF-8 */
	INSPECT_FORM,     /* amount=10&user_id=... */
	INSPECT_MULTIPART, /* a form in parts */
	INSPECT_PRINTED,  /* what PHP prints of an array, or serialises it to */
	INSPECT_QUOTED,   /* a JSON string that holds JSON: serialised twice */
	INSPECT_NOT_OBJECT,
	INSPECT_NOT_UTF8,
	INSPECT_ZERO,     /* a byte of it is zero */
	INSPECT_TWICE,    /* a key is there twice: @text */
	INSPECT_DEEP,
	INSPECT_CUT,      /* it ends too early */
	INSPECT_COMMA,    /* a comma before } or ] */
	INSPECT_SINGLE,   /* ' in place of " */
	INSPECT_WORD,     /* NaN, Infinity, None, True ...: @text */
	INSPECT_SYNTAX,
	INSPECT_FAULT_COUNT
};
struct inspection {
	enum inspect_fault fault;
	unsigned int line;   /* from 1, of syntax; 0: no place is told */
	unsigned int column; /* in characters; 0: before the first of the line */
	char text[INSPECT_TEXT_MAX];
};

/*
 * The error text for a body that a program made by accident: what it is, and the remedy. NULL: the
 * fault has no such sentence.
 */
extern const char *const inspect_remedies[INSPECT_FAULT_COUNT];

/* Looks at a body. Memory exhausted reads as INSPECT_SYNTAX without a place. */
void inspect_body(struct bytes body, struct inspection *inspection);

enum inspect_type {
	INSPECT_ABSENT, INSPECT_NULL, INSPECT_BOOL, INSPECT_INTEGER, INSPECT_REAL, INSPECT_STRING,
	INSPECT_ARRAY, INSPECT_OBJECT,
	INSPECT_TYPE_COUNT
};
extern const char *const inspect_type_names[INSPECT_TYPE_COUNT]; /* "a string" */
struct inspect_member {
	enum inspect_type type;
	char text[INSPECT_TEXT_MAX]; /* as it stands in the body, cut to fit */
	int64_t integer;             /* of an integer; of a string that is one; else 0 */
	char similar[INSPECT_TEXT_MAX]; /* absent: a key that differs in case, _ and - alone */
};
/* The member @key of a body. Of what is no JSON object nothing is there. */
void inspect_member(struct bytes body, const char *key, struct inspect_member *member);

/* Copies the string that is the member @key. False, and "": there is none, or it does not fit. */
bool inspect_string(struct bytes body, const char *key, char *to, size_t size);

#endif

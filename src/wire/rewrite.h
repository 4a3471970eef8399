/*
 * rewrite - writes JSON as the serialisers of common languages format it.
 *
 * For `creditbridgectl explain`: a client that signs one text and sends another has usually
 * serialised the object twice.
 */
#ifndef WIRE_REWRITE_H
#define WIRE_REWRITE_H

#include "base/buffer.h"
#include "base/field.h"

/* White space between the parts. */
enum rewrite_layout {
	LAYOUT_COMPACT,  /* {"a":1,"b":2}: PHP, JavaScript, Go, .NET */
	LAYOUT_SPACED,   /* {"a": 1, "b": 2}: Python */
	LAYOUT_COLON,    /* {"a": 1,"b": 2} */
	LAYOUT_INDENT_2, /* lines with an indent of 2: JavaScript, Ruby */
	LAYOUT_INDENT_4, /* lines with an indent of 4: PHP, Python */
	LAYOUT_INDENT_TAB,
	LAYOUT_COUNT
};
/* How characters of strings are escaped. */
enum rewrite_escape {
	ESCAPE_LEAST,      /* raw UTF-8 */
	ESCAPE_UNICODE,    /* \u00e9: PHP, Python */
	ESCAPE_UNICODE_UP, /* \u00E9: .NET, Java */
	ESCAPE_HTML,       /* raw UTF-8, but <, > and & as \u003c: Go */
	ESCAPE_COUNT
};
enum rewrite_number {
	NUMBER_AS_IS,
	NUMBER_SHORT, /* 10 for 10.0 and 10.00, 10.5 for 10.50: JavaScript */
	NUMBER_POINT, /* 10.0 for 10: a float in Python or Java */
	NUMBER_FIXED, /* two decimals: 10.50 */
	NUMBER_COUNT
};
struct rewrite_form {
	enum rewrite_layout layout;
	bool sorted;  /* keys in the order of their bytes */
	bool slashes; /* \/ for /: PHP */
	enum rewrite_escape escape;
	enum rewrite_number number;
};

/* Returns true if @text is valid JSON for a body (wire/body.h). rewrite_json() requires this. */
bool rewrite_may(struct bytes text);

/*
 * Appends @text, which rewrite_may() accepted, to @out in the form. Returns false if it does not
 * fit or memory is exhausted.
 */
bool rewrite_json(struct bytes text, const struct rewrite_form *form, struct buffer *out);

/* Describes the form, for example "compact, slashes escaped", in at most REWRITE_NAME_MAX bytes. */
#define REWRITE_NAME_MAX 128
void rewrite_name(const struct rewrite_form *form, char name[REWRITE_NAME_MAX]);

#endif

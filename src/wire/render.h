/*
 * render - structs into JSON text, by their field tables.
 *
 * Money is a JSON number with at most 15 significant digits, exact (0.1 prints as 0.1, 100 as
 * 100.0); what an int64 sum holds beyond 15 digits is printed exactly too, by its decimal text.
 * Enums print their names, times their milliseconds. A group prints as an array of objects, without
 * the elements whose first member is an empty string (unused key slots); a group of one as that
 * object. FIELD_SECRET and FIELD_BYTES are left out, and FIELD_JSON without text; its text is
 * embedded as it is, with blanks for line breaks: the output has none.
 */
#ifndef WIRE_RENDER_H
#define WIRE_RENDER_H

#include "base/buffer.h"
#include "base/field.h"
#include "domain/money.h"
#include "domain/refusal.h"

/*
 * Appends @record as a JSON object. False: memory exhausted or @out is full; @out->failed is set
 * and nothing was appended.
 */
bool render_record(struct buffer *out, const struct field *table, const void *record);

/* Appends @text as a JSON string, quoted and escaped. Ill-formed UTF-8 is replaced by '?'. */
bool render_string(struct buffer *out, const char *text);
/* The same of @len bytes. */
bool render_text(struct buffer *out, const char *text, size_t len);

/* An error body (api.md, Common rules, Error). */
struct error_body {
	enum refusal refusal;
	const char *detail;     /* NULL: the refusal's own */
	const char *request_id;
	const char *field;      /* of transaction_conflict; NULL or "": none */
	bool has_balance;       /* insufficient_balance adds current_balance */
	money_t current_balance;
	const char *state;      /* of a bet that is being refunded; NULL: none */
	/* What the dealer said, "" where he said nothing; NULL: it is no matter of the dealer's. */
	const char *dealer_error_id;
	const char *dealer_error_detail;
	bool retryable; /* although the refusal in general is not */
};

/* Appends the error body as JSON. Fails as render_record does. */
bool render_error(struct buffer *out, const struct error_body *error);

/* The HTTP reason text of @code, "Error" when unknown. */
const char *render_reason(int code);

#endif

/*
 * render - writes structs as JSON text by their field tables.
 *
 * Money is a JSON number with at most 15 significant digits, exact (0.1 prints as 0.1, 100 as
 * 100.0). A sum beyond 15 digits is also printed exactly, by its decimal text. Enums print their
 * names, times their milliseconds.
 *
 * A group prints as an array of objects, without elements whose first member is an empty string
 * (unused key slots). A group of one prints as that object. FIELD_SECRET and FIELD_BYTES are left
 * out. FIELD_JSON is embedded with blanks for line breaks, so the output is one line; an empty one
 * is left out.
 */
#ifndef WIRE_RENDER_H
#define WIRE_RENDER_H

#include "base/buffer.h"
#include "base/field.h"
#include "domain/money.h"
#include "domain/refusal.h"

/*
 * Appends @record as a JSON object. Returns false if memory is exhausted or @out is full;
 * @out->failed is then set and nothing is appended.
 */
bool render_record(struct buffer *out, const struct field *table, const void *record);

/* Appends @text as a quoted and escaped JSON string. Replaces ill-formed UTF-8 by '?'. */
bool render_string(struct buffer *out, const char *text);
/* Like render_string(), for @len bytes. */
bool render_text(struct buffer *out, const char *text, size_t len);

/* An error body (contract, "Answers"). */
struct error_body {
	enum refusal refusal;
	const char *detail; /* NULL: the detail of the refusal */
	const char *request_id;
	const char *field; /* of transaction_conflict; NULL or "": none */
	bool has_balance;  /* insufficient_balance includes current_balance */
	money_t current_balance;
	bool has_revision; /* revision_conflict includes current_revision */
	uint32_t current_revision;
	const char *state; /* state of a bet that is being refunded; NULL: none */
	/*
	 * The dealer's error id and text, "" if the dealer sent none; NULL: the dealer was not
	 * involved.
	 */
	const char *dealer_error_id;
	const char *dealer_error_detail;
	bool retryable; /* although the refusal usually is not */
};

/* Appends the error body as JSON. Fails like render_record(). */
bool render_error(struct buffer *out, const struct error_body *error);

/* Returns the HTTP reason phrase of @code, or "Error" if @code is unknown. */
const char *render_reason(int code);

#endif

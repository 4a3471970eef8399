/*
 * body - reads a request's JSON body into a struct by a table (contract, "Body").
 *
 * Accepts one JSON object in UTF-8 with a nesting of at most 16. Duplicate keys are refused,
 * unknown keys ignored.
 */
#ifndef WIRE_BODY_H
#define WIRE_BODY_H

#include "base/field.h"
#include "domain/refusal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_MAX         65536
#define BODY_BATCH_MAX   1048576 /* of a batch of results (contract, "Body") */
#define BODY_NESTING_MAX 16
#define BODY_DETAIL_MAX  160

enum body_type {
	BODY_NONE = 0, /* ends a table */
	BODY_ID,       /* char[]: 1 to 128 bytes of UTF-8 without control characters */
	BODY_NAME,     /* char[]: [A-Za-z0-9_.-]{1,64} */
	BODY_AMOUNT,   /* money_t above zero; else invalid_amount */
	BODY_PAYOUT,   /* money_t, zero or above; else invalid_amount */
	BODY_INTEGER,  /* int64_t; a JSON integer from 0 to 2^53-1 */
	BODY_TEXT,     /* char[]: UTF-8 without control characters, cut to fit; may be empty */
	BODY_BOOL,     /* bool */
	BODY_RESULT,   /* enum round_result: "win", "loss" or "refund" */
	BODY_WORDS,    /* uint32_t, a set: an array of strings of @words; bit n is the n-th word */
	/*
	 * struct bytes: the text of a JSON object, byte for byte as in the body, so that numbers
	 * keep every digit. It points into the body.
	 */
	BODY_OBJECT,
	BODY_ARRAY, /* likewise of a JSON array; see body_next_item() */
	/* The value is not stored; sets a bool to true if the key is present. */
	BODY_HAS_STRING,
	BODY_HAS_OBJECT,
	BODY_HAS_ANY,
};

struct body_field {
	const char *name;
	enum body_type type;
	bool required;
	uint32_t offset;
	uint32_t size;
	const char *const *words; /* for BODY_WORDS: at most 32 words, then NULL */
};

#define BODY_FIELD(type_, struct_, member_)                                                        \
	{                                                                                          \
#member_, (type_), true, (uint32_t)offsetof(struct struct_, member_),              \
			(uint32_t)sizeof(((struct struct_ *)0)->member_), NULL                     \
	}
/* If @key is absent, the member keeps its previous value as the default. */
#define BODY_OPTIONAL(key_, type_, struct_, member_)                                               \
	{                                                                                          \
		(key_), (type_), false, (uint32_t)offsetof(struct struct_, member_),               \
			(uint32_t)sizeof(((struct struct_ *)0)->member_), NULL                     \
	}
#define BODY_OPTIONAL_WORDS(key_, struct_, member_, words_)                                        \
	{                                                                                          \
		(key_), BODY_WORDS, false, (uint32_t)offsetof(struct struct_, member_),            \
			(uint32_t)sizeof(((struct struct_ *)0)->member_), (words_)                 \
	}
#define BODY_FIELD_END                                                                             \
	{                                                                                          \
		NULL, BODY_NONE, false, 0, 0, NULL                                                 \
	}

/*
 * Parses @len bytes at @text and fills the members of @record named by @table. A key may appear in
 * the table twice: once for its value and once as BODY_HAS_ANY for its presence.
 *
 * Returns REFUSAL_NONE, or REFUSAL_BAD_REQUEST or REFUSAL_INVALID_AMOUNT with a sentence in @detail
 * that names the field. Returns REFUSAL_SERVICE_UNAVAILABLE if memory is exhausted. Types are
 * checked before amounts: a body with any wrong type is bad_request, even if an amount is invalid
 * too.
 */
enum refusal body_parse(const void *text, size_t len, const struct body_field *table, void *record,
	char detail[BODY_DETAIL_MAX]);

/*
 * Like body_parse(), for a caller whose amounts have at most @decimals. @detail mentions this limit
 * and the nearest such amount. An amount is refused only if it has more than MONEY_DECIMALS_MAX
 * decimals.
 */
enum refusal body_parse_of(const void *text, size_t len, const struct body_field *table,
	void *record, unsigned int decimals, char detail[BODY_DETAIL_MAX]);

/*
 * Takes the next item of an array. *@rest is the text that BODY_ARRAY stored, and afterwards the text
 * after the item. Returns false after the last item.
 */
bool body_next_item(struct bytes *rest, struct bytes *item);

#endif

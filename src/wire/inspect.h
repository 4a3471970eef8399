/*
 * inspect - describes the fault of a request body for people, in more detail than the error body
 * does.
 */
#ifndef WIRE_INSPECT_H
#define WIRE_INSPECT_H

#include "base/field.h"
#include "domain/records.h"

#define INSPECT_TEXT_MAX    96
#define INSPECT_AMOUNT_SIZE 33

enum inspect_fault {
	INSPECT_FINE, /* one JSON object */
	INSPECT_EMPTY,
	INSPECT_GZIP, /* compressed */
	INSPECT_UTF16,
	INSPECT_BOM,       /* begins with a byte order mark of UTF-8 */
	INSPECT_FORM,      /* amount=10&user_id=... */
	INSPECT_MULTIPART, /* a form in parts */
	INSPECT_PRINTED,   /* output of PHP's print_r() or serialize() */
	INSPECT_QUOTED,    /* a JSON string that contains JSON: serialised twice */
	INSPECT_NOT_OBJECT,
	INSPECT_NOT_UTF8,
	INSPECT_ZERO,  /* it contains a zero byte */
	INSPECT_TWICE, /* a duplicate key: @text */
	INSPECT_DEEP,
	INSPECT_CUT,    /* it ends too early */
	INSPECT_COMMA,  /* a comma before } or ] */
	INSPECT_SINGLE, /* ' instead of " */
	INSPECT_WORD,   /* NaN, Infinity, None, True ...: @text */
	INSPECT_SYNTAX,
	INSPECT_FAULT_COUNT
};
struct inspection {
	enum inspect_fault fault;
	unsigned int line;   /* from 1, of a syntax fault; 0: no place is known */
	unsigned int column; /* in characters; 0: before the first character of the line */
	char text[INSPECT_TEXT_MAX];
};

/* The error text for a body sent by mistake, with the remedy. NULL: the fault has no such text. */
extern const char *const inspect_remedies[INSPECT_FAULT_COUNT];

/* Inspects a body. If memory is exhausted, the result is INSPECT_SYNTAX without a place. */
void inspect_body(struct bytes body, struct inspection *inspection);

enum inspect_type {
	INSPECT_ABSENT,
	INSPECT_NULL,
	INSPECT_BOOL,
	INSPECT_INTEGER,
	INSPECT_REAL,
	INSPECT_STRING,
	INSPECT_ARRAY,
	INSPECT_OBJECT,
	INSPECT_TYPE_COUNT
};
extern const char *const inspect_type_names[INSPECT_TYPE_COUNT]; /* "a string" */
struct inspect_member {
	enum inspect_type type;
	char text[INSPECT_TEXT_MAX]; /* as in the body, cut to fit */
	int64_t integer; /* value of an integer, or of a string that is an integer; else 0 */
	char similar[INSPECT_TEXT_MAX]; /* if absent: a key that differs only in case, _ and - */
};
/* Describes the member @key of a body. If the body is no JSON object, the member is absent. */
void inspect_member(struct bytes body, const char *key, struct inspect_member *member);

/*
 * Copies the string value of the member @key. Returns false and "" if there is none or it does not
 * fit.
 */
bool inspect_string(struct bytes body, const char *key, char *to, size_t size);

/* The ids, the amount and the time of a request body, whatever its operation is. */
struct inspect_ids {
	char casino_id[CASINO_ID_SIZE]; /* each is "" if it is absent, no string, or too long */
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	/* The number of amount, bet_amount or payout_amount as it is written; "all" of `all`. */
	char amount[INSPECT_AMOUNT_SIZE];
	int64_t request_timestamp; /* 0: absent, or no integer */
};
/* Fills @ids. All are empty if the body is no JSON object. */
void inspect_ids(struct bytes body, struct inspect_ids *ids);

#endif

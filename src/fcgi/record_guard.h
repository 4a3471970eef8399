/*
 * record_guard - rejects records that libfcgi does not handle safely.
 *
 * libfcgi has four weaknesses. It answers a management record into a buffer of fixed size. After
 * a record of another request, it can drop the next record of the current one. It takes padding
 * of an empty record, or of the record that begins a request, for the head of a record. It
 * allocates any length that a variable claims to have.
 *
 * No web server sends such records, but a process that may connect to the socket could. The guard
 * follows the record heads before libfcgi reads them, and rejects the connection. It also finds
 * the end of a request, after which libfcgi must not read.
 */
#ifndef FCGI_RECORD_GUARD_H
#define FCGI_RECORD_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of all variables of a request. No web server sends that much. */
#define FCGI_PARAMS_MAX (1024 * 1024)

#define RECORD_HEAD_SIZE 8

struct record_guard {
	uint8_t head[RECORD_HEAD_SIZE];
	size_t head_len; /* bytes received of the next record's head */
	size_t content;  /* bytes left of the record's content */
	size_t padding;  /* bytes left of its padding */
	uint16_t id;     /* request id; 0: no request has begun */
	uint8_t type;    /* of the record */
	bool params_ended;
	bool ended;    /* the last byte of the request was received */
	size_t params; /* bytes of variables so far */
	/* The pair of name and value at hand. */
	unsigned int length_bytes; /* bytes left of the current length field */
	bool value_next;           /* the current length field is the value's */
	size_t length;
	size_t pair_left; /* bytes left of name and value */
};

/* Called before the first byte of a request. */
void record_guard_begin(struct record_guard *guard);

/*
 * Follows @len bytes, at least one, of a request that has not ended. Returns how many of them
 * belong to the request; fewer than @len only at its end. Returns 0 on a violation; the caller
 * then closes the connection.
 */
size_t record_guard_pass(struct record_guard *guard, const void *data, size_t len);

#endif

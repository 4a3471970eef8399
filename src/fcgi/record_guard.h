/*
 * record_guard - refuses what libfcgi does not survive in the records of a connection.
 *
 * libfcgi reads the records. It answers a management record into a buffer of fixed size, it can drop
 * the next record of a request after one of another request, it takes the padding after an empty
 * record, or after the one that begins a request, for the head of a record, and it allocates any length that a variable claims to have. No web
 * server sends such records; whoever may connect to the socket could. So the guard follows the heads
 * of the records on their way to libfcgi and ends the connection there. It also finds the end of a
 * request, beyond which libfcgi must not read.
 */
#ifndef FCGI_RECORD_GUARD_H
#define FCGI_RECORD_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that the variables of a request may have in all: more than any web server sends. */
#define FCGI_PARAMS_MAX (1024 * 1024)

#define RECORD_HEAD_SIZE 8

struct record_guard {
	uint8_t head[RECORD_HEAD_SIZE];
	size_t head_len;  /* bytes of the next record's head that have come */
	size_t content;   /* bytes of the record's content that are still to come ... */
	size_t padding;   /* ... and of its padding */
	uint16_t id;      /* of the request; 0: none has begun */
	uint8_t type;     /* of the record */
	bool params_ended;
	bool ended;       /* the request's last byte has come */
	size_t params;    /* bytes of variables so far */
	/* The name and value that are being read. */
	unsigned int length_bytes; /* still to come of the length at hand */
	bool value_next;           /* the length at hand is the value's */
	size_t length;
	size_t pair_left;          /* bytes of name and value still to come */
};

/* Before the first byte of a request. */
void record_guard_begin(struct record_guard *guard);

/*
 * Follows @len bytes of the request. Returns how many of them belong to it, which are fewer only where
 * it ends; 0 when they break the rules, and the connection is to be closed. @len is not 0, and the
 * request has not ended.
 */
size_t record_guard_pass(struct record_guard *guard, const void *data, size_t len);

#endif

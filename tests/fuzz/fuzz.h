/*
 * fuzz - what the targets of this folder share. A target reads bytes from outside as the service
 * would, and dies when a property does not hold: must() says which.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/buffer.h"
#include "base/field.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_ROW_MAX (1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: it must be that %s\n", __FILE__, __LINE__,         \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Takes the first byte, 0 when there is none. */
static inline uint8_t fuzz_byte(struct bytes *in)
{
	if (!in->len)
		return 0;
	in->len--;
	return *in->data++;
}

/* Takes up to @len bytes. */
static inline struct bytes fuzz_take(struct bytes *in, uint32_t len)
{
	struct bytes taken = {in->data, len < in->len ? len : in->len};

	in->data += taken.len;
	in->len -= taken.len;
	return taken;
}

/* Takes as a number what there is of @width bytes. */
static inline uint64_t fuzz_number(struct bytes *in, unsigned int width)
{
	uint64_t number = 0;

	while (width--)
		number = number << 8 | fuzz_byte(in);
	return number;
}

/* A copy with a closing NUL, for the caller to free. */
static inline char *fuzz_text(struct bytes in)
{
	char *text = malloc((size_t)in.len + 1);

	must(text);
	if (in.len)
		memcpy(text, in.data, in.len);
	text[in.len] = '\0';
	return text;
}

/* What is packed of the row is the @len bytes at @data, all of them. */
static inline void fuzz_same(const struct buffer *packed, const uint8_t *data, size_t len)
{
	must(!packed->failed);
	must(packed->len == len);
	must(!len || memcmp(packed->data, data, len) == 0);
}

#endif

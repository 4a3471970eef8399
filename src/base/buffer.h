/*
 * buffer - a byte buffer that grows up to a limit.
 *
 * An append fails if it exceeds the limit or memory is exhausted. It then sets @failed and changes
 * nothing else. Every later append also fails, so a writer checks once, at the end.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data;
	size_t len;
	size_t cap;
	size_t max; /* upper limit of cap, in bytes */
	bool failed;
};

/* Sets @b to empty, with no memory allocated and a limit of @max bytes. */
void buffer_init(struct buffer *b, size_t max);
/* Frees the memory; the buffer is empty and usable again. */
void buffer_free(struct buffer *b);
/* Empties the buffer, keeps the memory, clears @failed. */
void buffer_reset(struct buffer *b);
/* The slow path of buffer_reserve(): allocates the room. */
uint8_t *buffer_grow(struct buffer *b, size_t len);
/*
 * Makes room for @len more bytes. Returns the address of that room, or NULL. The caller adds the
 * bytes written to len.
 */
static inline uint8_t *buffer_reserve(struct buffer *b, size_t len)
{
	if (b->data && !b->failed && b->cap - b->len >= len)
		return b->data + b->len;
	return buffer_grow(b, len);
}
bool buffer_append(struct buffer *b, const void *data, size_t len);
bool buffer_append_str(struct buffer *b, const char *text);
/* Appends the bytes quoted, so that a shell reads them as one word. */
bool buffer_append_shell_word(struct buffer *b, const void *data, size_t len);
/* Appends @number in decimal. Faster than printf(); every response contains numbers. */
bool buffer_append_number(struct buffer *b, uint64_t number);
bool buffer_printf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Drops the first @len bytes. */
void buffer_consume(struct buffer *b, size_t len);

#endif

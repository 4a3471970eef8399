#include "base/buffer.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_init(struct buffer *b, size_t max)
{
	*b = (struct buffer){.max = max};
}

void buffer_free(struct buffer *b)
{
	free(b->data);
	buffer_init(b, b->max);
}

void buffer_reset(struct buffer *b)
{
	b->len = 0;
	b->failed = false;
}

uint8_t *buffer_grow(struct buffer *b, size_t len)
{
	size_t cap = b->cap ? b->cap : 256;
	uint8_t *data;

	if (b->failed || len > b->max || b->len > b->max - len) {
		b->failed = true;
		return NULL;
	}
	while (cap - b->len < len)
		cap *= 2;
	if (cap > b->max)
		cap = b->max;
	data = realloc(b->data, cap ? cap : 1);
	if (!data) {
		b->failed = true;
		return NULL;
	}
	b->data = data;
	b->cap = cap;
	return data + b->len;
}

bool buffer_append(struct buffer *b, const void *data, size_t len)
{
	uint8_t *to = buffer_reserve(b, len);

	if (!to)
		return false;
	if (len)
		memcpy(to, data, len);
	b->len += len;
	return true;
}

bool buffer_append_str(struct buffer *b, const char *text)
{
	return buffer_append(b, text, strlen(text));
}

bool buffer_append_shell_word(struct buffer *b, const void *data, size_t len)
{
	const char *at = data;

	buffer_append_str(b, "'");
	for (size_t i = 0; i < len; i++) {
		if (at[i] == '\'')
			buffer_append_str(b, "'\\''");
		else
			buffer_append(b, &at[i], 1);
	}
	return buffer_append_str(b, "'");
}

bool buffer_append_number(struct buffer *b, uint64_t number)
{
	char text[TEXT_NUMBER_MAX];

	return buffer_append(b, text, (size_t)(text_number(text, number, 1) - text));
}

bool buffer_printf(struct buffer *b, const char *format, ...)
{
	const size_t room = b->failed ? 0 : b->cap - b->len;
	va_list args;
	int need;
	uint8_t *to;

	/* Format into the room that is free. A second pass is seldom needed. */
	va_start(args, format);
	need = vsnprintf(room ? (char *)b->data + b->len : NULL, room, format, args);
	va_end(args);
	if (need < 0) {
		b->failed = true;
		return false;
	}
	to = buffer_reserve(b, (size_t)need + 1);
	if (!to)
		return false;
	if ((size_t)need >= room) {
		va_start(args, format);
		vsnprintf((char *)to, (size_t)need + 1, format, args);
		va_end(args);
	}
	b->len += (size_t)need;
	return true;
}

void buffer_consume(struct buffer *b, size_t len)
{
	if (len >= b->len) {
		b->len = 0;
		return;
	}
	memmove(b->data, b->data + len, b->len - len);
	b->len -= len;
}

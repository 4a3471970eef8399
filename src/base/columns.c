#include "base/columns.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Returns the bytes of the first character of @text, and its columns in *width. */
static size_t first_char(const char *text, size_t len, size_t *width)
{
	mbstate_t state = {0};
	wchar_t wide;
	size_t bytes = mbrtowc(&wide, text, len, &state);
	int columns;

	*width = 1;
	if (bytes == 0 || bytes > len)
		return 1;
	columns = wcwidth(wide);
	if (columns >= 0)
		*width = (size_t)columns;
	return bytes;
}

size_t columns_width(const char *text)
{
	size_t left = strlen(text), total = 0, width, step;

	for (; left; text += step, left -= step) {
		step = first_char(text, left, &width);
		total += width;
	}
	return total;
}

/* Returns how many bytes of @text have at most @columns columns. */
static size_t bytes_within(const char *text, size_t columns)
{
	size_t left = strlen(text), used = 0, taken = 0, width, step;

	for (; left; taken += step, left -= step) {
		step = first_char(text + taken, left, &width);
		if (used + width > columns)
			break;
		used += width;
	}
	return taken;
}

void columns_shorten(const char *text, size_t width, char *to, size_t size)
{
	size_t total = columns_width(text), head, skip, step, one;
	const char *tail = text;

	if (total <= width) {
		head = strlen(text);
		tail = "";
	} else {
		head = bytes_within(text, width / 2);
		skip = total - (width - width / 2 - 1);
		/* A wide character is removed whole. */
		for (size_t passed = 0; *tail && passed < skip; tail += step, passed += one)
			step = first_char(tail, strlen(tail), &one);
		/* Marks that belong to the character before them */
		while (*tail && (step = first_char(tail, strlen(tail), &one)) && one == 0)
			tail += step;
	}
	if (head + 1 + strlen(tail) >= size) {
		to[0] = '\0';
		return;
	}
	memcpy(to, text, head);
	to[head] = '\0';
	if (total > width)
		snprintf(to + head, size - head, "~%s", tail);
}

void columns_fold(const char *text, size_t width, char *to, size_t size)
{
	size_t used = 0, taken, space;

	while (*text) {
		taken = bytes_within(text, width);
		if (text[taken]) {
			for (space = taken; space && text[space] != ' ';)
				space--;
			if (space)
				taken = space;
		}
		if (used + taken + 2 > size)
			break;
		memcpy(to + used, text, taken);
		used += taken;
		text += taken;
		text += *text == ' ';
		if (*text)
			to[used++] = '\n';
	}
	to[used] = '\0';
}

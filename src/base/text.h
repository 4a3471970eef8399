/*
 * text - small helpers for bounded strings.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies @from into @to of @size bytes, always NUL-terminated. False: it did not fit and @to is "". */
bool text_copy(char *to, size_t size, const char *from);
bool text_copy_len(char *to, size_t size, const char *from, size_t len);

/* True: @len bytes are well-formed UTF-8 without control characters (U+0000-1F, U+007F-9F). */
bool text_is_utf8_clean(const char *text, size_t len);

/* True: 1 to @max characters, each of [A-Za-z0-9_.-]. */
bool text_is_name(const char *text, size_t max);

#endif

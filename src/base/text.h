/*
 * text - small helpers for bounded strings.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies @from to @to of @size bytes, always NUL-terminated. If it does not fit, returns false and
 * sets @to to "".
 */
bool text_copy(char *to, size_t size, const char *from);
bool text_copy_len(char *to, size_t size, const char *from, size_t len);

/*
 * Returns the length of the first UTF-8 character of @text and its code point in *code. Returns 0
 * if the character is ill-formed or incomplete, or @len is 0.
 */
size_t text_utf8_len(const char *text, size_t len, uint32_t *code);

/* Returns true for U+0000-1F and U+007F-9F. */
bool text_is_control(uint32_t code);

/*
 * Returns true for characters that control a display: control characters and marks of text
 * direction.
 */
bool text_steers(uint32_t code);

/*
 * Returns true for characters that a display shows as nothing or as a gap, so that two ids can look
 * equal. These are control characters, direction marks, zero-width characters, spaces other than
 * U+0020, variation selectors and tags.
 */
bool text_is_hidden(uint32_t code);

/* Writes the character as a JSON escape: "\\u200b", or two of these. Returns the length. */
#define TEXT_ESCAPE_MAX 24
size_t text_escape(uint32_t code, char to[TEXT_ESCAPE_MAX]);

/*
 * Writes @from for people, with each hidden character as text_escape() writes it and each byte of
 * ill-formed UTF-8 as "?". Leaves out whole characters that do not fit in @size bytes. Returns the
 * length.
 */
size_t text_show(char *to, size_t size, const char *from);

/*
 * Returns true if @len bytes are well-formed UTF-8 without control characters (U+0000-1F,
 * U+007F-9F).
 */
bool text_is_utf8_clean(const char *text, size_t len);

/* Replaces every byte of a control character or of ill-formed UTF-8 by '?'. */
void text_clean(char *text, size_t len);

/*
 * Copies @text, the URL prefix of a service on a web server, to @base_path of @size bytes. Removes
 * a closing slash; "" and "/" are the root. Returns false if @text does not begin with a slash, has
 * an empty part, is not clean (text_is_utf8_clean()) or does not fit. TEXT_BASE_PATH_RULE is the
 * message, to be followed by the largest number of bytes.
 */
bool text_base_path(const char *text, char *base_path, size_t size);
#define TEXT_BASE_PATH_RULE "must be empty or begin with a slash, without empty parts, and have"

/* Returns true if @text has 1 to @max characters, each of [A-Za-z0-9_.-]. */
bool text_is_name(const char *text, size_t max);

/*
 * Writes @number in decimal, with leading zeros up to @width digits and without a NUL. @to has room
 * for TEXT_NUMBER_MAX. Returns the address after the last digit.
 */
#define TEXT_NUMBER_MAX 20
char *text_number(char *to, uint64_t number, unsigned int width);

/* Returns the FNV-1a hash. Use it for tables in memory, never for stored data. */
uint32_t text_hash(const char *text);

/*
 * Reads an unsigned decimal number of at most @max. Only digits are accepted, up to the end of
 * @text.
 */
bool text_unsigned(const char *text, uint64_t max, uint64_t *number);

/*
 * Writes a Unix time as 2025-01-31T12:00:00.000Z, 0 as "-", and a time outside the calendar as its
 * number.
 */
#define TEXT_TIME_SIZE 32
void text_time(int64_t time_ms, char text[TEXT_TIME_SIZE]);

/* Writes a duration as "12.000 s", "3 min 20 s", "2 h 5 min" or "3 d 4 h". */
#define TEXT_DURATION_SIZE 48
void text_duration(uint64_t ms, char text[TEXT_DURATION_SIZE]);

#endif

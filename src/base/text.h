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

/*
 * The length of the well-formed UTF-8 character that @text begins with, its number in *code; 0 when
 * there is none (ill-formed, cut off, or @len is 0).
 */
size_t text_utf8_len(const char *text, size_t len, uint32_t *code);

/* True: U+0000-1F or U+007F-9F. */
bool text_is_control(uint32_t code);

/* True: it steers what shows the text: a control character, or a mark that turns its direction. */
bool text_steers(uint32_t code);

/*
 * True: what shows the text shows nothing for it, or only a gap: so two ids can look alike. Control
 * characters, marks that turn the direction, zero-width characters, spaces other than U+0020, selectors of
 * variants and tags.
 */
bool text_is_hidden(uint32_t code);

/* Writes the character as JSON escapes it: "\\u200b", or two of these. Returns its length. */
#define TEXT_ESCAPE_MAX 24
size_t text_escape(uint32_t code, char to[TEXT_ESCAPE_MAX]);

/*
 * Writes @from for people: each hidden character by text_escape(), each byte of what is no UTF-8 as "?".
 * What does not fit into @size bytes is left out, by whole characters. Returns the length.
 */
size_t text_show(char *to, size_t size, const char *from);

/* True: @len bytes are well-formed UTF-8 without control characters (U+0000-1F, U+007F-9F). */
bool text_is_utf8_clean(const char *text, size_t len);

/* Replaces every byte of a control character, or of what is no UTF-8, by '?'. */
void text_clean(char *text, size_t len);

/*
 * Copies the prefix @text, at which a web server mounts a service, to @base_path of @size bytes
 * without a closing slash: "" and "/" are the root. False: it does not begin with a slash, has an
 * empty part, is not clean (text_is_utf8_clean) or does not fit: TEXT_BASE_PATH_RULE, to be
 * followed by the largest number of bytes.
 */
bool text_base_path(const char *text, char *base_path, size_t size);
#define TEXT_BASE_PATH_RULE "must be empty or begin with a slash, without empty parts, and have"

/* True: 1 to @max characters, each of [A-Za-z0-9_.-]. */
bool text_is_name(const char *text, size_t max);

/*
 * Writes @number in decimal, with zeros before it up to @width digits, and no NUL. @to has room for
 * TEXT_NUMBER_MAX. Returns what is behind it.
 */
#define TEXT_NUMBER_MAX 20
char *text_number(char *to, uint64_t number, unsigned int width);

/* FNV-1a: for tables in memory, never for what is stored. */
uint32_t text_hash(const char *text);

/* Reads an unsigned decimal number of at most @max: digits only, to the end of @text. */
bool text_unsigned(const char *text, uint64_t max, uint64_t *number);

/* Writes a Unix time as 2025-01-31T12:00:00.000Z; 0 as "-", and what no calendar has as its number. */
#define TEXT_TIME_SIZE 32
void text_time(int64_t time_ms, char text[TEXT_TIME_SIZE]);

#endif

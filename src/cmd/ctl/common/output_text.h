/*
 * output_text - texts for people: on a terminal, no text of another party acts as anything but text.
 */
#ifndef CMD_CTL_COMMON_OUTPUT_TEXT_H
#define CMD_CTL_COMMON_OUTPUT_TEXT_H

#include <stddef.h>

/* Bytes of a value as text. */
#define OUTPUT_TEXT_MAX 1024

/*
 * Returns @text for people, on a terminal or in a file. Each hidden character (text_is_hidden())
 * is written to @shown as \u202e, as far as it fits. Returns @text itself if it has no hidden
 * character. JSON contains the text unchanged.
 */
#define OUTPUT_SHOWN_MAX 2048
const char *output_shown(const char *text, char shown[OUTPUT_SHOWN_MAX]);

/*
 * Prints text from another party. On a terminal hidden characters are escaped as by
 * output_shown(), except line breaks and tabs; elsewhere the text is unchanged.
 */
void output_foreign(const void *text, size_t len);

#endif

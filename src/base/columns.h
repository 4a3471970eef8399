/*
 * columns - widths of text on a terminal.
 */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stddef.h>

/*
 * Returns the columns that the terminal needs for @text, in the locale of the process. A byte that
 * begins no character counts as one.
 */
size_t columns_width(const char *text);

/*
 * Writes @text in at most @width columns to @to, which has @size bytes. Removes the middle of a
 * longer text, and puts "~" in its place: the ends of an id distinguish it from others. @width is
 * at least 3.
 */
void columns_shorten(const char *text, size_t width, char *to, size_t size);

/*
 * Writes @text to @to, which has @size bytes, in lines of at most @width columns with "\n" between
 * them. Breaks lines at spaces, and within a word that is longer than a line. @width is at least 3.
 * Leaves out what does not fit in @size.
 */
void columns_fold(const char *text, size_t width, char *to, size_t size);

#endif

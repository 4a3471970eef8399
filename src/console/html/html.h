/*
 * html - writes an HTML document into a buffer. There is no function that takes markup.
 *
 * Names of elements and attributes are string literals, which the macros enforce. Every text and every
 * value is escaped. A stack closes what was opened, so a document is always well-formed.
 *
 * Ids are of dealers and game servers. html_text() therefore shows each character that a display shows
 * as nothing, as a gap or as a change of direction, as \u{202E}, so that no id can look like another.
 */
#ifndef CONSOLE_HTML_HTML_H
#define CONSOLE_HTML_HTML_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

#define HTML_DEPTH_MAX 64

struct html {
	struct buffer *out; /* out->failed: the document is not complete */
	const char *open[HTML_DEPTH_MAX];
	unsigned int depth;
	bool in_tag; /* attributes may follow */
};

/* Begins a document: the doctype. */
void html_begin(struct html *html, struct buffer *out);
/* Closes every open element. */
void html_end(struct html *html);

/*
 * Opens an element. An element deeper than HTML_DEPTH_MAX fails the buffer. Elements without content
 * (input, br) are closed, too: they get no end tag.
 */
#define html_open(html, name) html_open_name(html, "" name "")
void html_open_name(struct html *html, const char *name);
/* Closes the element that was opened last. */
void html_close(struct html *html);

/*
 * Adds an attribute to the element that was just opened. html_attribute() shows hidden characters as
 * html_text() does. html_exact() writes the value that a form or the script must get back exactly; a
 * character that HTML cannot hold becomes U+FFFD. html_flag() has no value.
 */
#define html_attribute(html, name, value) html_attribute_name(html, "" name "", value)
#define html_exact(html, name, value)     html_exact_name(html, "" name "", value)
#define html_flag(html, name)             html_flag_name(html, "" name "")
void html_attribute_name(struct html *html, const char *name, const char *value);
void html_exact_name(struct html *html, const char *name, const char *value);
void html_flag_name(struct html *html, const char *name);

/* Writes text. */
void html_text(struct html *html, const char *text);
/* Writes the text of a body, of any bytes. Line ends and tabs stay. */
void html_lines(struct html *html, const void *bytes, size_t len);
/* Writes text that was not made here, isolated from the direction of the text around it: <bdi>. */
void html_foreign(struct html *html, const char *text);
/* Writes at most 1,023 bytes of text. */
void html_printf(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An element with a class and a text. A class "" is none. */
#define html_element(html, name, class, text) html_element_name(html, "" name "", "" class "", text)
void html_element_name(struct html *html, const char *name, const char *class, const char *text);

#endif

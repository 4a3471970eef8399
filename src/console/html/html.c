#include "console/html/html.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Elements that have no content and no end tag. */
static const char *const empty_elements[] = {"input", "link", "meta", "br", "hr"};

static bool is_empty_element(const char *name)
{
	for (size_t i = 0; i < sizeof(empty_elements) / sizeof(empty_elements[0]); i++) {
		if (strcmp(empty_elements[i], name) == 0)
			return true;
	}
	return false;
}

void html_begin(struct html *html, struct buffer *out)
{
	html->out = out;
	html->depth = 0;
	html->in_tag = false;
	buffer_append_str(out, "<!DOCTYPE html>\n");
}

static void end_tag(struct html *html)
{
	if (html->in_tag)
		buffer_append_str(html->out, ">");
	html->in_tag = false;
}

void html_open_name(struct html *html, const char *name)
{
	end_tag(html);
	if (html->depth == HTML_DEPTH_MAX) {
		html->out->failed = true;
		return;
	}
	html->open[html->depth++] = name;
	buffer_append_str(html->out, "<");
	buffer_append_str(html->out, name);
	html->in_tag = true;
}

void html_close(struct html *html)
{
	const char *name;

	end_tag(html);
	if (!html->depth)
		return;
	name = html->open[--html->depth];
	if (!is_empty_element(name)) {
		buffer_append_str(html->out, "</");
		buffer_append_str(html->out, name);
		buffer_append_str(html->out, ">");
	}
	/* Lines end after blocks only, where white space means nothing. */
	if (strcmp(name, "tr") == 0 || strcmp(name, "section") == 0 || strcmp(name, "li") == 0 ||
		strcmp(name, "dl") == 0 || strcmp(name, "link") == 0)
		buffer_append_str(html->out, "\n");
}

void html_end(struct html *html)
{
	while (html->depth)
		html_close(html);
}

/* How a character is written. */
enum how { HOW_TEXT, HOW_LINES, HOW_EXACT };

/* Returns true for a character that an HTML document must not have, not even as a reference. */
static bool is_no_html(uint32_t code)
{
	return (text_is_control(code) && code != '\t' && code != '\n' && code != '\r') ||
		(code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
}

static void write_code(struct html *html, const char *text, size_t len, uint32_t code, enum how how)
{
	static const struct {
		uint32_t code;
		const char *reference;
	} references[] = {
		{'&', "&amp;"},
		{'<', "&lt;"},
		{'>', "&gt;"},
		{'"', "&quot;"},
		{'\'', "&#39;"},
		{'`', "&#96;"},
	};

	for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
		if (references[i].code == code) {
			buffer_append_str(html->out, references[i].reference);
			return;
		}
	}
	if (how == HOW_LINES && (code == '\n' || code == '\t'))
		buffer_append(html->out, text, len);
	else if (how != HOW_EXACT && (text_is_hidden(code) || is_no_html(code)))
		buffer_printf(html->out, "\\u{%X}", (unsigned int)code);
	else if (is_no_html(code))
		buffer_append_str(html->out, "\xef\xbf\xbd");
	else if (code < ' ')
		buffer_printf(html->out, "&#%u;", (unsigned int)code);
	else
		buffer_append(html->out, text, len);
}

static void write_escaped(struct html *html, const char *text, size_t len, enum how how)
{
	uint32_t code;
	size_t size;

	while (len) {
		size = text_utf8_len(text, len, &code);
		if (size)
			write_code(html, text, size, code, how);
		else if (how == HOW_EXACT)
			buffer_append_str(html->out, "\xef\xbf\xbd");
		else
			buffer_printf(html->out, "\\x{%02X}", (unsigned int)(uint8_t)*text);
		size = size ? size : 1;
		text += size;
		len -= size;
	}
}

static void write_attribute(struct html *html, const char *name, const char *value, enum how how)
{
	/* An attribute after the content would become text: the caller has a bug. */
	if (!html->in_tag) {
		html->out->failed = true;
		return;
	}
	buffer_append_str(html->out, " ");
	buffer_append_str(html->out, name);
	if (!value)
		return;
	buffer_append_str(html->out, "=\"");
	write_escaped(html, value, strlen(value), how);
	buffer_append_str(html->out, "\"");
}

void html_attribute_name(struct html *html, const char *name, const char *value)
{
	write_attribute(html, name, value, HOW_TEXT);
}

void html_exact_name(struct html *html, const char *name, const char *value)
{
	write_attribute(html, name, value, HOW_EXACT);
}

void html_flag_name(struct html *html, const char *name)
{
	write_attribute(html, name, NULL, HOW_TEXT);
}

void html_text(struct html *html, const char *text)
{
	end_tag(html);
	write_escaped(html, text, strlen(text), HOW_TEXT);
}

void html_lines(struct html *html, const void *bytes, size_t len)
{
	end_tag(html);
	write_escaped(html, bytes, len, HOW_LINES);
}

void html_foreign(struct html *html, const char *text)
{
	html_open(html, "bdi");
	html_text(html, text);
	html_close(html);
}

void html_printf(struct html *html, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	html_text(html, text);
}

void html_element_name(struct html *html, const char *name, const char *class, const char *text)
{
	html_open_name(html, name);
	if (class[0])
		html_attribute(html, "class", class);
	html_text(html, text);
	html_close(html);
}

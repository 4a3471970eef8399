#include "recon/csv.h"

#include <string.h>

/* Returns true if @c at the start of a field makes a spreadsheet treat it as a formula. */
static bool begins_formula(char c)
{
	return c && strchr("=+-@\t\r", c);
}

/*
 * Returns true for a sign followed only by digits, dots and colons. Such a number or time offset
 * is not marked.
 */
static bool is_number_text(const char *field)
{
	return (*field == '-' || *field == '+') && field[1] &&
		!field[1 + strspn(field + 1, "0123456789.:")];
}

/*
 * Returns true if csv_put() must mark @field: it begins like a formula, or with a mark that a
 * reader would remove.
 */
static bool needs_mark(const char *field)
{
	if (*field == CSV_MARK)
		return field[1] == CSV_MARK || begins_formula(field[1]);
	return begins_formula(*field) && !is_number_text(field);
}

/* Removes the mark. */
static char *skip_mark(char *field)
{
	return *field == CSV_MARK && (field[1] == CSV_MARK || begins_formula(field[1])) ? field + 1
											: field;
}

static void put_field(struct buffer *out, const char *field)
{
	const char mark[2] = {needs_mark(field) ? CSV_MARK : '\0', '\0'};

	if (!field[strcspn(field, ",\"\r\n")]) {
		buffer_append_str(out, mark);
		buffer_append_str(out, field);
		return;
	}
	buffer_append_str(out, "\"");
	buffer_append_str(out, mark);
	for (size_t len; *field; field += len) {
		len = strcspn(field, "\"");
		if (field[len])
			len++;
		buffer_append(out, field, len);
		if (field[len - 1] == '"')
			buffer_append_str(out, "\"");
	}
	buffer_append_str(out, "\"");
}

void csv_put(struct buffer *out, const char *const *fields, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			buffer_append_str(out, ",");
		put_field(out, fields[i]);
	}
	buffer_append_str(out, "\n");
}

void csv_open(struct csv *csv, char *text, size_t len)
{
	*csv = (struct csv){.at = text, .end = text + len, .next_line = 1};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		csv->at += 3;
}

static bool set_reason(struct csv *csv, const char *why)
{
	csv->why = why;
	return false;
}

/*
 * Decodes the quoted text at @at in place. Returns the position after the closing quote; NULL if
 * there is none.
 */
static char *take_quoted(struct csv *csv, char *at)
{
	char *to = at;

	for (at++; at < csv->end; at++) {
		if (*at == '"' && at[1] != '"') {
			*to = '\0';
			return at + 1;
		}
		at += *at == '"';
		csv->next_line += *at == '\n';
		*to++ = *at;
	}
	return NULL;
}

/* Reads one field. Sets *more if another follows in the same row. */
static bool take_field(struct csv *csv, char **field, bool *more)
{
	char *at = csv->at;

	*field = at;
	*more = false;
	if (*at == '"') {
		at = take_quoted(csv, at);
		if (!at)
			return set_reason(csv, "a quote is not closed");
		if (at < csv->end && !strchr(",\r\n", *at))
			return set_reason(csv, "text follows a closing quote");
	} else {
		at += strcspn(at, ",\r\n");
		if (memchr(*field, '"', (size_t)(at - *field)))
			return set_reason(csv, "a quote stands within a field");
	}
	if (at < csv->end && !*at)
		return set_reason(csv, "a NUL byte");
	*more = *at == ',';
	csv->next_line += at[0] == '\r' ? at[1] == '\n' : at[0] == '\n';
	csv->at = at < csv->end ? at + 1 + (at[0] == '\r' && at[1] == '\n') : at;
	*at = '\0';
	*field = skip_mark(*field);
	return true;
}

enum csv_read csv_next(struct csv *csv, char **fields, unsigned int max, unsigned int *count)
{
	bool more = true;

	while (csv->at < csv->end && (*csv->at == '\n' || *csv->at == '\r'))
		csv->next_line += *csv->at++ == '\n';
	csv->line = csv->next_line;
	*count = 0;
	if (csv->at == csv->end)
		return CSV_END;
	while (more) {
		if (*count == max) {
			set_reason(csv, "it has more fields than the first row");
			return CSV_BAD;
		}
		if (!take_field(csv, &fields[(*count)++], &more))
			return CSV_BAD;
	}
	return CSV_ROW;
}

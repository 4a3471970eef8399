/*
 * csv - rows of comma-separated values (RFC 4180): fields that hold a comma, a quote or a line
 * break stand in quotes, a quote in them twice. Rows are ended by LF; CR LF is read, too.
 *
 * A spreadsheet takes a field for a formula that begins with = + - @, a tab or a carriage return. Such a
 * field, unless it is a number, is written after CSV_MARK, which the spreadsheet shows or hides. So is a
 * field that begins with CSV_MARK and one of these or another CSV_MARK. Reading takes one mark away: it
 * gives back what was written.
 */
#ifndef RECON_CSV_H
#define RECON_CSV_H

#include "base/buffer.h"

#define CSV_MARK '\''

/* Appends one row. */
void csv_put(struct buffer *out, const char *const *fields, unsigned int count);

/* Reading takes the text apart in place. */
struct csv {
	char *at;        /* the text that is left, with a NUL at @end */
	const char *end;
	uint64_t line;   /* of the row last read, from 1 */
	uint64_t next_line;
	const char *why; /* after CSV_BAD */
};

enum csv_read { CSV_ROW, CSV_END, CSV_BAD };

/* @text is kept by the caller and has @len bytes and a NUL. A byte order mark is skipped. */
void csv_open(struct csv *csv, char *text, size_t len);

/*
 * Reads the next row that is not empty: *count of its fields, at most @max, each ended by a NUL.
 * CSV_BAD: see @why.
 */
enum csv_read csv_next(struct csv *csv, char **fields, unsigned int max, unsigned int *count);

#endif

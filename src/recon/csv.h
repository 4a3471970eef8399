/*
 * csv - reads and writes comma-separated values (RFC 4180). A field that contains a comma, a
 * quote or a line break is quoted; a quote in it is doubled. Rows end with LF; CR LF is also
 * read.
 *
 * A spreadsheet treats a field as a formula if it begins with = + - @, a tab or a carriage
 * return. Such a field, unless it is a number, is written after CSV_MARK, which the spreadsheet
 * shows or hides. A field that begins with CSV_MARK and one of these or another CSV_MARK is also
 * marked. Reading removes one mark, which restores the original field.
 */
#ifndef RECON_CSV_H
#define RECON_CSV_H

#include "base/buffer.h"

#define CSV_MARK '\''

/* Appends one row. */
void csv_put(struct buffer *out, const char *const *fields, unsigned int count);

/* A reader, which modifies the text in place. */
struct csv {
	char *at; /* the remaining text, with a NUL at @end */
	const char *end;
	uint64_t line; /* of the last row read, from 1 */
	uint64_t next_line;
	const char *why; /* after CSV_BAD */
};

enum csv_read { CSV_ROW, CSV_END, CSV_BAD };

/*
 * @text has @len bytes and a final NUL. The caller owns it and keeps it valid. A byte order mark
 * is skipped.
 */
void csv_open(struct csv *csv, char *text, size_t len);

/*
 * Reads the next row that is not empty. Sets *count to its number of fields, at most @max; each
 * ends with a NUL. CSV_BAD: the reason is in @why.
 */
enum csv_read csv_next(struct csv *csv, char **fields, unsigned int max, unsigned int *count);

#endif

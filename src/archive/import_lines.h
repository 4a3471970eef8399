/*
 * import_lines - reads an export line by line.
 */
#ifndef ARCHIVE_IMPORT_LINES_H
#define ARCHIVE_IMPORT_LINES_H

#include "admin/session.h"
#include "base/buffer.h"
#include "wire/digest.h"
#include "wire/row_line.h"

#include <stdio.h>

struct import_lines {
	struct session *session;
	const char *path;
	FILE *file;
	uint64_t number; /* of the line, from 1 */
	struct buffer text;
	bool end;             /* no line is left */
	struct digest before; /* of all lines before this one */
	struct row_line line;
};

/* Opens @path; "-" is standard input. Close it even if this function fails. */
enum outcome import_lines_open(struct import_lines *lines, struct session *session,
	const char *path);

/*
 * Reads the next line; lines->line.name is its record. Reports bad_file if the line is malformed.
 */
enum outcome import_lines_next(struct import_lines *lines);

/* Fills @row of @size bytes like row_line_take(). Reports bad_file if the line does not match. */
enum outcome import_lines_take(struct import_lines *lines, const struct field *fields,
	uint32_t size, void *row, bool secrets);

/* Reports bad_file with the number of this line. Returns OUTCOME_FAILED. */
enum outcome import_lines_bad(struct import_lines *lines, const char *why);

void import_lines_close(struct import_lines *lines);

#endif

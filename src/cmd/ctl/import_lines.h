/*
 * import_lines - the lines of an export, one by one.
 */
#ifndef CMD_CTL_IMPORT_LINES_H
#define CMD_CTL_IMPORT_LINES_H

#include "base/buffer.h"
#include "cmd/ctl/ctl.h"
#include "wire/digest.h"
#include "wire/row_line.h"

#include <stdio.h>

struct import_lines {
	struct ctl *ctl;
	const char *path;
	FILE *file;
	uint64_t number; /* of the line */
	struct buffer text;
	bool end;             /* there are no more lines */
	struct digest before; /* of all lines before this one */
	struct row_line line;
};

/* Opens @path; "-": standard input. To be closed in any case. */
enum outcome import_lines_open(struct import_lines *lines, struct ctl *ctl, const char *path);

/* Reads the next line: lines->line.name is its record. bad_file: it is none. */
enum outcome import_lines_next(struct import_lines *lines);

/* Fills @row of @size bytes, as row_line_take(). bad_file: it does not fit. */
enum outcome import_lines_take(struct import_lines *lines, const struct field *fields,
	uint32_t size, void *row, bool secrets);

/* Reports bad_file, at this line. Returns OUTCOME_FAILED. */
enum outcome import_lines_bad(struct import_lines *lines, const char *why);

void import_lines_close(struct import_lines *lines);

#endif

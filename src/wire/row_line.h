/*
 * row_line - a row of the ledger as one line of JSON that reads back as the very same row: the
 * lines of an export (creditbridge-export(5)).
 *
 * An object, with the row's kind as "record" and then every member by its name. Other than what
 * render.h makes for people and callers, nothing is lost: money is a string of decimals ("12.34"),
 * as is a whole number that a double does not hold; a member of bytes or JSON text is a string of
 * them; what is no UTF-8, or has a NUL, is {"hex":"..."}. An unused element of a group is null.
 */
#ifndef WIRE_ROW_LINE_H
#define WIRE_ROW_LINE_H

#include "base/arena.h"
#include "base/buffer.h"

#define ROW_LINE_NAME_SIZE 32
#define ROW_LINE_WHY_SIZE  160

/*
 * Appends @row, of kind @name, as a line with its newline. @secrets: with its FIELD_SECRET members,
 * which else are left out. False: memory is exhausted, or @out is full; @out->failed is set.
 */
bool row_line_put(struct buffer *out, const char *name, const struct field *table, const void *row,
	bool secrets);

/* A line that is being read. */
struct row_line {
	char name[ROW_LINE_NAME_SIZE];
	void *json;
	struct arena bytes; /* what was written as hex */
};

void row_line_init(struct row_line *line);
void row_line_free(struct row_line *line);

enum row_line_status { ROW_LINE_DONE, ROW_LINE_BAD, ROW_LINE_NO_MEMORY };

/* Reads @len bytes, without a newline: line->name is known then. Else a sentence is in @why. */
enum row_line_status row_line_read(struct row_line *line, const char *text, size_t len,
	char why[ROW_LINE_WHY_SIZE]);

/* Whether every member of @table is there, whatever it holds; secrets need not. */
bool row_line_holds(const struct row_line *line, const struct field *table);

/*
 * Fills @row: every member of @table must be there, in its type and range, and nothing else.
 * @secrets false: secrets must not be there, and are left empty. Bytes are valid until the line is
 * freed or another one read.
 */
enum row_line_status row_line_take(struct row_line *line, const struct field *table, uint32_t size,
	void *row, bool secrets, char why[ROW_LINE_WHY_SIZE]);

#endif

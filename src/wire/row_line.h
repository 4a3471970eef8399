/*
 * row_line - a row of the ledger as one line of JSON, which reads back as an equal row: the lines
 * of an export (creditbridge-export(5)).
 *
 * A line is an object with the row kind as "record" and every member by its name. Unlike render.h
 * it loses nothing. Money is a decimal string ("12.34"), as is an integer that does not fit in a
 * double. Members of bytes or JSON text are strings. Text with a NUL or ill-formed UTF-8 is
 * {"hex":"..."}. An unused element of a group is null.
 */
#ifndef WIRE_ROW_LINE_H
#define WIRE_ROW_LINE_H

#include "base/arena.h"
#include "base/buffer.h"

#define ROW_LINE_NAME_SIZE 32
#define ROW_LINE_WHY_SIZE  160

/*
 * Appends @row, of kind @name, as a line with its newline. FIELD_SECRET members are included only
 * if @secrets is true. Returns false if memory is exhausted or @out is full; @out->failed is then
 * set.
 */
bool row_line_put(struct buffer *out, const char *name, const struct field *table, const void *row,
	bool secrets);

/* State of a line that is read. */
struct row_line {
	char name[ROW_LINE_NAME_SIZE];
	void *json;
	struct arena bytes; /* data decoded from hex */
};

void row_line_init(struct row_line *line);
void row_line_free(struct row_line *line);

enum row_line_status { ROW_LINE_DONE, ROW_LINE_BAD, ROW_LINE_NO_MEMORY };

/* Reads @len bytes without a newline and sets line->name. On failure @why gets a sentence. */
enum row_line_status row_line_read(struct row_line *line, const char *text, size_t len,
	char why[ROW_LINE_WHY_SIZE]);

/* Returns true if every member of @table is present, with any value. Secrets may be absent. */
bool row_line_holds(const struct row_line *line, const struct field *table);

/*
 * Fills @row. Every member of @table must be present with its type and range, and no others. If
 * @secrets is false, secrets must be absent and are left empty. Bytes are valid until the line is
 * freed or another line is read.
 */
enum row_line_status row_line_take(struct row_line *line, const struct field *table, uint32_t size,
	void *row, bool secrets, char why[ROW_LINE_WHY_SIZE]);

#endif

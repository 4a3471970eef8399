/*
 * output_table - the columns of a table, and a list while it is printed (output.h).
 */
#ifndef CMD_CTL_COMMON_OUTPUT_TABLE_H
#define CMD_CTL_COMMON_OUTPUT_TABLE_H

#include "base/buffer.h"
#include "cmd/ctl/common/ctl.h"

enum output_format {
	OUTPUT_PLAIN,       /* by the field's type */
	OUTPUT_BYTES,       /* a number of bytes, with a unit */
	OUTPUT_DURATION_MS, /* milliseconds, as days, hours, minutes, seconds */
	OUTPUT_UID,         /* a user id; UINT32_MAX: none */
	OUTPUT_DUE,         /* a time, relative to now */
	/* by the field's type; "" if empty, 0 or false (a record's line is then omitted) */
	OUTPUT_IF_ANY,
};

/* A table of columns ends with an entry whose heading is NULL. */
struct output_column {
	const char *heading;
	const char *field; /* name of a field in the record's table */
	enum output_format format;
};

/*
 * A list that is printed row by row. Memory is bounded: a long list is printed in parts. With
 * --json the output is {"NAME":[{...},...]}, or nothing if NAME is NULL (a table inside a larger
 * object). An empty list is reported on standard error as "no @what". A list with a NAME
 * prints at most the rows of --limit, and is marked if another one follows: the commands read one row
 * more (ctl_list_limit()).
 */
struct output_list {
	struct ctl *ctl;
	const char *what; /* the kind of rows; NULL: an empty list is not reported */
	const struct field *table;
	/* the fields of a row with --json: @table, unless the caller sets another */
	const struct field *json;
	const struct output_column *columns;
	struct libscols_table *lines; /* without --json */
	bool silent;
	struct buffer text; /* with --json */
	unsigned long count;
	unsigned long max; /* rows to print, of --limit; 0: all */
	bool more;         /* a row after these was left out */
	uint64_t total;    /* all rows, if the caller has their number; 0: it is not known */
	unsigned int
		after_column; /* column whose text is the id of a row, for --after: 0, the first */
	char after[CTL_AFTER_SIZE]; /* the id of the last row; "": it has none */
	bool printed;               /* one part with its headings was printed */
	bool failed;
	bool walked; /* it goes on with the rows of the next cell (struct output_walk) */
};

#endif

/*
 * view - shows rows by a table of columns over the field tables of the rows: as an HTML table, as a list
 * of names and values, or as CSV.
 */
#ifndef CONSOLE_COMMON_VIEW_H
#define CONSOLE_COMMON_VIEW_H

#include "console/common/page.h"

enum view_how {
	VIEW_PLAIN,  /* as the field's type says */
	VIEW_COUNT,  /* a number of things: with signs between thousands */
	VIEW_ID,     /* an id; view_pairs() adds a button that copies it */
	VIEW_STATE,  /* an enum, as a label with a colour */
	VIEW_IF_ANY, /* nothing for 0, false and "" */
	VIEW_MARK,   /* a check box called "mark", with the member as its value */
};

/* A row with its field tables, from which a lead reads the members that it needs. */
struct view_source {
	const struct field *fields;
	const struct field *more; /* NULL, or further ones; looked up first */
	const void *row;
};
/* Returns the text of a member; "" if the row has no such member. */
const char *view_source_text(const struct view_source *source, const char *member);
/* Returns the number of a member; 0 if the row has no such member. */
uint64_t view_source_number(const struct view_source *source, const char *member);

struct view_column {
	const char *heading;
	const char *member;
	enum view_how how;
	/* NULL, or sets the page to which the value leads; does not change *to if there is none */
	void (*lead)(struct page *page, const struct view_source *source, struct page_address *to);
};
#define VIEW_END                                                                                   \
	{                                                                                          \
		NULL, NULL, VIEW_PLAIN, NULL                                                       \
	}

struct view {
	struct page *page;
	const struct view_column *columns;
	const struct field *fields; /* of the row */
	const struct field *more;   /* NULL, or further ones; looked up first */
	uint64_t rows;
};

/*
 * Begins a table with a caption. On a page of CSV, writes the line of headings, which are the names of
 * the members, and page_begin() must not be called.
 */
void view_begin(struct view *view, struct page *page, const char *caption,
	const struct view_column *columns);
void view_row(struct view *view, const void *row);
/* Ends the table. If it has no row, writes @empty in its place. */
void view_end(struct view *view, const char *empty);
/*
 * Ends a CSV that stopped at its bound with one line more: its first field says so, the others are empty.
 * Does nothing on a page.
 */
void view_csv_stopped(struct view *view, const char *text);

/* Writes names and values. */
void view_pairs(struct page *page, const struct view_column *columns, const struct field *fields,
	const void *row);

#define VIEW_TEXT_MAX 512
/* Writes a number of things as VIEW_COUNT does, "1,234". Returns @text. */
#define VIEW_COUNT_SIZE 32
const char *view_count(uint64_t number, char text[VIEW_COUNT_SIZE]);
/* Writes @digits, "-1234.50", as "-1,234.50". */
void view_group_digits(const char *digits, char text[VIEW_TEXT_MAX]);
/* Writes the value of a member. @csv: without the signs between thousands, and times as UTC. */
void view_value(const struct page *page, const struct field *field, const void *row, bool csv,
	char text[VIEW_TEXT_MAX]);

/*
 * Appends a field of CSV. Text that a spreadsheet would take for a formula, because it begins with
 * = + - @, a tab or a carriage return, gets an apostrophe in front. @is_number: the field is never text.
 */
void view_csv_field(struct buffer *out, const char *text, bool is_number);

#endif

/*
 * output - how creditbridgectl prints: records and lists, as tables or as JSON.
 *
 * Both come from field tables. JSON holds every field of the record; a table shows the columns that
 * are named. Colours only on a terminal, and not with NO_COLOR in the environment.
 */
#ifndef CMD_CTL_OUTPUT_H
#define CMD_CTL_OUTPUT_H

#include "base/buffer.h"
#include "cmd/ctl/ctl.h"

enum output_format {
	OUTPUT_PLAIN,       /* by the field's type */
	OUTPUT_BYTES,       /* a number of bytes, with a unit */
	OUTPUT_DURATION_MS, /* milliseconds, as days, hours, minutes, seconds */
	OUTPUT_UID,         /* a user id; UINT32_MAX is none */
	OUTPUT_DUE,         /* a time, as how far it is from now */
	OUTPUT_IF_ANY,      /* by the field's type; "" (of a record: left out) when empty, 0 or no */
};

/* A table of columns ends with a NULL heading. */
struct output_column {
	const char *heading;
	const char *field; /* name of a field in the record's table */
	enum output_format format;
};

#define OUTPUT_TEXT_MAX 1024
#define OUTPUT_JSON_MAX (16 * 1024 * 1024)

/*
 * Writes the field's value for a person: money as 12.34, times as ISO 8601 UTC ("-" for 0), groups
 * by the names of their elements, JSON text as it is, cut to fit; secrets as "".
 */
void output_value(const struct field *field, enum output_format format, const void *record,
	char text[OUTPUT_TEXT_MAX]);

/* "12.000 s", "3 min 20 s", "2 h 5 min", "3 d 4 h" */
#define OUTPUT_DURATION_MAX 48
void output_duration(uint64_t ms, char text[OUTPUT_DURATION_MAX]);

/* "in 12.000 s", "3 min 20 s ago"; "-" for 0. */
void output_due(int64_t time_ms, char text[OUTPUT_TEXT_MAX]);

/*
 * @text for people, on a terminal or in a file: each hidden character (text_is_hidden()) as \u202e, as far
 * as it fits; in @shown. Where nothing needs that it is @text itself. JSON has the text as it is.
 */
#define OUTPUT_SHOWN_MAX 2048
const char *output_shown(const char *text, char shown[OUTPUT_SHOWN_MAX]);

/* Prints text that others made: so to a terminal, but for line breaks and tabs; else as it is. */
void output_foreign(const void *text, size_t len);

/* A title over what follows, an empty line before all but the first. Nothing with --json. */
void output_title(struct ctl *ctl, const char *title);

/*
 * Lines "heading  value" of one or several records, aligned. Nothing with --json.
 * output_pairs_close() prints them.
 */
struct output_pairs {
	struct ctl *ctl;
	struct libscols_table *lines;
	bool failed;
};
void output_pairs_open(struct output_pairs *pairs, struct ctl *ctl);
void output_pairs_add(struct output_pairs *pairs, const char *heading, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void output_pairs_fields(struct output_pairs *pairs, const struct field *table,
	const struct output_column *columns, const void *record);
enum outcome output_pairs_close(struct output_pairs *pairs);

/* Prints one record so. */
enum outcome output_record(struct ctl *ctl, const struct field *table,
	const struct output_column *columns, const void *record);

/*
 * Writes the rows of @table and then those of @more to @view of @size rows: the table of a struct
 * that begins with that of @table.
 */
void output_view(struct field *view, size_t size, const struct field *table,
	const struct field *more);

/* The fields of a command's result behind its verdict, with which every result begins. */
const struct field *output_result(enum command command);

/*
 * A list, row by row: memory is bounded, a long list is printed in parts. With --json
 * {"NAME":[{...},...]}; nothing if NAME is NULL (a table that is part of something larger). An
 * empty list is told on standard error, as "no @what".
 */
struct output_list {
	struct ctl *ctl;
	const char *what; /* is listed; NULL: that there is none needs no words */
	const struct field *table;
	const struct field *json; /* of the rows with --json: @table, until the caller sets another */
	const struct output_column *columns;
	struct libscols_table *lines; /* not with --json */
	bool silent;
	struct buffer text;           /* with --json */
	unsigned long count;
	bool printed; /* a part was, with its headings */
	bool failed;
};
void output_list_open(struct output_list *list, struct ctl *ctl, const char *name,
	const char *what, const struct field *table, const struct output_column *columns);
void output_list_add(struct output_list *list, const void *row);
/*
 * Prints the rest and returns OUTCOME_DONE, or fails. With @code, a failure reported before, it only
 * ends the list and returns @code.
 */
enum outcome output_list_close(struct output_list *list, enum outcome code);

/*
 * JSON objects, member by member. output_json_close() prints the line; it does nothing, like the
 * others, unless --json was given.
 */
struct output_json {
	struct ctl *ctl;
	struct buffer text;
	bool comma; /* the next member or item is not the first */
};
void output_json_open(struct output_json *json, struct ctl *ctl);
/* Every field of @record, as members. */
void output_json_fields(struct output_json *json, const struct field *table, const void *record);
/* One member that is an object; @record NULL: null. */
void output_json_record(struct output_json *json, const char *name, const struct field *table,
	const void *record);
/* One member that is the object @inner, which is freed instead of closed. */
void output_json_object(struct output_json *json, const char *name, struct output_json *inner);
void output_json_string(struct output_json *json, const char *name, const char *value);
void output_json_null(struct output_json *json, const char *name);
void output_json_bool(struct output_json *json, const char *name, bool value);
void output_json_number(struct output_json *json, const char *name, uint64_t value);
/* One member that is a list: between the two only items. */
void output_json_list_open(struct output_json *json, const char *name);
void output_json_item(struct output_json *json, const struct field *table, const void *record);
/* One that is the object @inner, as with output_json_object(). */
void output_json_item_object(struct output_json *json, struct output_json *inner);
void output_json_item_string(struct output_json *json, const char *value);
void output_json_list_close(struct output_json *json);
enum outcome output_json_close(struct output_json *json);

#endif

/*
 * output - prints records and lists for creditbridgectl, as tables or as JSON.
 *
 * Field tables describe both forms. JSON contains every field of the record; a table contains the
 * named columns. Colours are used only on a terminal, and not if NO_COLOR is in the environment.
 */
#ifndef CMD_CTL_COMMON_OUTPUT_H
#define CMD_CTL_COMMON_OUTPUT_H

#include "base/buffer.h"
#include "cmd/ctl/common/ctl.h"
#include "cmd/ctl/common/output_table.h"
#include "cmd/ctl/common/output_text.h"

#define OUTPUT_JSON_MAX (16 * 1024 * 1024)

/*
 * Formats the field's value for people: money as 12.34, times as ISO 8601 UTC ("-" for 0), and
 * groups by the names of their elements. Copies JSON text unchanged. Truncates to fit. Secrets
 * become "".
 */
void output_value(const struct field *field, enum output_format format, const void *record,
	char text[OUTPUT_TEXT_MAX]);

/* "in 12.000 s", "3 min 20 s ago"; "-" for 0. */
void output_due(int64_t time_ms, char text[OUTPUT_TEXT_MAX]);

/*
 * Prints a title, preceded by an empty line unless it is the first. Prints nothing with --json.
 */
void output_title(struct ctl *ctl, const char *title);

/*
 * Aligned lines "heading  value" of one or several records. output_pairs_close() prints them.
 * Nothing is printed with --json.
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

/* Prints one record in this form. */
enum outcome output_record(struct ctl *ctl, const struct field *table,
	const struct output_column *columns, const void *record);

/*
 * Writes the rows of @table and then those of @more to @view, which has room for @size rows. The
 * result describes a struct that begins with the struct of @table.
 */
void output_view(struct field *view, size_t size, const struct field *table,
	const struct field *more);

/* Returns the fields of a command's result after the verdict, which begins every result. */
const struct field *output_result(enum command command);

/* Prints a list (output_table.h). */
void output_list_open(struct output_list *list, struct ctl *ctl, const char *name, const char *what,
	const struct field *table, const struct output_column *columns);
void output_list_add(struct output_list *list, const void *row);
/*
 * Prints the rest and returns OUTCOME_DONE or a failure. If @code is a failure (already
 * reported), only frees the list and returns @code.
 */
enum outcome output_list_close(struct output_list *list, enum outcome code);

/*
 * A JSON object, built member by member. output_json_close() prints the line. Without --json,
 * these functions do nothing.
 */
struct output_json {
	struct ctl *ctl;
	struct buffer text;
	bool comma; /* the next member or item is not the first */
};
void output_json_open(struct output_json *json, struct ctl *ctl);
/* Appends every field of @record as a member. */
void output_json_fields(struct output_json *json, const struct field *table, const void *record);
/* Appends a member that is an object; null if @record is NULL. */
void output_json_record(struct output_json *json, const char *name, const struct field *table,
	const void *record);
/* Appends the object @inner as a member and frees it; do not close it. */
void output_json_object(struct output_json *json, const char *name, struct output_json *inner);
void output_json_string(struct output_json *json, const char *name, const char *value);
void output_json_null(struct output_json *json, const char *name);
void output_json_bool(struct output_json *json, const char *name, bool value);
void output_json_number(struct output_json *json, const char *name, uint64_t value);
/* Appends a member that is a list. Append only items until output_json_list_close(). */
void output_json_list_open(struct output_json *json, const char *name);
void output_json_item(struct output_json *json, const struct field *table, const void *record);
/* Appends the object @inner as an item and frees it, as output_json_object() does. */
void output_json_item_object(struct output_json *json, struct output_json *inner);
void output_json_item_string(struct output_json *json, const char *value);
void output_json_list_close(struct output_json *json);
enum outcome output_json_close(struct output_json *json);

/*
 * The output of a command that several cells are asked for, one after the other. Their rows are one list
 * with the column CELL and the member "cell". Their objects are the list {"cells":[{"cell",...}]}. A cell
 * that could not be asked is an item of the member "not_asked", or an object with the member "error".
 */
struct output_walk {
	struct output_list list;
	bool listing; /* @list is open */
	bool cut;     /* rows of a cell were left out */
	unsigned int objects;
	struct output_json errors; /* a list of {"cell","error"} */
	size_t first_error;        /* bytes of its first object */
};
void output_walk_open(struct output_walk *walk, struct ctl *ctl);
/* Prints the rest; frees the walk, and ctl->walk is NULL. @none: no cell answered. */
enum outcome output_walk_close(struct ctl *ctl, bool none);
/* Frees the walk and prints nothing; ctl->walk is NULL. */
void output_walk_drop(struct ctl *ctl);
/* Keeps the object @error of this cell for the end, and frees it. Without --json, only frees it. */
void output_walk_fail(struct ctl *ctl, struct output_json *error);
/* Prints @object, which ends with its brace, as that of this cell. */
void output_walk_object(struct ctl *ctl, const struct buffer *object);
/* Prints what was kept about cells that could not be asked, as a list of objects without brackets. */
void output_walk_errors(struct output_walk *walk);

#endif

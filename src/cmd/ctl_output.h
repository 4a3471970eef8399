/*
 * ctl_output - how creditbridgectl prints: records and lists, as tables or as JSON.
 *
 * Both come from field tables. JSON holds every field of the record; a table shows the columns that
 * are named. Colours only on a terminal, and not with NO_COLOR in the environment.
 */
#ifndef CMD_CTL_OUTPUT_H
#define CMD_CTL_OUTPUT_H

#include "base/buffer.h"
#include "cmd/ctl.h"

enum output_format {
	OUTPUT_PLAIN,       /* by the field's type */
	OUTPUT_BYTES,       /* a number of bytes, with a unit */
	OUTPUT_DURATION_MS, /* milliseconds, as days, hours, minutes, seconds */
	OUTPUT_UID,         /* a user id; UINT32_MAX is none */
	OUTPUT_IF_ANY,      /* by the field's type; of a record, left out when empty */
};

/* A table of columns ends with a NULL heading. */
struct output_column {
	const char *heading;
	const char *field; /* name of a field in the record's table */
	enum output_format format;
};

#define OUTPUT_TEXT_MAX 1024

/* Writes the field's value for a person: money as 12.34, times as ISO 8601 UTC, secrets as "". */
void output_value(const struct field *field, enum output_format format, const void *record,
	char text[OUTPUT_TEXT_MAX]);

/* "2025-01-31T12:00:00.000Z" */
void output_time(int64_t time_ms, char text[32]);

/* Prints a record as lines "heading  value". Nothing with --json. */
enum ctl_exit output_record(struct ctl *ctl, const struct field *table,
	const struct output_column *columns, const void *record);

/*
 * A list, row by row: memory is bounded, a long list is printed in parts. With --json
 * {"NAME":[{...},...]}. An empty list is told on standard error, as "no @what".
 */
struct output_list {
	struct ctl *ctl;
	const char *what; /* is listed */
	const struct field *table;
	const struct output_column *columns;
	struct libscols_table *lines; /* not with --json */
	struct buffer text;           /* with --json */
	unsigned long count;
	bool printed; /* a part was, with its headings */
	bool failed;
};
void output_list_open(struct output_list *list, struct ctl *ctl, const char *name,
	const char *what, const struct field *table, const struct output_column *columns);
void output_list_add(struct output_list *list, const void *row);
/*
 * Prints the rest and returns CTL_DONE, or fails. With @code, a failure reported before, it only
 * ends the list and returns @code.
 */
enum ctl_exit output_list_close(struct output_list *list, enum ctl_exit code);

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
void output_json_bool(struct output_json *json, const char *name, bool value);
void output_json_number(struct output_json *json, const char *name, uint64_t value);
/* One member that is a list: between the two only items. */
void output_json_list_open(struct output_json *json, const char *name);
void output_json_item(struct output_json *json, const struct field *table, const void *record);
void output_json_item_string(struct output_json *json, const char *value);
void output_json_list_close(struct output_json *json);
enum ctl_exit output_json_close(struct output_json *json);

#endif

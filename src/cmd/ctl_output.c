#include "cmd/ctl_output.h"

#include "wire/render.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JSON_MAX   (16 * 1024 * 1024)
#define PART_LINES 512             /* lines of a table held in memory */
#define PART_BYTES (1024 * 1024)   /* of JSON */

static bool colors_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");

	return (!no_color || !no_color[0]) && isatty(STDOUT_FILENO);
}

void output_time(int64_t time_ms, char text[32])
{
	time_t seconds = (time_t)(time_ms / 1000);
	int ms = (int)(time_ms % 1000);
	struct tm tm;
	char date[24];

	if (ms < 0) {
		ms += 1000;
		seconds--;
	}
	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm)) {
		snprintf(text, 32, "%" PRId64, time_ms);
		return;
	}
	snprintf(text, 32, "%s.%03dZ", date, ms);
}

static uint64_t load_number(const void *member, uint32_t size)
{
	uint64_t u64 = 0;
	uint32_t u32;
	uint16_t u16;
	uint8_t u8;

	switch (size) {
	case 1:
		memcpy(&u8, member, 1);
		return u8;
	case 2:
		memcpy(&u16, member, 2);
		return u16;
	case 4:
		memcpy(&u32, member, 4);
		return u32;
	default:
		memcpy(&u64, member, 8);
		return u64;
	}
}

static void format_bytes(uint64_t bytes, char *text)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	unsigned int unit = 0;
	uint64_t tenths = bytes * 10;

	if (bytes > UINT64_MAX / 10) {
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 " B", bytes);
		return;
	}
	for (; tenths >= 10240 && unit < 5; unit++)
		tenths /= 1024;
	if (unit)
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
			units[unit]);
	else
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 " B", bytes);
}

static void format_duration(uint64_t ms, char *text)
{
	uint64_t s = ms / 1000;

	if (s >= 86400)
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 " d %" PRIu64 " h", s / 86400,
			s / 3600 % 24);
	else if (s >= 3600)
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600,
			s / 60 % 60);
	else if (s >= 60)
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 ".%03" PRIu64 " s", s, ms % 1000);
}

static void format_uid(uint64_t uid, char *text)
{
	const struct passwd *user = uid == UINT32_MAX ? NULL : getpwuid((uid_t)uid);

	if (uid == UINT32_MAX)
		snprintf(text, OUTPUT_TEXT_MAX, "-");
	else if (user)
		snprintf(text, OUTPUT_TEXT_MAX, "%s", user->pw_name);
	else
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64, uid);
}

void output_value(const struct field *field, enum output_format format, const void *record,
	char text[OUTPUT_TEXT_MAX])
{
	const void *member = (const uint8_t *)record + field->offset;
	uint64_t number;

	text[0] = '\0';
	if (field->type == FIELD_STR) {
		snprintf(text, OUTPUT_TEXT_MAX, "%s", (const char *)member);
		return;
	}
	if (field->type == FIELD_SECRET || field->type == FIELD_BYTES ||
		field->type == FIELD_JSON || field->type == FIELD_GROUP)
		return;
	number = load_number(member, field->size);
	if (format == OUTPUT_BYTES)
		format_bytes(number, text);
	else if (format == OUTPUT_DURATION_MS)
		format_duration(number, text);
	else if (format == OUTPUT_UID)
		format_uid(number, text);
	else if (field->type == FIELD_BOOL)
		snprintf(text, OUTPUT_TEXT_MAX, "%s", number ? "yes" : "no");
	else if (field->type == FIELD_ENUM)
		snprintf(text, OUTPUT_TEXT_MAX, "%s",
			number < field->count ? field->names[number] : "?");
	else if (field->type == FIELD_MONEY)
		money_format((money_t)number, 2, text);
	else if (field->type == FIELD_TIME_MS)
		output_time((int64_t)number, text);
	else if (field->type == FIELD_I32)
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRId32, (int32_t)(uint32_t)number);
	else
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64, number);
}

static bool is_number(const struct field *field, enum output_format format)
{
	return format != OUTPUT_UID && field->type != FIELD_STR && field->type != FIELD_BOOL &&
		field->type != FIELD_ENUM && field->type != FIELD_TIME_MS;
}

static struct libscols_table *new_table(bool headings)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	scols_table_enable_noheadings(table, !headings);
	scols_table_enable_colors(table, colors_wanted());
	return table;
}

static enum ctl_exit no_memory(struct ctl *ctl)
{
	return ctl_fail(ctl, CTL_FAILED, "failed", "out of memory");
}

enum ctl_exit output_record(struct ctl *ctl, const struct field *table,
	const struct output_column *columns, const void *record)
{
	struct libscols_table *lines;
	struct libscols_line *line;
	char text[OUTPUT_TEXT_MAX];
	bool failed = false;

	if (ctl->json)
		return CTL_DONE;
	lines = new_table(false);
	if (!lines || !scols_table_new_column(lines, "name", 0, 0) ||
		!scols_table_new_column(lines, "value", 0, 0)) {
		scols_unref_table(lines);
		return no_memory(ctl);
	}
	for (; columns->heading; columns++) {
		output_value(field_find(table, columns->field), columns->format, record, text);
		if (columns->format == OUTPUT_IF_ANY && !text[0])
			continue;
		line = scols_table_new_line(lines, NULL);
		if (!line || scols_line_set_data(line, 0, columns->heading) ||
			scols_line_set_data(line, 1, text))
			failed = true;
	}
	if (!failed)
		scols_print_table(lines);
	scols_unref_table(lines);
	return failed ? no_memory(ctl) : CTL_DONE;
}

static void print_part(struct output_list *list)
{
	if (list->failed || !list->lines)
		return;
	scols_table_enable_noheadings(list->lines, list->printed);
	scols_print_table(list->lines);
	scols_table_remove_lines(list->lines);
	list->printed = true;
}

void output_list_open(struct output_list *list, struct ctl *ctl, const char *name,
	const char *what, const struct field *table, const struct output_column *columns)
{
	struct libscols_column *column;
	const struct field *field;

	*list = (struct output_list){
		.ctl = ctl, .what = what, .table = table, .columns = columns};
	buffer_init(&list->text, JSON_MAX);
	if (ctl->json) {
		buffer_printf(&list->text, "{\"%s\":[", name);
		return;
	}
	list->lines = new_table(true);
	list->failed = !list->lines;
	for (; !list->failed && columns->heading; columns++) {
		field = field_find(table, columns->field);
		column = scols_table_new_column(list->lines, columns->heading, 0,
			is_number(field, columns->format) ? SCOLS_FL_RIGHT : 0);
		if (!column)
			list->failed = true;
		else
			scols_cell_set_color(scols_column_get_header(column), "bold");
	}
}

static void print_text(struct output_list *list)
{
	printf("%.*s", (int)list->text.len, (const char *)list->text.data);
	buffer_reset(&list->text);
	list->printed = true;
}

static void add_json(struct output_list *list, const void *row)
{
	if (list->count++)
		buffer_append_str(&list->text, ",");
	if (!render_record(&list->text, list->table, row))
		list->failed = true;
	else if (list->text.len >= PART_BYTES)
		print_text(list);
}

void output_list_add(struct output_list *list, const void *row)
{
	struct libscols_line *line;
	char text[OUTPUT_TEXT_MAX];

	if (list->ctl->json) {
		add_json(list, row);
		return;
	}
	line = list->failed ? NULL : scols_table_new_line(list->lines, NULL);
	if (!line) {
		list->failed = true;
		return;
	}
	for (size_t i = 0; list->columns[i].heading; i++) {
		const struct output_column *column = &list->columns[i];

		output_value(field_find(list->table, column->field), column->format, row, text);
		if (scols_line_set_data(line, i, text))
			list->failed = true;
	}
	if (++list->count % PART_LINES == 0)
		print_part(list);
}

enum ctl_exit output_list_close(struct output_list *list, enum ctl_exit code)
{
	if (code == CTL_DONE && list->failed)
		code = no_memory(list->ctl);
	if (list->ctl->json && code == CTL_DONE) {
		print_text(list);
		printf("]}\n");
	} else if (!list->ctl->json && list->count % PART_LINES) {
		print_part(list);
	} else if (!list->ctl->json && code == CTL_DONE && !list->count) {
		fprintf(stderr, "no %s\n", list->what);
	}
	scols_unref_table(list->lines);
	buffer_free(&list->text);
	return code;
}

void output_json_open(struct output_json *json, struct ctl *ctl)
{
	json->ctl = ctl;
	json->comma = false;
	buffer_init(&json->text, JSON_MAX);
	buffer_append_str(&json->text, "{");
}

static void separate(struct output_json *json)
{
	if (json->comma)
		buffer_append_str(&json->text, ",");
	json->comma = true;
}

static void member(struct output_json *json, const char *name)
{
	separate(json);
	buffer_printf(&json->text, "\"%s\":", name);
}

void output_json_fields(struct output_json *json, const struct field *table, const void *record)
{
	struct buffer object;

	buffer_init(&object, JSON_MAX);
	/* An object without its braces is a list of members. */
	if (!render_record(&object, table, record)) {
		json->text.failed = true;
	} else if (object.len > 2) {
		separate(json);
		buffer_append(&json->text, object.data + 1, object.len - 2);
	}
	buffer_free(&object);
}

void output_json_record(struct output_json *json, const char *name, const struct field *table,
	const void *record)
{
	member(json, name);
	if (record)
		render_record(&json->text, table, record);
	else
		buffer_append_str(&json->text, "null");
}

void output_json_object(struct output_json *json, const char *name, struct output_json *inner)
{
	member(json, name);
	buffer_append_str(&inner->text, "}");
	if (inner->text.failed)
		json->text.failed = true;
	else
		buffer_append(&json->text, inner->text.data, inner->text.len);
	buffer_free(&inner->text);
}

void output_json_string(struct output_json *json, const char *name, const char *value)
{
	member(json, name);
	render_string(&json->text, value);
}

void output_json_bool(struct output_json *json, const char *name, bool value)
{
	member(json, name);
	buffer_append_str(&json->text, value ? "true" : "false");
}

void output_json_number(struct output_json *json, const char *name, uint64_t value)
{
	member(json, name);
	buffer_printf(&json->text, "%" PRIu64, value);
}

void output_json_list_open(struct output_json *json, const char *name)
{
	member(json, name);
	buffer_append_str(&json->text, "[");
	json->comma = false;
}

void output_json_item(struct output_json *json, const struct field *table, const void *record)
{
	separate(json);
	render_record(&json->text, table, record);
}

void output_json_item_string(struct output_json *json, const char *value)
{
	separate(json);
	render_string(&json->text, value);
}

void output_json_list_close(struct output_json *json)
{
	buffer_append_str(&json->text, "]");
	json->comma = true;
}

enum ctl_exit output_json_close(struct output_json *json)
{
	enum ctl_exit code = CTL_DONE;

	buffer_append_str(&json->text, "}");
	if (json->text.failed)
		code = no_memory(json->ctl);
	else if (json->ctl->json)
		printf("%.*s\n", (int)json->text.len, (const char *)json->text.data);
	buffer_free(&json->text);
	return code;
}
